import { findCommit, resolveName, type Revision } from "./find-revision.ts";
import type { RepositorySnapshot } from "./open-snapshot.ts";

/** Maximum length of a ref name that is looked up at the start of a path, in characters. */
const REF_CHARS_MAX = 255;

/** The kinds of revisions that addresses of pages name. */
export const REF_KINDS = ["branch", "tag", "commit"] as const;
export type RefKind = (typeof REF_KINDS)[number];

const PREFIXES = { branch: "refs/heads/", tag: "refs/tags/" } as const;

/** A revision, and the names of the path after it. */
export interface RefPath {
  readonly revision: Revision;
  readonly names: readonly string[];
}

/**
 * Finds the branch, tag or commit that a path begins with. Names of refs may have slashes; since no
 * ref is a folder of another one, at most one fits.
 *
 * @param kind The kind of the ref: a branch does not count as a tag of its name.
 * @param names The path, without empty names.
 * @returns Undefined if the path begins with no such ref.
 */
export async function findRefPath(
  snapshot: RepositorySnapshot,
  kind: RefKind,
  names: readonly string[],
): Promise<RefPath | undefined> {
  if (kind === "commit") {
    const [id = "", ...rest] = names;
    const revision = await findCommit(snapshot, id);
    return revision && { revision, names: rest };
  }
  let name = "";
  for (const [at, part] of names.entries()) {
    name += at === 0 ? part : `/${part}`;
    if (name.length > REF_CHARS_MAX) return undefined;
    const revision = resolveName(snapshot, PREFIXES[kind] + name);
    if (revision) return { revision, names: names.slice(at + 1) };
  }
  return undefined;
}
