import { isSubmoduleMode, isTreeMode, type TreeEntry } from "../../../git/object/tree.ts";
import { isWholeId } from "../../../git/oid.ts";
import { resident } from "../../../git/catalog/block-pool.ts";
import type { ObjectLocation } from "../../../git/catalog/pack-catalog.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { notFound } from "../../../lib/failure.ts";
import { findRefPath, type RefKind, type RefPath } from "../git/find-ref-path.ts";
import { isPinned, type Revision } from "../git/find-revision.ts";
import { noSuchRef } from "../git/no-such-ref.ts";
import type { RepositorySnapshot } from "../git/open-snapshot.ts";
import { findContentRevision, findEntry, splitPath } from "./find-entry.ts";

/** A file or symlink, and the revision in which it was found. */
export interface FoundFile {
  readonly entry: TreeEntry;
  readonly name: string;
  readonly location: ObjectLocation;
  readonly revision: Revision;
}

/** A file as a request names it. */
export interface NamedFile {
  readonly file: FoundFile;
  /** Whether the request names the commit by its whole id. */
  readonly isPinned: boolean;
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
  const found = leading && (await findFileAt(snapshot, leading.revision, leading.names));
  if (found) return found;
  const revision = await findContentRevision(snapshot, repository, ref);
  return revision && findFileAt(snapshot, revision, names);
}

/**
 * Finds a file as `findFile` does.
 *
 * @throws Failure `not_found`.
 */
export async function findNamedFile(
  snapshot: RepositorySnapshot,
  repository: RepositoryContext,
  path: string,
  ref: string,
): Promise<NamedFile> {
  const file = await findFile(snapshot, repository, path, ref);
  if (file) return { file, isPinned: isPinned(file.revision, ref) };
  const isCommit = (await findContentRevision(snapshot, repository, ref)) !== undefined;
  throw isCommit ? notFound("no such file", "no-such-path") : noSuchRef(snapshot);
}

/**
 * Finds the file at a path that begins with a branch, a tag, or the id of a commit, which may be
 * abbreviated.
 *
 * @throws Failure `not_found`.
 */
export async function findFileBelow(
  snapshot: RepositorySnapshot,
  kind: RefKind,
  path: string,
): Promise<NamedFile> {
  const names = splitPath(path);
  const leading = await findRefPath(snapshot, kind, names);
  const file = leading && (await findFileAt(snapshot, leading.revision, leading.names));
  if (!file) throw notFound();
  return { file, isPinned: isPinned(file.revision, names[0] ?? "") };
}

/** What a path begins with; undefined if that is no branch, tag or whole id of a commit. */
export async function findLeadingKind(
  snapshot: RepositorySnapshot,
  path: string,
): Promise<RefKind | undefined> {
  return (await findLeadingRef(snapshot, splitPath(path)))?.revision.kind;
}

/** Finds the file at a path of a revision. */
export const findFileOf = (
  snapshot: RepositorySnapshot,
  revision: Revision,
  path: string,
): Promise<FoundFile | undefined> => findFileAt(snapshot, revision, splitPath(path));

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

/** Finds the branch, tag or full commit id that a path begins with, before other names. */
async function findLeadingRef(
  snapshot: RepositorySnapshot,
  names: readonly string[],
): Promise<RefPath | undefined> {
  const kinds: readonly RefKind[] = isWholeId(names[0] ?? "") ? ["commit"] : ["branch", "tag"];
  for (const kind of kinds) {
    const found = await findRefPath(snapshot, kind, names);
    if (found && found.names.length > 0) return found;
  }
  return undefined;
}
