import type { ByteText } from "../byte-text.ts";
import { GitError } from "../error.ts";
import type { Oid } from "../oid.ts";
import { parseErrorPkt } from "./advertisement.ts";
import { readOidText } from "./oid-text.ts";
import { parseMessage } from "./pkt-cursor.ts";
import { DELIMITER_PKT, FLUSH_PKT, formatLine, formatPkt, joinBytes, pktText } from "./pkt-line.ts";
import { ServerRefusal } from "./server-refusal.ts";

/** How a client's shallow boundary changes. */
export interface ShallowUpdate {
  /** Commits whose parents the client will not have. */
  readonly shallowOids: readonly Oid[];
  /** Commits of the client's old boundary whose parents it will have. */
  readonly unshallowOids: readonly Oid[];
}

/** The sections of a version 2 `fetch` response before the pack. */
export interface FetchResponse {
  /** Undefined if the client sent `done`; the section is omitted then. */
  readonly acknowledgments?: { readonly commonOids: readonly Oid[]; readonly isReady: boolean };
  readonly shallow?: ShallowUpdate;
  readonly wantedRefs?: readonly { readonly oid: Oid; readonly name: ByteText }[];
  /** True if the pack follows, in side-bands. */
  readonly hasPack: boolean;
}

/**
 * The response to `fetch` of version 2 up to the pack.
 *
 * With a pack, the response ends after the line `packfile`; the caller sends the side-bands and the
 * final flush. Without a pack, it is complete.
 *
 * @see gitprotocol-v2(5), "fetch", the grammar of the output.
 */
export function formatFetchResponse(response: FetchResponse): Uint8Array {
  const { acknowledgments, shallow, wantedRefs, hasPack } = response;
  const sections: Uint8Array[][] = [];
  if (acknowledgments) {
    const { commonOids, isReady } = acknowledgments;
    const lines = commonOids.map((oid) => formatLine(`ACK ${oid}`));
    if (lines.length === 0) lines.push(formatLine("NAK"));
    if (isReady) lines.push(formatLine("ready"));
    sections.push([formatLine("acknowledgments"), ...lines]);
  }
  if (shallow && hasPack) sections.push([formatLine("shallow-info"), ...shallowLines(shallow)]);
  if (wantedRefs && wantedRefs.length > 0 && hasPack) {
    const lines = wantedRefs.map(({ oid, name }) => formatLine(`${oid} ${name}`));
    sections.push([formatLine("wanted-refs"), ...lines]);
  }
  if (hasPack) sections.push([formatLine("packfile")]);
  const pieces: Uint8Array[] = [];
  for (const section of sections) {
    if (pieces.length > 0) pieces.push(DELIMITER_PKT);
    for (const line of section) pieces.push(line);
  }
  if (!hasPack) pieces.push(FLUSH_PKT);
  return joinBytes(pieces);
}

/** Without line feeds, as git's own server sends them: libgit2 refuses lines that end in one. */
function shallowLines({ shallowOids, unshallowOids }: ShallowUpdate): Uint8Array[] {
  return [
    ...shallowOids.map((oid) => formatPkt(`shallow ${oid}` as ByteText)),
    ...unshallowOids.map((oid) => formatPkt(`unshallow ${oid}` as ByteText)),
  ];
}

/** The boundary as versions 0 and 1 send it, before the acknowledgments. */
export function formatShallowUpdate(update: ShallowUpdate): Uint8Array {
  return joinBytes([...shallowLines(update), FLUSH_PKT]);
}

/**
 * Reads a response to `fetch` of version 2 up to the pack, whose side-bands start at `next`.
 *
 * @returns Undefined while the response is incomplete.
 * @throws GitError `protocol` if the server refuses, with its message, or violates the grammar.
 */
export function parseFetchResponse(
  bytes: Uint8Array,
  offset = 0,
): { value: FetchResponse; next: number } | undefined {
  return parseMessage(bytes, offset, (cursor) => {
    const commonOids: Oid[] = [];
    const shallowOids: Oid[] = [];
    const unshallowOids: Oid[] = [];
    const wantedRefs: { oid: Oid; name: ByteText }[] = [];
    const sections = new Set<string>();
    let isReady = false;
    let section = "";
    for (let pkt = cursor.next(); pkt.kind !== "flush"; pkt = cursor.next()) {
      if (pkt.kind === "delimiter") {
        section = "";
        continue;
      }
      if (pkt.kind !== "data") throw new GitError("protocol", `unexpected ${pkt.kind} packet`);
      const refusal = parseErrorPkt(pkt.payload);
      if (refusal !== undefined) throw new ServerRefusal(refusal);
      const line = pktText(pkt.payload);
      const [word = "", value = ""] = line.split(" ");
      if (section === "") {
        section = line;
        sections.add(line);
        if (line === "packfile") break;
      } else if (section === "acknowledgments") {
        if (word === "ACK") commonOids.push(readOidText(value));
        else if (word === "ready") isReady = true;
      } else if (section === "shallow-info") {
        (word === "shallow" ? shallowOids : unshallowOids).push(readOidText(value));
      } else if (section === "wanted-refs") {
        wantedRefs.push({ oid: readOidText(word), name: value as ByteText });
      }
    }
    return {
      ...(sections.has("acknowledgments") ? { acknowledgments: { commonOids, isReady } } : {}),
      ...(sections.has("shallow-info") ? { shallow: { shallowOids, unshallowOids } } : {}),
      ...(wantedRefs.length > 0 ? { wantedRefs } : {}),
      hasPack: sections.has("packfile"),
    };
  });
}

/** The acknowledgment mode that a client of versions 0 and 1 negotiated. */
export type AckMode = "single" | "multi" | "detailed";

/**
 * The acknowledgment lines of versions 0 and 1 for one round of haves over HTTP.
 *
 * @param commonOids The client's haves that the server has too, in the client's order.
 * @param isReady The server knows enough to build the pack.
 * @param isDone The client sent `done`: the pack follows.
 * @param endsReady The pack follows `ready` too, without a `done` (no-done).
 * @see gitprotocol-pack(5), "Packfile Negotiation".
 */
export function formatAcks(
  mode: AckMode,
  commonOids: readonly Oid[],
  isReady: boolean,
  isDone: boolean,
  endsReady = false,
): Uint8Array {
  const lines: string[] = [];
  const last = commonOids.at(-1);
  if (mode === "single") {
    lines.push(commonOids[0] === undefined ? "NAK" : `ACK ${commonOids[0]}`);
  } else {
    const word = mode === "detailed" ? "common" : "continue";
    for (const oid of commonOids) lines.push(`ACK ${oid} ${word}`);
    if (isReady && mode === "detailed" && last !== undefined) lines.push(`ACK ${last} ready`);
    lines.push(isDone && last !== undefined ? `ACK ${last}` : "NAK");
    if (isReady && endsReady && last !== undefined) lines.push(`ACK ${last}`);
  }
  return joinBytes(lines.map(formatLine));
}
