import type { Ctx } from "../../../context.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { Revision } from "../git/find-revision.ts";
import { hasRefs, readSnapshot } from "../git/open-snapshot.ts";
import { findContentRevision } from "./find-entry.ts";
import { readContents } from "./read-contents.ts";
import { findReadme, readShownFile, type ShownFile } from "./read-source-view.ts";

/**
 * Reads the document at the root of a repository's default branch.
 *
 * Cost: one call of the repository's object, and reads of the bucket for the commit, the tree and
 * the document.
 *
 * @returns Undefined if there is none.
 */
export const readReadme = (
  ctx: Ctx,
  repo: RepositoryContext,
): Promise<{ file: ShownFile; revision: Revision } | undefined> =>
  readSnapshot(ctx, repo, async (snapshot) => {
    if (!hasRefs(snapshot.state)) return undefined;
    const revision = await findContentRevision(snapshot, repo, "");
    if (!revision) return undefined;
    const found = await readContents(snapshot.repository, revision, [], {});
    const item = found?.kind === "directory" ? findReadme(found.items) : undefined;
    if (!item) return undefined;
    return { file: await readShownFile(ctx, repo, snapshot, revision, item), revision };
  });
