import type { ByteText } from "../byte-text.ts";
import { GitError } from "../error.ts";
import type { Oid } from "../oid.ts";
import { type Capabilities, parseCapabilities } from "./capabilities.ts";
import { formatFilterSpec, type ObjectFilter, parseFilterSpec } from "./filter-spec.ts";
import { readNumberText, readOidText } from "./oid-text.ts";
import { parseMessage } from "./pkt-cursor.ts";

/** The depth with which git says "all of it". */
const DEPTH_INFINITE = 0x7fffffff;

/** How much history a client wants, where it does not want all. */
interface Deepen {
  /** Commits from the wanted ones on, which count as 1; relative to the boundary if `isRelative`. */
  readonly depth?: number;
  readonly isRelative: boolean;
  /** Only commits of this second and later. */
  readonly sinceSeconds?: number;
  /** Only commits that these refs do not reach. */
  readonly notRefs: readonly ByteText[];
}

/** What a client asks for in `fetch` of version 2, or in the upload request of versions 0 and 1. */
export interface FetchRequest {
  readonly wantOids: readonly Oid[];
  /** Refs wanted by name (version 2 only). */
  readonly wantRefs: readonly ByteText[];
  readonly haveOids: readonly Oid[];
  /** The client's boundary: commits it has without their parents. */
  readonly shallowOids: readonly Oid[];
  /** Undefined where the history is wanted whole. */
  readonly deepen: Deepen | undefined;
  readonly filter: ObjectFilter | undefined;
  /** No more negotiation: the pack comes next. */
  readonly isDone: boolean;
  /** Deltas may refer to objects that the client has. */
  readonly isThin: boolean;
  /** Deltas may name their base by offset. */
  readonly takesOfsDelta: boolean;
  /** Annotated tags come along with what they tag. */
  readonly includesTags: boolean;
  readonly wantsProgress: boolean;
  /** Never to answer `ready` (version 2 only). */
  readonly waitsForDone: boolean;
  /** The whole answer in side-bands (version 2 only). */
  readonly isSidebandAll: boolean;
}

/** Ids in one request before it is refused. */
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

  /** Takes a line that both versions know; false for any other. */
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
        // A depth of 0 asks for nothing special, as in git.
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
    // No pack lies elsewhere, so where it might be fetched from does not matter.
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

/** A request of versions 0 and 1, with what the client said that it can do. */
export interface UploadRequest extends FetchRequest {
  readonly capabilities: Capabilities;
}

/**
 * Reads the body of one `git-upload-pack` request of versions 0 and 1 over HTTP: wants, then what
 * the client has so far.
 *
 * @param isBodyComplete True if no more bytes follow. Over HTTP a client may stop behind its wants,
 * to learn its new boundary first.
 * @returns Undefined while the body is incomplete, or if it is empty.
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
    // The haves come in rounds that end in a flush, and the last one in "done".
    for (;;) {
      if (builder.flags.has("done") || (isBodyComplete && cursor.isAtEnd)) break;
      const line = cursor.lineOr("flush");
      if (line === undefined) continue;
      if (!/^(?:have |done$)/.test(line) || !builder.takeLine(line)) {
        throw new GitError("protocol", `unexpected line ${JSON.stringify(line)}`);
      }
    }
    builder.isRelative = capabilities.has("deepen-relative");
    for (const flag of V2_FLAGS) {
      if (capabilities.has(flag)) builder.flags.add(flag);
    }
    return { ...builder.build(), capabilities };
  });
}
