import type { Ctx } from "../../../context.ts";
import { giveWay } from "../../../git/budget.ts";
import type { Oid } from "../../../git/oid.ts";
import { NO_NODE, type Node } from "../../../git/walk/commit-graph.ts";
import { markReachable } from "../../../git/walk/reachable.ts";
import type { PayloadCommitEntry } from "../../../shapes/git/payload-commit.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import type { DeletedBranch } from "../../../storage/repository-records.ts";
import type { Listed, Slice } from "../../slice.ts";
import type { RepositorySnapshot } from "../git/open-snapshot.ts";
import { branchNameOf } from "./list-branches.ts";
import { readHeads } from "./read-heads.ts";

/** A deleted branch, which can be restored for some time. */
export interface DeletedBranchEntry {
  readonly name: string;
  readonly commitOid: Oid;
  /** In milliseconds. */
  readonly deletedAt: number;
  /** The commit; undefined if it was removed since, so that the branch can't be restored. */
  readonly head: PayloadCommitEntry | undefined;
}

/**
 * Lists branches that were deleted within the grace period of unreachable objects, the last one
 * first.
 *
 * SECURITY: for those who may write the code. What a deleted branch led to is not for all readers.
 *
 * Cost: one call of the Durable Object, and as `readHeads`.
 */
export async function listDeletedBranches(
  ctx: Ctx,
  repo: RepositoryContext,
  snapshot: RepositorySnapshot,
  { size, offset }: Slice,
): Promise<Listed<DeletedBranchEntry>> {
  const { graph } = snapshot.repository;
  const all = await findDeletedBranches(ctx, repo);
  const page = all.slice(offset, offset + size);
  const stored = page.map(({ oid }) => oid).filter((oid) => graph.find(oid) !== NO_NODE);
  const heads = await readHeads(ctx, snapshot, stored);
  const items = page.map(({ ref, oid, at }) => ({
    name: branchNameOf(ref),
    commitOid: oid,
    deletedAt: at,
    head: heads.get(oid),
  }));
  return { items, total: all.length };
}

/** Finds the branches that were deleted within the grace period of unreachable objects. */
export const findDeletedBranches = (
  ctx: Ctx,
  { row }: RepositoryContext,
): Promise<DeletedBranch[]> =>
  ctx.git.repository(row).listDeletedBranches(ctx.now - ctx.config.gitCollection.graceMs);

/** Steps to look for a commit and its root tree. */
const STEPS_PER_COMMIT = 200;

/**
 * Whether all commits behind one are stored, each with its root tree: a search for unreachable
 * objects with a shorter grace period may have removed some.
 *
 * Cost: the commits that no known one reaches.
 *
 * @param known The values of refs, whose commits are there.
 */
export async function isHistoryStored(
  { graph, objects: { budget } }: OpenRepository,
  commitOid: Oid,
  known: readonly Oid[],
): Promise<boolean> {
  const marks = markReachable(
    graph,
    known.map((oid) => graph.find(oid)),
  );
  const stack: Node[] = [graph.find(commitOid)];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (node === NO_NODE) return false;
    if (marks[node] === 1) continue;
    marks[node] = 1;
    const turn = giveWay(budget, STEPS_PER_COMMIT);
    if (turn) await turn;
    if ((await graph.loadRoot(node)) === undefined) return false;
    for (const parent of graph.parents(node)) stack.push(parent);
  }
  return true;
}
