import type { Ctx } from "../../../context.ts";
import type { User } from "../../../db/schema/index.ts";
import { parseCommit } from "../../../git/object/commit.ts";
import type { Oid } from "../../../git/oid.ts";
import { type CommitGraph, NO_NODE } from "../../../git/walk/commit-graph.ts";
import { conflict, notApplicable } from "../../../lib/failure.ts";
import { decodeCommitText } from "../../../shapes/git/commit.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import { checkBranchName } from "../branches/branch-name.ts";
import { requireFreeName } from "../branches/create-branch.ts";
import { branchRef } from "../branches/find-branch.ts";
import { type CommitOptions, toCommitMessage, toIdentities } from "./commit-options.ts";
import { noSuchRef } from "../git/no-such-ref.ts";
import { findRef, openSnapshot } from "../git/open-snapshot.ts";
import { requireWritable } from "../git/require-writable.ts";
import { nameConflicts } from "../commits/name-conflicts.ts";
import { pickChange } from "../commits/pick-change.ts";

/** Whether a commit is made again, or what it changed is taken back. */
export type PickKind = "cherry-pick" | "revert";

/** The commit that is picked, and how. */
export interface PickedCommit {
  /** SECURITY: refs that the caller may read reach it. */
  readonly oid: Oid;
  readonly kind: PickKind;
}

/**
 * Makes a commit again on a branch, or reverts it there, in one commit. Of a merge it is the change
 * against its first parent. A cherry-pick keeps the author.
 *
 * Cost: a merge of trees, and `commitChange`.
 *
 * @param commitOptions Whose `author` is ignored.
 * @throws Failure as `requireWritable`; `not_found` without the branch; `conflict` with the paths
 *   that conflict, for a new branch that exists, and if the branch was updated meanwhile;
 *   `not_applicable` where the branch has the change; `forbidden` if a rule does not allow it.
 *   Nothing is changed then.
 */
export async function pickCommit(
  ctx: Ctx,
  repo: RepositoryContext,
  user: User,
  { oid, kind }: PickedCommit,
  commitOptions: CommitOptions,
): Promise<void> {
  requireWritable(repo);
  const opened = await openSnapshot(ctx, repo);
  const { graph } = opened.repository;
  const branch = commitOptions.branch || repo.row.defaultBranch;
  const base = findRef(opened, branchRef(branch));
  if (!base) throw noSuchRef(opened, "the branch does not exist");
  const isThere = !commitOptions.newBranch;
  const target = commitOptions.newBranch || branch;
  if (!isThere) {
    checkBranchName(target, "new_branch");
    requireFreeName(opened, target);
  }
  const picked = graph.find(oid);
  const [parent = NO_NODE] = graph.parents(picked);
  const { commit, text } = await readPicked(opened.repository, oid);
  const { committer } = toIdentities(ctx, user, { ...commitOptions, author: undefined });
  const result = await pickChange(ctx, repo, user, opened, {
    tip: graph.find(base.oid),
    from: kind === "revert" ? picked : parent,
    to: kind === "revert" ? parent : picked,
    branch: target,
    isThere,
    message: toCommitMessage(commitOptions, describePick(graph, oid, text, kind), committer),
    author: kind === "revert" ? committer : commit.author,
    committer,
  });
  switch (result.kind) {
    case "picked":
      return;
    case "conflicts":
      throw conflict(nameConflicts(result.paths));
    case "unchanged":
      throw notApplicable("The branch has this change already: there is nothing to commit.");
    default:
      result satisfies never;
  }
}

async function readPicked({ graph, objects }: OpenRepository, oid: Oid) {
  const commit = parseCommit(await objects.readAt(graph.location(graph.find(oid))));
  return { commit, text: decodeCommitText(commit, commit.message).trim() };
}

/**
 * The message that git writes for a pick.
 *
 * @param oid Of a commit in memory.
 * @param text The message of the commit.
 */
export function describePick(graph: CommitGraph, oid: Oid, text: string, kind: PickKind): string {
  if (kind === "cherry-pick") return `${text}\n\n(cherry picked from commit ${oid})`;
  const [subject = ""] = text.split("\n", 1);
  const [parent, ...others] = graph.parents(graph.find(oid));
  const what =
    parent !== undefined && others.length > 0
      ? `This reverts commit ${oid}, reversing\nchanges made to ${graph.oid(parent)}.`
      : `This reverts commit ${oid}.`;
  return `Revert "${subject}"\n\n${what}`;
}
