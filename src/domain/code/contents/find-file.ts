import { isSubmoduleMode, isTreeMode, type TreeEntry } from "../../../git/object/tree.ts";
import { isWholeId } from "../../../git/oid.ts";
import { resident } from "../../../git/catalog/block-pool.ts";
import type { ObjectLocation } from "../../../git/catalog/pack-catalog.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { resolveName, resolveRevision, type Revision } from "../git/find-revision.ts";
import type { RepositorySnapshot } from "../git/open-snapshot.ts";
import { findContentRevision, findEntry, splitPath } from "./find-entry.ts";

/** Maximum length of a ref name that is looked up at the start of a path, in characters. */
const REF_CHARS_MAX = 255;

/** A file or symlink, and the revision in which it was found. */
export interface FoundFile {
  readonly entry: TreeEntry;
  readonly name: string;
  readonly location: ObjectLocation;
  readonly revision: Revision;
}

/**
 * Finds the file at a path. Without `ref`, the path may begin with one (`main/docs/a.txt`); if no
 * file is found that way, the whole path is looked up on the default branch.
 */
export async function findFile(
  snapshot: RepositorySnapshot,
  repository: RepositoryContext,
  path: string,
  ref: string,
): Promise<FoundFile | undefined> {
  const names = splitPath(path);
  const leading = ref === "" ? await findLeadingRef(snapshot, names) : undefined;
  const found =
    leading && (await findFileAt(snapshot, leading.revision, names.slice(leading.nameCount)));
  if (found) return found;
  const revision = await findContentRevision(snapshot, repository, ref);
  return revision && findFileAt(snapshot, revision, names);
}

async function findFileAt(
  { repository }: RepositorySnapshot,
  revision: Revision,
  names: readonly string[],
): Promise<FoundFile | undefined> {
  const { catalog, graph } = repository;
  const root = await graph.loadRoot(revision.node);
  const entry = root && (await findEntry(repository, root, names));
  if (!entry || isTreeMode(entry.mode) || isSubmoduleMode(entry.mode)) return undefined;
  const location = await resident(() => catalog.find(entry.oid));
  return location && { entry, name: names.at(-1) ?? "", location, revision };
}

/**
 * Finds the branch, tag or full commit id that a path begins with, and the number of names it
 * consists of.
 */
async function findLeadingRef(
  snapshot: RepositorySnapshot,
  names: readonly string[],
): Promise<{ revision: Revision; nameCount: number } | undefined> {
  const [first = ""] = names;
  if (isWholeId(first)) {
    const revision = await resolveRevision(snapshot, first);
    return revision && { revision, nameCount: 1 };
  }
  for (const above of ["refs/heads", "refs/tags"]) {
    let name = above;
    for (const [at, part] of names.slice(0, -1).entries()) {
      name += `/${part}`;
      if (name.length > REF_CHARS_MAX) break;
      const revision = resolveName(snapshot, name);
      if (revision) return { revision, nameCount: at + 1 };
    }
  }
  return undefined;
}
