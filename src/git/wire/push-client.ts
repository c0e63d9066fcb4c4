import type { ByteText } from "../byte-text.ts";
import { GitError } from "../error.ts";
import type { Oid } from "../oid.ts";
import type { Advertisement, AdvertisedRef } from "./advertisement.ts";
import type { Capabilities } from "./capabilities.ts";
import { joinBytes } from "./pkt-line.ts";
import { PktStream } from "./pkt-stream.ts";
import { parseReceiveReport, type ReceiveReport } from "./receive-report.ts";
import { readSideBands } from "./side-band-reader.ts";

const PRESENT = "" as ByteText;

/**
 * Splits what a server of pushes advertises into its refs and further objects that it has, as other
 * repositories from which it borrows do.
 *
 * @see gitprotocol-pack(5), "Reference Discovery", on `.have`.
 */
export function splitHaves({ refs }: Pick<Advertisement, "refs">): {
  refs: readonly AdvertisedRef[];
  haveOids: readonly Oid[];
} {
  return {
    refs: refs.filter(({ name }) => name !== ".have"),
    haveOids: refs.filter(({ name }) => name === ".have").map(({ oid }) => oid),
  };
}

/** The capabilities that a push requests besides its report. */
export interface RequestedCapabilities {
  readonly isAtomic: boolean;
  readonly hasOptions: boolean;
  readonly agent: ByteText;
}

/**
 * The capabilities that a push requests of those that are offered.
 *
 * @throws GitError `unsupported` for a server that can't report what it did.
 */
export function choosePushCapabilities(
  offered: Capabilities,
  requested: RequestedCapabilities,
): Capabilities {
  const report = ["report-status-v2", "report-status"].find((name) => offered.has(name));
  if (report === undefined) {
    throw new GitError("unsupported", "the server can't report the result of a push");
  }
  const preferred = [report, "side-band-64k", "quiet", "ofs-delta"];
  if (requested.isAtomic) preferred.push("atomic");
  if (requested.hasOptions) preferred.push("push-options");
  const chosen = new Map<string, ByteText[]>();
  for (const name of preferred) if (offered.has(name)) chosen.set(name, [PRESENT]);
  if (offered.has("object-format")) chosen.set("object-format", ["sha1" as ByteText]);
  if (offered.has("agent")) chosen.set("agent", [requested.agent]);
  return chosen;
}

/**
 * Reads the answer to a push.
 *
 * @throws GitError `protocol` for anything but a report, and with the server's message if it gives
 *   up.
 */
export async function readPushReport(
  pieces: AsyncGenerator<Uint8Array>,
  requested: Capabilities,
): Promise<ReceiveReport> {
  const isFramed = requested.has("side-band-64k");
  const report: Uint8Array[] = [];
  const source = isFramed ? readSideBands(new PktStream(pieces)) : pieces;
  for await (const piece of source) report.push(piece);
  const read = parseReceiveReport(joinBytes(report));
  if (!read) throw new GitError("protocol", "the report of the push ends too early");
  return read.value;
}
