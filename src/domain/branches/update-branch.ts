import type { Ctx } from "../../context.ts";
import { isRefNameFormat } from "../../git/ref-name.ts";
import { isOid } from "../../git/oid.ts";
import { isAncestor } from "../../git/walk/merge-bases.ts";
import { conflict, invalid, notFound } from "../../lib/failure.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { findRevision } from "../git/find-revision.ts";
import { updateRefs } from "../git/update-refs.ts";
import { openSnapshot } from "../git/open-snapshot.ts";
import { requireWritable } from "../git/require-writable.ts";
import { branchRef, findBranch } from "./find-branch.ts";

/** Where a branch is to go. */
export interface BranchUpdate {
  /** A branch, tag or commit that is there already. */
  to: string;
  /** The whole id of the commit that the branch is at, if that matters. */
  from?: string | undefined;
  /** Whether commits may be left behind. */
  isForced: boolean;
}

/**
 * Moves a branch to another commit.
 *
 * @throws Failure `not_found` if there is no such branch or commit, `invalid` for what names none,
 * `conflict` if the branch is elsewhere than the caller knows, or would leave commits behind without
 * force.
 */
export async function updateBranch(
  ctx: Ctx,
  repo: RepositoryContext,
  name: string,
  { to, from, isForced }: BranchUpdate,
): Promise<void> {
  requireWritable(repo);
  if (!isRefNameFormat(to)) throw invalid("[NewCommitID]: GitRefName");
  if (from && !isOid(from.toLowerCase())) throw invalid("[OldCommitID]: a commit id is expected");
  const snapshot = await openSnapshot(ctx, repo);
  const { oid } = findBranch(snapshot, name);
  const { graph } = snapshot.repository;
  const revision = findRevision(snapshot, to);
  if (!revision) throw notFound();
  if (from && from.toLowerCase() !== oid) throw conflict(`the branch is at ${oid}`);
  if (revision.commitOid === oid) return;
  if (!isForced && !isAncestor(graph, graph.find(oid), revision.node)) {
    throw conflict("not a fast-forward");
  }
  const updates = [{ ref: branchRef(name), from: oid, to: revision.commitOid }];
  await updateRefs(ctx, repo, snapshot.repository, updates);
}
