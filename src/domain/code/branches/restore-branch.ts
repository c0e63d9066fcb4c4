import type { Ctx } from "../../../context.ts";
import { encodeText } from "../../../git/byte-text.ts";
import { conflict, notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { openSnapshot } from "../git/open-snapshot.ts";
import { requireWritable } from "../git/require-writable.ts";
import { createBranchAt, requireFreeName } from "./create-branch.ts";
import { branchRef } from "./find-branch.ts";
import { findDeletedBranches, isHistoryStored } from "./list-deleted-branches.ts";

/**
 * Creates a branch anew that was deleted, at the commit that it led to.
 *
 * SECURITY: the commit is that of the repository's own record: no ref reaches it, so that a caller
 * may not name it. Objects that are removed meanwhile make the update fail.
 *
 * @throws Failure `not_found` if no such branch was deleted lately, `conflict` if the name is taken
 *   or the commits have been removed, `forbidden` if a rule keeps the caller from creating it.
 */
export async function restoreBranch(
  ctx: Ctx,
  repo: RepositoryContext,
  name: string,
): Promise<void> {
  requireWritable(repo);
  const snapshot = await openSnapshot(ctx, repo);
  requireFreeName(snapshot, name);
  const ref = encodeText(branchRef(name));
  const deleted = (await findDeletedBranches(ctx, repo)).find((each) => each.ref === ref);
  if (!deleted) throw notFound("No branch of this name was deleted lately.");
  const { oid } = deleted;
  const { refs, collections } = snapshot.state;
  const known = refs.map((each) => each.peeledOid ?? each.oid);
  if (!(await isHistoryStored(snapshot.repository, oid, known))) {
    throw conflict(
      `The commits of ${name} have been removed. Push them again from a clone that has them.`,
    );
  }
  const adopted = { packs: [], ref: { name: ref, oid, peeledOid: null }, collections };
  await createBranchAt(ctx, repo, snapshot, { name, commitOid: oid, adopted });
}
