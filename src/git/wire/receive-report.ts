import type { ByteText } from "../byte-text.ts";
import { GitError } from "../error.ts";
import type { Oid } from "../oid.ts";
import { readOidText } from "./oid-text.ts";
import { parseMessage } from "./pkt-cursor.ts";
import { FLUSH_PKT, formatLine, joinBytes } from "./pkt-line.ts";
import { ServerRefusal } from "./server-refusal.ts";

/** The result of one command. */
export type RefResult =
  | { readonly kind: "ok"; readonly ref: ByteText; readonly rewritten?: RewrittenRef }
  | { readonly kind: "refused"; readonly ref: ByteText; readonly reason: string };

/** The update that the server made instead of the requested one (`report-status-v2`). */
interface RewrittenRef {
  readonly ref?: ByteText;
  readonly oldOid?: Oid;
  readonly newOid?: Oid;
  readonly isForced?: boolean;
}

export interface ReceiveReport {
  /** Why the pack was refused; undefined if it was accepted. */
  readonly unpackError: string | undefined;
  readonly results: readonly RefResult[];
}

/** Puts a reason on one line; the client prints it after the ref. */
const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").slice(0, 1000);

/**
 * The status report of a push.
 *
 * @param isV2 The client requested `report-status-v2`; only then are rewritten refs reported.
 * @see gitprotocol-pack(5), "Report Status".
 */
export function formatReceiveReport(report: ReceiveReport, isV2: boolean): Uint8Array {
  const lines = [`unpack ${report.unpackError === undefined ? "ok" : oneLine(report.unpackError)}`];
  for (const result of report.results) {
    if (result.kind === "refused") {
      lines.push(`ng ${result.ref} ${oneLine(result.reason)}`);
      continue;
    }
    lines.push(`ok ${result.ref}`);
    const { rewritten } = result;
    if (!isV2 || !rewritten) continue;
    if (rewritten.ref !== undefined) lines.push(`option refname ${rewritten.ref}`);
    if (rewritten.oldOid !== undefined) lines.push(`option old-oid ${rewritten.oldOid}`);
    if (rewritten.newOid !== undefined) lines.push(`option new-oid ${rewritten.newOid}`);
    if (rewritten.isForced) lines.push("option forced-update");
  }
  return joinBytes([...lines.map(formatLine), FLUSH_PKT]);
}

/** Reads the status report of a push; undefined while it is incomplete. */
export function parseReceiveReport(
  bytes: Uint8Array,
  offset = 0,
): { value: ReceiveReport; next: number } | undefined {
  return parseMessage(bytes, offset, (cursor) => {
    const first = cursor.lineOr("flush");
    if (first?.startsWith("ERR ")) throw new ServerRefusal(first.slice(4) as ByteText);
    if (!first?.startsWith("unpack "))
      throw new GitError("protocol", "a report starts with unpack");
    const results: RefResult[] = [];
    for (let line = cursor.lineOr("flush"); line !== undefined; line = cursor.lineOr("flush")) {
      const [word, ref = "", ...rest] = line.split(" ");
      if (word === "ok") {
        results.push({ kind: "ok", ref: ref as ByteText });
      } else if (word === "ng") {
        results.push({ kind: "refused", ref: ref as ByteText, reason: rest.join(" ") });
      } else if (word === "option") {
        rewriteLast(results, ref, rest.join(" "));
      } else {
        throw new GitError("protocol", `unexpected line ${JSON.stringify(line)}`);
      }
    }
    return { unpackError: first === "unpack ok" ? undefined : first.slice(7), results };
  });
}

function rewriteLast(results: RefResult[], option: string, value: string): void {
  const last = results.at(-1);
  if (last?.kind !== "ok") throw new GitError("protocol", "an option of no ref");
  let rewritten: RewrittenRef = { ...last.rewritten };
  if (option === "refname") rewritten = { ...rewritten, ref: value as ByteText };
  else if (option === "old-oid") rewritten = { ...rewritten, oldOid: readOidText(value) };
  else if (option === "new-oid") rewritten = { ...rewritten, newOid: readOidText(value) };
  else if (option === "forced-update") rewritten = { ...rewritten, isForced: true };
  results[results.length - 1] = { ...last, rewritten };
}
