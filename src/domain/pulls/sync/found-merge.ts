import { and, eq, isNull, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { issues, pulls } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import type { Oid } from "../../../git/oid.ts";
import { type CommitGraph, NO_NODE, type Node } from "../../../git/walk/commit-graph.ts";
import { findRange } from "../../../git/walk/log.ts";
import { eventSubject } from "../../issues/event-subject.ts";
import { insertEntryIfChanged } from "../../issues/insert-entry.ts";
import type { JudgedPull } from "../judge-pull.ts";

/**
 * Finds the commit by which a head came into its base: the first one of the base's own line that reaches it, which is the
 * head itself after a fast-forward.
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
 * Stores that a pull request was merged outside of the service, by who pushed. What was known of its changes stays: the
 * base has them all now. Idempotent.
 */
export async function setFoundMerged(
  ctx: Ctx,
  { pull, baseOid, headOid }: JudgedPull,
  mergeCommitOid: Oid,
): Promise<void> {
  const { id: issueId, repoId } = pull.row;
  const { isPull: _, ...subject } = eventSubject(pull);
  const mergeKind = "manually-merged";
  const isSet = and(
    eq(pulls.issueId, issueId),
    eq(pulls.headOid, headOid),
    eq(pulls.isClosed, false),
    isNull(pulls.mergedAt),
  );
  await ctx.db.batch([
    ctx.db
      .update(pulls)
      .set({
        mergedAt: ctx.now,
        mergerId: ctx.actor.user?.id ?? null,
        mergeCommitOid,
        mergedBaseOid: baseOid,
        mergeKind,
      })
      .where(isSet),
    insertEntryIfChanged(ctx, { kind: "merge_pull", repoId, issueId, commitOid: mergeCommitOid }),
    recordIfChanged(ctx, {
      type: "pull.merged",
      ...subject,
      mergeCommitOid,
      mergeKind,
      isAutomatic: true,
    }),
    ctx.db
      .update(issues)
      .set({ isClosed: true, closedAt: ctx.now, updatedAt: ctx.now })
      .where(sql`changes() > 0 and ${issues.id} = ${issueId} and not ${issues.isClosed}`),
  ]);
}
