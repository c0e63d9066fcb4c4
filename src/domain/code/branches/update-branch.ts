import type { Ctx } from "../../../context.ts";
import { isOid } from "../../../git/oid.ts";
import { isAncestor } from "../../../git/walk/merge-bases.ts";
import { invalidField } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { findRevision } from "../git/find-revision.ts";
import { noSuchRef } from "../git/no-such-ref.ts";
import { updateRefs } from "../git/update-refs.ts";
import { openSnapshot } from "../git/open-snapshot.ts";
import { requireWritable } from "../git/require-writable.ts";
import { branchRef, findBranch } from "./find-branch.ts";

/** The target of a branch update. */
export interface BranchUpdate {
  /** An existing branch, tag or commit. */
  to: string;
  /** The full id of the commit that the branch is expected to point at, if the caller checks it. */
  from?: string | undefined;
  /** Whether a non-fast-forward update is allowed, which may orphan commits. */
  isForced: boolean;
}

/**
 * Updates a branch to point at another commit.
 *
 * @throws Failure `not_found` if the branch or the commit does not exist, `invalid` for a malformed
 * ref or commit id, if the branch does not point at `from`, and for a non-fast-forward update
 * without force, `conflict` for an update that loses a race.
 */
export async function updateBranch(
  ctx: Ctx,
  repo: RepositoryContext,
  name: string,
  { to, from, isForced }: BranchUpdate,
): Promise<void> {
  requireWritable(repo);
  if (from && !isOid(from.toLowerCase())) {
    throw invalidField("old_commit_id", "must be a whole commit id");
  }
  const snapshot = await openSnapshot(ctx, repo);
  const { oid } = findBranch(snapshot, name);
  const { graph } = snapshot.repository;
  const revision = await findRevision(snapshot, to);
  if (!revision) throw noSuchRef(snapshot);
  if (from && from.toLowerCase() !== oid)
    throw invalidField("old_commit_id", `must be ${oid}, where the branch is`);
  if (revision.commitOid === oid) return;
  if (!isForced && !isAncestor(graph, graph.find(oid), revision.node)) {
    throw invalidField("force", "must be true, since the update is not a fast-forward");
  }
  const updates = [{ ref: branchRef(name), from: oid, to: revision.commitOid }];
  await updateRefs(ctx, repo, snapshot, updates);
}
