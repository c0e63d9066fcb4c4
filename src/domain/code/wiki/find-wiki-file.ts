import { notFound } from "../../../lib/failure.ts";
import { canonicalAddress, fileOfAddress } from "../../../shapes/wiki/wiki-path.ts";
import { findFileOf, type NamedFile } from "../contents/find-file.ts";
import { findCommit, findRevision, isPinned } from "../git/find-revision.ts";
import type { RepositorySnapshot } from "../git/open-snapshot.ts";

/**
 * Finds a file of a wiki, or that of a page, by its path.
 *
 * @param rev The id of a commit, which may be abbreviated; "" for the newest.
 * @throws Failure `not_found`.
 */
export async function findWikiFile(
  snapshot: RepositorySnapshot,
  path: string,
  rev: string,
): Promise<NamedFile> {
  const revision =
    rev === "" ? await findRevision(snapshot, "HEAD") : await findCommit(snapshot, rev);
  if (!revision) throw notFound();
  const file =
    (await findFileOf(snapshot, revision, path)) ??
    (await findFileOf(snapshot, revision, fileOfAddress(canonicalAddress(encodeURI(path)))));
  if (!file) throw notFound();
  return { file, isPinned: isPinned(revision, rev) };
}
