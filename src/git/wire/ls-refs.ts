import type { ByteText } from "../byte-text.ts";
import { GitError } from "../error.ts";
import type { AdvertisedRef } from "./advertisement.ts";
import { readOidText } from "./oid-text.ts";
import { parseMessage } from "./pkt-cursor.ts";
import { FLUSH_PKT, formatLine, joinBytes } from "./pkt-line.ts";
import { ServerRefusal } from "./server-refusal.ts";

/** The refs that a client requests, and their attributes. */
export interface LsRefsRequest {
  /** Prefixes of ref names. An empty list means all refs. */
  readonly prefixes: readonly ByteText[];
  readonly wantsSymrefs: boolean;
  readonly wantsPeeled: boolean;
  /** Report a HEAD whose branch does not exist yet. */
  readonly wantsUnborn: boolean;
}

/**
 * With more prefixes than this, all refs are sent, as in git. The protocol allows it: prefixes are
 * a hint.
 */
const PREFIXES_MAX = 65_536;

const FLAGS: ReadonlySet<string> = new Set(["symrefs", "peel", "unborn"]);

/**
 * Reads the arguments of `ls-refs`.
 *
 * @throws GitError `protocol` for an argument that does not exist.
 */
export function parseLsRefsArgs(args: readonly ByteText[]): LsRefsRequest {
  const prefixes: ByteText[] = [];
  const flags = new Set<string>();
  for (const arg of args) {
    if (FLAGS.has(arg)) flags.add(arg);
    else if (arg.startsWith("ref-prefix ")) prefixes.push(arg.slice(11) as ByteText);
    else throw new GitError("protocol", `ls-refs: unknown argument ${JSON.stringify(arg)}`);
  }
  return {
    prefixes: prefixes.length > PREFIXES_MAX ? [] : prefixes,
    wantsSymrefs: flags.has("symrefs"),
    wantsPeeled: flags.has("peel"),
    wantsUnborn: flags.has("unborn"),
  };
}

export function formatLsRefsArgs(request: LsRefsRequest): ByteText[] {
  const args: string[] = [];
  if (request.wantsPeeled) args.push("peel");
  if (request.wantsSymrefs) args.push("symrefs");
  if (request.wantsUnborn) args.push("unborn");
  args.push(...request.prefixes.map((prefix) => `ref-prefix ${prefix}`));
  return args as ByteText[];
}

/**
 * A predicate for names that start with one of `prefixes`; without prefixes, every name matches.
 *
 * Cost per name: a binary search. Clients may send tens of thousands of prefixes.
 */
function prefixTest(prefixes: readonly ByteText[]): (name: ByteText) => boolean {
  if (prefixes.length === 0) return () => true;
  // Prefixes covered by a shorter one are dropped. Then only the last prefix that sorts up to a
  // name can match it.
  const sorted: ByteText[] = [];
  for (const prefix of prefixes.toSorted((a, b) => (a < b ? -1 : Number(a > b)))) {
    const last = sorted.at(-1);
    if (last === undefined || !prefix.startsWith(last)) sorted.push(prefix);
  }
  return (name) => {
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((sorted[middle] as ByteText) <= name) low = middle + 1;
      else high = middle;
    }
    const candidate = sorted[low - 1];
    return candidate !== undefined && name.startsWith(candidate);
  };
}

/**
 * The response to `ls-refs`: the requested refs among `refs`, in the caller's order.
 *
 * @param unbornTarget The branch that HEAD names, if that branch does not exist yet.
 */
export function formatLsRefsResponse(
  request: LsRefsRequest,
  refs: readonly AdvertisedRef[],
  unbornTarget?: ByteText,
): Uint8Array {
  const pieces: Uint8Array[] = [];
  const isRequested = prefixTest(request.prefixes);
  if (unbornTarget !== undefined && request.wantsUnborn && isRequested("HEAD" as ByteText)) {
    const symref = request.wantsSymrefs ? ` symref-target:${unbornTarget}` : "";
    pieces.push(formatLine(`unborn HEAD${symref}`));
  }
  for (const ref of refs) {
    if (!isRequested(ref.name)) continue;
    const symref =
      request.wantsSymrefs && ref.symrefTarget ? ` symref-target:${ref.symrefTarget}` : "";
    const peeled = request.wantsPeeled && ref.peeledOid ? ` peeled:${ref.peeledOid}` : "";
    pieces.push(formatLine(`${ref.oid} ${ref.name}${symref}${peeled}`));
  }
  pieces.push(FLUSH_PKT);
  return joinBytes(pieces);
}

export interface LsRefsResponse {
  readonly refs: readonly AdvertisedRef[];
  /** The branch that an unborn HEAD names. */
  readonly unbornTarget: ByteText | undefined;
}

/**
 * Reads the response to `ls-refs`; undefined while it is incomplete. @throws ServerRefusal if the
 * server refuses instead.
 */
export function parseLsRefsResponse(
  bytes: Uint8Array,
  offset = 0,
): { value: LsRefsResponse; next: number } | undefined {
  return parseMessage(bytes, offset, (cursor) => {
    const refs: AdvertisedRef[] = [];
    let unbornTarget: ByteText | undefined;
    for (let line = cursor.lineOr("flush"); line !== undefined; line = cursor.lineOr("flush")) {
      if (line.startsWith("ERR ")) throw new ServerRefusal(line.slice(4) as ByteText);
      const [oid = "", name = "", ...attributes] = line.split(" ");
      const find = (key: string): string | undefined =>
        attributes.find((attribute) => attribute.startsWith(key))?.slice(key.length);
      const symrefTarget = find("symref-target:") as ByteText | undefined;
      if (oid === "unborn") {
        unbornTarget = symrefTarget;
        continue;
      }
      const peeled = find("peeled:");
      refs.push({
        name: name as ByteText,
        oid: readOidText(oid),
        ...(symrefTarget === undefined ? {} : { symrefTarget }),
        ...(peeled === undefined ? {} : { peeledOid: readOidText(peeled) }),
      });
    }
    return { refs, unbornTarget };
  });
}
