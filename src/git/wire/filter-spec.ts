import { GitError } from "../error.ts";
import { readNumberText } from "./oid-text.ts";

/** The objects that a partial clone leaves out. An undefined bound leaves nothing out. */
export interface ObjectFilter {
  /** Blobs of this size and larger are left out; 0 leaves out every blob. */
  readonly blobBytesLimit?: number;
  /** Trees and blobs this deep and deeper are left out; a commit's root tree has depth 0. */
  readonly treeDepthLimit?: number;
}

const SCALES: Readonly<Record<string, number>> = { k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };

/**
 * Reads a filter.
 *
 * @throws GitError `unsupported` for filters by anything other than size and depth, and for nested
 * `combine`; `protocol` for an invalid filter.
 * @see git-rev-list(1), `--filter`.
 */
export function parseFilterSpec(spec: string): ObjectFilter {
  if (spec === "blob:none") return { blobBytesLimit: 0 };
  if (spec.startsWith("blob:limit=")) {
    const value = spec.slice("blob:limit=".length);
    const scale = SCALES[value.slice(-1).toLowerCase()];
    const digits = scale === undefined ? value : value.slice(0, -1);
    return { blobBytesLimit: readNumberText(digits, Number.MAX_SAFE_INTEGER) * (scale ?? 1) };
  }
  if (spec.startsWith("tree:")) {
    return { treeDepthLimit: readNumberText(spec.slice("tree:".length), 2 ** 31 - 1) };
  }
  if (spec.startsWith("combine:")) return parseCombined(spec.slice("combine:".length));
  if (/^(?:sparse:|object:)/.test(spec)) throw unsupported(spec);
  throw new GitError("protocol", `invalid filter ${JSON.stringify(spec)}`);
}

const unsupported = (spec: string): GitError =>
  new GitError("unsupported", `the filter ${JSON.stringify(spec)} is not supported: ${SUPPORTED}`);

const SUPPORTED = "use blob:none, blob:limit=<bytes>, tree:<depth>, or combine: of these";

/** Parses filters joined by `+`, each percent-encoded. An object must pass all of them. */
function parseCombined(specs: string): ObjectFilter {
  let combined: ObjectFilter = {};
  for (const encoded of specs.split("+")) {
    const spec = encoded.replaceAll(/%([0-9a-fA-F]{2})/g, (_, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 16)),
    );
    if (spec.startsWith("combine:")) throw unsupported(spec);
    combined = intersect(combined, parseFilterSpec(spec));
  }
  return combined;
}

function intersect(a: ObjectFilter, b: ObjectFilter): ObjectFilter {
  const blobs = [a.blobBytesLimit, b.blobBytesLimit].filter((limit) => limit !== undefined);
  const trees = [a.treeDepthLimit, b.treeDepthLimit].filter((limit) => limit !== undefined);
  return {
    ...(blobs.length > 0 ? { blobBytesLimit: Math.min(...blobs) } : {}),
    ...(trees.length > 0 ? { treeDepthLimit: Math.min(...trees) } : {}),
  };
}

export function formatFilterSpec(filter: ObjectFilter): string {
  const specs: string[] = [];
  const { blobBytesLimit, treeDepthLimit } = filter;
  if (blobBytesLimit !== undefined) {
    specs.push(blobBytesLimit === 0 ? "blob:none" : `blob:limit=${blobBytesLimit}`);
  }
  if (treeDepthLimit !== undefined) specs.push(`tree:${treeDepthLimit}`);
  return specs.length > 1 ? `combine:${specs.join("+")}` : (specs[0] ?? "");
}
