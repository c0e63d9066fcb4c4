import type { Ctx } from "../../../context.ts";
import type { User } from "../../../db/schema/index.ts";
import { encodeText } from "../../../git/byte-text.ts";
import { stripSpace } from "../../../git/object/strip-space.ts";
import { type CommitGraph, NO_NODE, type Node } from "../../../git/walk/commit-graph.ts";
import { isAncestor } from "../../../git/walk/merge-bases.ts";
import { conflict, notApplicable } from "../../../lib/failure.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import { requireFreeName } from "../../code/branches/create-branch.ts";
import { branchRef } from "../../code/branches/find-branch.ts";
import { BRANCH_CHARS_MAX } from "../../code/branches/branch-name.ts";
import { nameConflicts } from "../../code/commits/name-conflicts.ts";
import { pickChange } from "../../code/commits/pick-change.ts";
import { findRef, openSnapshot } from "../../code/git/open-snapshot.ts";
import { requireWritable } from "../../code/git/require-writable.ts";

/**
 * Reverts a merged pull request in one commit on a new branch, from which a pull request can be
 * opened. What the base got by it is reverted as a whole, also where it is several commits.
 *
 * A second call returns the branch of the first one, as long as the base lacks its commit.
 *
 * Cost: three calls of the Durable Object.
 *
 * @returns The name of the branch.
 * @throws Failure as `requireWritable`; `not_applicable` for one that is not merged, or whose merge
 *   the base does not have any more; `conflict` where later commits changed the same lines, and for
 *   a branch of this name with something else.
 */
export async function revertPull(ctx: Ctx, context: PullContext, user: User): Promise<string> {
  const { repo, pull } = context;
  requireWritable(repo);
  if (pull.mergedAt === null) throw notApplicable("The pull request is not merged.");
  const snapshot = await openSnapshot(ctx, repo);
  const { graph } = snapshot.repository;
  const base = findRef(snapshot, branchRef(pull.baseBranch));
  const tip = base ? graph.find(base.oid) : NO_NODE;
  const from = graph.find(pull.mergeCommitOid);
  if (tip === NO_NODE || from === NO_NODE || !isAncestor(graph, from, tip)) {
    throw notApplicable("The base does not have the merge any more.");
  }
  const branch = nameOf(context);
  const present = findRef(snapshot, branchRef(branch));
  if (present) {
    if (!isAncestor(graph, graph.find(present.oid), tip)) return branch;
    throw conflict(`The base has everything of the branch ${branch}: delete it first.`);
  }
  requireFreeName(snapshot, branch);
  const to = findStart(graph, from, pull.mergedBaseOid);
  const message = stripSpace(encodeText(messageOf(context, graph, to)));
  const result = await pickChange(ctx, repo, user, snapshot, { tip, from, to, branch, message });
  switch (result.kind) {
    case "picked":
      return branch;
    case "conflicts":
      throw conflict(`Later commits changed the same: ${nameConflicts(result.paths)}`);
    case "unchanged":
      throw notApplicable("The base has nothing of the pull request any more.");
    default:
      return result satisfies never;
  }
}

/** The commit that the base was at before the merge: of an imported one the first parent. */
function findStart(graph: CommitGraph, merge: Node, mergedBaseOid: string): Node {
  const start = mergedBaseOid === "" ? NO_NODE : graph.find(mergedBaseOid);
  if (start !== NO_NODE && start !== merge && isAncestor(graph, start, merge)) return start;
  const [parent = NO_NODE] = graph.parents(merge);
  return parent;
}

function nameOf({ row, pull }: PullContext): string {
  const name = `revert-${row.number}-${pull.headBranch}`;
  return name.length > BRANCH_CHARS_MAX ? `revert-${row.number}` : name;
}

/** The message that `git revert` writes, with the title of the pull request. */
function messageOf({ row, pull }: PullContext, graph: CommitGraph, to: Node): string {
  const { mergeCommitOid } = pull;
  const merge = graph.find(mergeCommitOid);
  const isOne = graph.parents(merge).length < 2 && (graph.parents(merge)[0] ?? NO_NODE) === to;
  const what = isOne
    ? `This reverts commit ${mergeCommitOid}.`
    : `This reverts commit ${mergeCommitOid}, reversing\nchanges made to ${graph.oid(to)}.`;
  return `Revert "${row.title}" (#${row.number})\n\n${what}\n`.toWellFormed();
}
