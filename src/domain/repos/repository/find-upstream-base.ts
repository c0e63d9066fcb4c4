import type { Ctx } from "../../../context.ts";
import { type CommitGraph, NO_NODE, type Node } from "../../../git/walk/commit-graph.ts";
import { findDivergence } from "../../../git/walk/merge-bases.ts";
import { findRange } from "../../../git/walk/log.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { branchRef, findBranch } from "../../code/branches/find-branch.ts";
import type { CommitBase } from "../../code/contents/commit-options.ts";
import { adoptPacks } from "../../code/git/adopt-packs.ts";
import { findRef, openSideBySide, type RepositorySnapshot } from "../../code/git/open-snapshot.ts";
import { takeIntroducedFiles } from "./merge-upstream.ts";

/**
 * Finds the commit at which a change that is proposed to a repository begins in a fork of it, and
 * lets the fork take it and its large files: the fork may be behind, or lack the branch.
 *
 * Cost: two calls of Durable Objects, and two more for commits that the fork lacks.
 *
 * @param fork The caller may write to it.
 * @throws Failure `not_found` without the branch, or without access to the code of both.
 */
export async function findUpstreamBase(
  ctx: Ctx,
  fork: RepositoryContext,
  upstream: RepositoryContext,
  branch: string,
): Promise<CommitBase> {
  const [own, other] = await openSideBySide(ctx, fork, upstream);
  const ref = findBranch(other, branch);
  const { graph } = own.repository;
  const lacking = findLacking(graph, graph.find(ref.oid), own, branch, fork);
  await takeIntroducedFiles(ctx, own.repository, lacking, upstream, fork);
  const adopted = await adoptPacks(ctx, [fork, own], [upstream, other], lacking, ref);
  return { oid: ref.oid, adopted };
}

/** The commits that the fork's branch lacks, or else its default branch; all, without either. */
function findLacking(
  graph: CommitGraph,
  tip: Node,
  own: RepositorySnapshot,
  branch: string,
  { row }: RepositoryContext,
): readonly Node[] {
  const near = findRef(own, branchRef(branch)) ?? findRef(own, branchRef(row.defaultBranch));
  const ours = near ? graph.find(near.oid) : NO_NODE;
  return ours === NO_NODE
    ? [...findRange(graph, [tip], []).nodes]
    : findDivergence(graph, ours, tip).right;
}
