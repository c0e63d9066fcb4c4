import type { Ctx } from "../../../context.ts";
import { originOf } from "../../../events/record.ts";
import type { Oid } from "../../../git/oid.ts";
import { type CommitGraph, NO_NODE, type Node } from "../../../git/walk/commit-graph.ts";
import { findRange } from "../../../git/walk/log.ts";
import { mergeStatements } from "../../code/git/record-merge.ts";
import type { JudgedPull } from "../pull/judge-pull.ts";

/**
 * Finds the commit by which a head came into its base: the first one of the base's own line that
 * reaches it, which is the head itself after a fast-forward.
 */
export function findMergeCommit(
  graph: CommitGraph,
  { baseOid, headOid }: Pick<JudgedPull, "baseOid" | "headOid">,
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
 * Stores that a pull request was merged outside of the service, by who pushed. What was known of
 * its changes stays: the base has them all now. Idempotent.
 */
export async function setFoundMerged(
  ctx: Ctx,
  { pull, baseOid }: JudgedPull,
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
