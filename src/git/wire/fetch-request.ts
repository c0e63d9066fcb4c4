import type { ByteText } from "../byte-text.ts";
import { GitError } from "../error.ts";
import type { Oid } from "../oid.ts";
import { type Capabilities, formatCapabilities, parseCapabilities } from "./capabilities.ts";
import { formatFilterSpec, type ObjectFilter, parseFilterSpec } from "./filter-spec.ts";
import { readNumberText, readOidText } from "./oid-text.ts";
import { parseMessage } from "./pkt-cursor.ts";
import { FLUSH_PKT, formatLine, joinBytes } from "./pkt-line.ts";

/** The depth that git uses for unlimited history. */
export const DEPTH_INFINITE = 0x7fffffff;

/** The limits of a shallow fetch. */
interface Deepen {
  /**
   * Depth in commits; a wanted commit has depth 1. Relative to the client's boundary if
   * `isRelative`.
   */
  readonly depth?: number;
  readonly isRelative: boolean;
  /** Only commits of this time and later, in seconds since 1970. */
  readonly sinceSeconds?: number;
  /** Only commits that are not reachable from these refs. */
  readonly notRefs: readonly ByteText[];
}

/** A client's `fetch` request of version 2, or its upload request of versions 0 and 1. */
export interface FetchRequest {
  readonly wantOids: readonly Oid[];
  /** Refs wanted by name (version 2 only). */
  readonly wantRefs: readonly ByteText[];
  readonly haveOids: readonly Oid[];
  /** The client's boundary: commits it has without their parents. */
  readonly shallowOids: readonly Oid[];
  /** Undefined if the client wants the complete history. */
  readonly deepen: Deepen | undefined;
  readonly filter: ObjectFilter | undefined;
  /** The client ends negotiation: the pack is sent next. */
  readonly isDone: boolean;
  /** Deltas may use bases that the client has and the pack omits. */
  readonly isThin: boolean;
  /** Deltas may refer to their base by offset. */
  readonly takesOfsDelta: boolean;
  /** Annotated tags are sent along with the objects they point to. */
  readonly includesTags: boolean;
  readonly wantsProgress: boolean;
  /** The server must not send `ready` (version 2 only). */
  readonly waitsForDone: boolean;
  /** The whole response is sent in side-bands (version 2 only). */
  readonly isSidebandAll: boolean;
}

/** Requests that list more ids or refs of one kind are refused. */
const OIDS_MAX = 300_000;

class RequestBuilder {
  readonly wantOids: Oid[] = [];
  readonly wantRefs: ByteText[] = [];
  readonly haveOids: Oid[] = [];
  readonly shallowOids: Oid[] = [];
  readonly notRefs: ByteText[] = [];
  depth: number | undefined;
  sinceSeconds: number | undefined;
  isRelative = false;
  filter: ObjectFilter | undefined;
  readonly flags = new Set<string>();

  /** Parses a line that exists in all versions; returns false for any other line. */
  takeLine(line: ByteText): boolean {
    const space = line.indexOf(" ");
    const word = space < 0 ? line : line.slice(0, space);
    const value = (space < 0 ? "" : line.slice(space + 1)) as ByteText;
    switch (word) {
      case "want":
        this.add(this.wantOids, readOidText(value));
        return true;
      case "have":
        this.add(this.haveOids, readOidText(value));
        return true;
      case "shallow":
        this.add(this.shallowOids, readOidText(value));
        return true;
      case "deepen":
        this.depth = readNumberText(value, DEPTH_INFINITE);
        // As in git, a depth of 0 sets no limit.
        if (this.depth === 0) this.depth = undefined;
        return true;
      case "deepen-since":
        this.sinceSeconds = readNumberText(value, Number.MAX_SAFE_INTEGER);
        return true;
      case "deepen-not":
        this.add(this.notRefs, value);
        return true;
      case "filter":
        this.filter = parseFilterSpec(value);
        return true;
      case "done":
        this.flags.add("done");
        return value === "";
      default:
        return false;
    }
  }

  add<T>(list: T[], item: T): void {
    if (list.length >= OIDS_MAX) throw new GitError("limit", "too many lines in a fetch request");
    list.push(item);
  }

  build(): FetchRequest {
    const { depth, sinceSeconds, notRefs, isRelative, flags } = this;
    const isCut = sinceSeconds !== undefined || notRefs.length > 0;
    if (depth !== undefined && isCut) {
      throw new GitError("protocol", "deepen goes with neither deepen-since nor deepen-not");
    }
    const deepen: Deepen | undefined =
      depth !== undefined || isCut
        ? {
            isRelative,
            notRefs,
            ...(depth === undefined ? {} : { depth }),
            ...(sinceSeconds === undefined ? {} : { sinceSeconds }),
          }
        : undefined;
    return {
      wantOids: this.wantOids,
      wantRefs: this.wantRefs,
      haveOids: this.haveOids,
      shallowOids: this.shallowOids,
      deepen,
      filter: this.filter,
      isDone: flags.has("done"),
      isThin: flags.has("thin-pack"),
      takesOfsDelta: flags.has("ofs-delta"),
      includesTags: flags.has("include-tag"),
      wantsProgress: !flags.has("no-progress"),
      waitsForDone: flags.has("wait-for-done"),
      isSidebandAll: flags.has("sideband-all"),
    };
  }
}

const V2_FLAGS: ReadonlySet<string> = new Set([
  "thin-pack",
  "ofs-delta",
  "include-tag",
  "no-progress",
  "wait-for-done",
  "sideband-all",
]);

