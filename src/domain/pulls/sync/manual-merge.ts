import type { Ctx } from "../../../context.ts";
import { originOf } from "../../../events/record.ts";
import type { Oid } from "../../../git/oid.ts";
import { type CommitGraph, NO_NODE, type Node } from "../../../git/walk/commit-graph.ts";
import { findRange } from "../../../git/walk/log.ts";
import { mergeStatements } from "../../code/git/record-merge.ts";
import type { CheckedPull } from "../pull/check-mergeability.ts";

/**
 * Finds the commit that merged a head into its base: the oldest first-parent ancestor of the base
 * that reaches the head. After a fast-forward it is the head itself.
 */
export function findMergeCommit(
  graph: CommitGraph,
  { baseOid, headOid }: Pick<CheckedPull, "baseOid" | "headOid">,
): Oid {
  const head = graph.find(headOid);
  const tip = graph.find(baseOid);
  const reaching = new Set<Node>([head]);
  // Parents first: the range is found children first.
  for (const node of [...findRange(graph, [tip], [head]).nodes].toReversed()) {
    if ([...graph.parents(node)].some((parent) => reaching.has(parent))) reaching.add(node);
  }
  let node = tip;
  while (node !== head) {
    const [parent = NO_NODE] = graph.parents(node);
    if (!reaching.has(parent)) break;
    node = parent;
  }
  return graph.oid(node);
}

/**
 * Marks a pull request as merged outside of the service, by the user who pushed. Keeps the counts
 * of its changes, since the base contains them all now. Idempotent.
 */
export async function recordManualMerge(
  ctx: Ctx,
  { pull, baseOid }: CheckedPull,
  mergeCommitOid: Oid,
): Promise<void> {
  const { repo, row } = pull;
  ctx.eventQueues.noteRecorded();
  await ctx.db.batch(
    mergeStatements(originOf(ctx), repo.row, {
      issueId: row.id,
      number: row.number,
      kind: "manually-merged",
      commitOid: mergeCommitOid,
      baseOid,
      mergeBaseOid: pull.pull.mergeBaseOid,
      isAutomatic: true,
      isConfined: true,
    }),
  );
}
