import { type PeerProgram, startPeerProcess } from "../support/peer-process.ts";
import type { Registry } from "./registry.ts";

/** Another registry, which is installed already. */
type Peer = PeerProgram & {
  name: string;
  /** The path of the registry, with a slash at its end. */
  path: string;
};

/** Starts another registry on a free port. */
export async function startPeer({ name, path, ...program }: Peer): Promise<Registry> {
  return { name, path, ...(await startPeerProcess(program)) };
}