/**
 * Reads the arguments of `fetch` of version 2.
 *
 * @throws GitError `protocol` for an argument that does not exist or contradicts another.
 * @see gitprotocol-v2(5), "fetch".
 */
export function parseFetchArgs(args: readonly ByteText[]): FetchRequest {
  const builder = new RequestBuilder();
  for (const arg of args) {
    if (V2_FLAGS.has(arg)) builder.flags.add(arg);
    else if (arg === "deepen-relative") builder.isRelative = true;
    else if (arg.startsWith("want-ref ")) {
      builder.add(builder.wantRefs, arg.slice(9) as ByteText);
    }
    // Ignored: this server never sends packs by URI.
    else if (arg.startsWith("packfile-uris ")) continue;
    else if (!builder.takeLine(arg)) {
      throw new GitError("protocol", `fetch: unknown argument ${JSON.stringify(arg)}`);
    }
  }
  return builder.build();
}

/** The arguments of `fetch` of version 2 for a request. */
export function formatFetchArgs(request: FetchRequest): ByteText[] {
  const { deepen, filter } = request;
  const args: string[] = [];
  if (request.isThin) args.push("thin-pack");
  if (!request.wantsProgress) args.push("no-progress");
  if (request.includesTags) args.push("include-tag");
  if (request.takesOfsDelta) args.push("ofs-delta");
  if (request.waitsForDone) args.push("wait-for-done");
  if (request.isSidebandAll) args.push("sideband-all");
  args.push(...request.shallowOids.map((oid) => `shallow ${oid}`));
  if (deepen?.depth !== undefined) args.push(`deepen ${deepen.depth}`);
  if (deepen?.isRelative) args.push("deepen-relative");
  if (deepen?.sinceSeconds !== undefined) args.push(`deepen-since ${deepen.sinceSeconds}`);
  args.push(...(deepen?.notRefs ?? []).map((ref) => `deepen-not ${ref}`));
  if (filter) args.push(`filter ${formatFilterSpec(filter)}`);
  args.push(...request.wantRefs.map((ref) => `want-ref ${ref}`));
  args.push(...request.wantOids.map((oid) => `want ${oid}`));
  args.push(...request.haveOids.map((oid) => `have ${oid}`));
  if (request.isDone) args.push("done");
  return args as ByteText[];
}

/** A request of versions 0 and 1, with the client's capabilities. */
export interface UploadRequest extends FetchRequest {
  readonly capabilities: Capabilities;
  /** Whether the client has ended a round of haves, which may be empty, and expects an answer. */
  readonly hasRound: boolean;
}

/**
 * Reads the body of one `git-upload-pack` request of versions 0 and 1 over HTTP: the wants, then
 * the haves that the client lists so far.
 *
 * @param isBodyComplete True if no more bytes follow. Over HTTP a client may end its request after
 * the wants, to receive its new boundary first.
 * @returns Undefined while the body is incomplete, or if it is empty.
 * @throws GitError `protocol` for a line that is unknown or not allowed at its position.
 * @see gitprotocol-pack(5), "Packfile Negotiation".
 */
export function parseUploadRequest(
  bytes: Uint8Array,
  isBodyComplete: boolean,
  offset = 0,
): { value: UploadRequest; next: number } | undefined {
  return parseMessage(bytes, offset, (cursor) => {
    const builder = new RequestBuilder();
    let capabilities: Capabilities = new Map();
    for (let line = cursor.lineOr("flush"); line !== undefined; line = cursor.lineOr("flush")) {
      if (builder.wantOids.length === 0) {
        if (!line.startsWith("want ")) throw new GitError("protocol", "a request starts with want");
        capabilities = parseCapabilities(line.slice(45).split(" "));
        line = line.slice(0, 45) as ByteText;
      }
      if (/^(?:have |done)/.test(line) || !builder.takeLine(line)) {
        throw new GitError("protocol", `unexpected line ${JSON.stringify(line)}`);
      }
    }
    // Each round of haves ends with a flush, the last round with "done".
    let hasRound = false;
    for (;;) {
      if (builder.flags.has("done") || (isBodyComplete && cursor.isAtEnd)) break;
      const line = cursor.lineOr("flush");
      if (line === undefined) {
        hasRound = true;
        continue;
      }
      if (!/^(?:have |done$)/.test(line) || !builder.takeLine(line)) {
        throw new GitError("protocol", `unexpected line ${JSON.stringify(line)}`);
      }
    }
    builder.isRelative = capabilities.has("deepen-relative");
    for (const flag of V2_FLAGS) {
      if (capabilities.has(flag)) builder.flags.add(flag);
    }
    return { ...builder.build(), capabilities, hasRound };
  });
}

/**
 * The body of one upload request of versions 0 and 1 over HTTP, for the complete history: the wants
 * with the capabilities, then haves.
 *
 * @param isDone The pack is wanted next. Otherwise the round ends with a flush.
 */
export function formatUploadRequest(request: {
  readonly wantOids: readonly Oid[];
  readonly haveOids: readonly Oid[];
  readonly isDone: boolean;
  readonly capabilities: Capabilities;
}): Uint8Array {
  const words = formatCapabilities(request.capabilities).join(" ");
  const wants = request.wantOids.map((oid, at) =>
    formatLine(`want ${oid}${at === 0 && words !== "" ? ` ${words}` : ""}`),
  );
  const haves = request.haveOids.map((oid) => formatLine(`have ${oid}`));
  const end = request.isDone ? formatLine("done") : FLUSH_PKT;
  return joinBytes([...wants, FLUSH_PKT, ...haves, end]);
}
