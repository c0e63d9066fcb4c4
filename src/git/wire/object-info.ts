import type { ByteText } from "../byte-text.ts";
import { GitError } from "../error.ts";
import type { Oid } from "../oid.ts";
import { readOidText } from "./oid-text.ts";
import { FLUSH_PKT, formatPkt, joinBytes } from "./pkt-line.ts";

/** Requests with more ids are refused. */
const OIDS_MAX = 100_000;

/** A client's request for the sizes of objects without fetching them. */
export interface ObjectInfoRequest {
  readonly wantsSize: boolean;
  readonly oids: readonly Oid[];
}

/**
 * Reads the arguments of `object-info`.
 *
 * @throws GitError `protocol` for an argument that does not exist, `limit` for too many ids.
 * @see gitprotocol-v2(5), "object-info".
 */
export function parseObjectInfoArgs(args: readonly ByteText[]): ObjectInfoRequest {
  const oids: Oid[] = [];
  let wantsSize = false;
  for (const arg of args) {
    if (arg === "size") wantsSize = true;
    else if (arg.startsWith("oid ")) oids.push(readOidText(arg.slice(4)));
    else throw new GitError("protocol", `object-info: unknown argument ${JSON.stringify(arg)}`);
  }
  if (oids.length > OIDS_MAX) throw new GitError("limit", "too many ids in object-info");
  return { wantsSize, oids };
}

/** The response. An object without a size does not exist, or the caller may not read it. */
export function formatObjectInfo(
  request: ObjectInfoRequest,
  sizesBytes: ReadonlyMap<Oid, number>,
): Uint8Array {
  const lines = request.oids.map((oid) => {
    const size = sizesBytes.get(oid);
    return formatPkt((request.wantsSize ? `${oid} ${size ?? ""}` : oid) as ByteText);
  });
  return joinBytes([
    ...(request.wantsSize ? [formatPkt("size" as ByteText)] : []),
    ...lines,
    FLUSH_PKT,
  ]);
}
