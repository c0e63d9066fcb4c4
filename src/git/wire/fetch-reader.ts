import { GitError } from "../error.ts";
import type { Oid } from "../oid.ts";
import { parseErrorPkt } from "./advertisement.ts";
import { readOidText } from "./oid-text.ts";
import { type Pkt, pktText } from "./pkt-line.ts";
import type { PktStream } from "./pkt-stream.ts";
import { ServerRefusal } from "./server-refusal.ts";

/** The response of a server to one round of haves. */
export interface RoundAnswer {
  /** Haves that the server has too. */
  readonly commonOids: readonly Oid[];
  /** The server knows enough. */
  readonly isReady: boolean;
  /** The pack follows in the same stream. */
  readonly hasPack: boolean;
}

/** Maximum packets before the pack: a server acknowledges each have a few times at most. */
const PACKETS_MAX = 400_000;

/**
 * Reads a response to `fetch` of version 2 up to the pack, whose side-bands follow in `packets`.
 *
 * SECURITY: nothing that was not requested is accepted. Above all a boundary: a shallow history
 * would leave commits whose parents are missing.
 *
 * @throws GitError `protocol` if the server refuses, with its message, or violates the grammar.
 * @see gitprotocol-v2(5), "fetch".
 */
export async function readFetchAnswer(packets: PktStream): Promise<RoundAnswer> {
  const commonOids: Oid[] = [];
  let isReady = false;
  let section = "";
  for (let count = 0; count < PACKETS_MAX; count++) {
    const pkt = await packets.expect();
    if (pkt.kind === "flush") return { commonOids, isReady, hasPack: false };
    if (pkt.kind === "delimiter") {
      section = "";
      continue;
    }
    const line = lineOf(pkt);
    if (section === "") {
      section = line;
      if (line === "packfile") return { commonOids, isReady, hasPack: true };
      if (line === "shallow-info") throw shallowAnswer();
      if (line !== "acknowledgments") throw unexpected(line);
    } else if (line.startsWith("ACK ")) commonOids.push(readOidText(line.slice(4)));
    else if (line === "ready") isReady = true;
    else if (line !== "NAK") throw unexpected(line);
  }
  throw new GitError("limit", "too many acknowledgments");
}

/**
 * Reads the acknowledgments of versions 0 and 1 to one round of haves. The pack follows in
 * `packets`, in side-bands if they were requested.
 *
 * @param isDetailed `multi_ack_detailed` was requested. Otherwise the round must be the last one.
 * @param isDone     The round ended with `done`.
 * @param endsReady  `no-done` was requested: the pack follows `ready` too.
 * @see gitprotocol-pack(5), "Packfile Negotiation".
 */
export async function readAcks(
  packets: PktStream,
  { isDetailed, isDone, endsReady }: { isDetailed: boolean; isDone: boolean; endsReady: boolean },
): Promise<RoundAnswer> {
  const commonOids: Oid[] = [];
  let isReady = false;
  for (let count = 0; count < PACKETS_MAX; count++) {
    const pkt = await packets.next();
    // Over HTTP the answer to a round without `done` ends with its acknowledgments.
    if (!pkt && !isDone) return { commonOids, isReady, hasPack: false };
    if (!pkt) throw new GitError("protocol", "the answer ends too early");
    const line = lineOf(pkt);
    if (/^(?:un)?shallow /.test(line)) throw shallowAnswer();
    if (line === "NAK") {
      if (isDone) return { commonOids, isReady, hasPack: true };
      continue;
    }
    const [word, oid = "", status] = line.split(" ");
    if (word !== "ACK") throw unexpected(line);
    readOidText(oid);
    if (status === undefined) {
      if (!isDone && !(isDetailed && endsReady && isReady)) throw unexpected(line);
      return { commonOids, isReady, hasPack: true };
    }
    if (!isDetailed || !(status === "common" || status === "ready")) throw unexpected(line);
    if (status === "ready") isReady = true;
    else commonOids.push(oid);
  }
  throw new GitError("limit", "too many acknowledgments");
}

/**
 * The text of a line before the pack. @throws GitError `protocol` for an error of the server, with
 * its message.
 */
function lineOf(pkt: Pkt): string {
  if (pkt.kind !== "data") throw new GitError("protocol", `unexpected ${pkt.kind} packet`);
  const refusal = parseErrorPkt(pkt.payload);
  if (refusal !== undefined) throw new ServerRefusal(refusal);
  return pktText(pkt.payload);
}

const shallowAnswer = (): GitError =>
  new GitError("protocol", "the repository is shallow: its history is incomplete");

const unexpected = (line: string): GitError =>
  new GitError("protocol", `unexpected line ${JSON.stringify(line.slice(0, 100))}`);
