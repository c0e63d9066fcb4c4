import { and, eq } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { crossShardDependencies, issueDependencies, issues } from "../../db/schema/index.ts";
import { recordIfChanged } from "../../events/record.ts";
import { notFound } from "../../lib/failure.ts";
import type { IssueContext } from "../../shapes/issues/issue.ts";
import { isCrossShard } from "../cross-shard/is-cross-shard.ts";
import { sendEntriesNow } from "../cross-shard/send-entries.ts";
import { eventSubject } from "../issues/event-subject.ts";
import { selectIssues, toIssueContext } from "../issues/find-issue.ts";
import { inRepositoryDb } from "../shards/in-database.ts";
import { type Dependency, requireDependencyWrite } from "./dependency.ts";
import { dependencyEntries } from "./dependency-entries.ts";

/**
 * Ends that an issue or pull request waits for another one.
 *
 * @param answered The one of the two to return, of the database of `ctx`.
 * @throws Failure `not_found` if it does not wait, and for those who may not write to it; `locked` in an archived
 * repository.
 */
export async function removeDependency(
  ctx: Ctx,
  dependency: Dependency,
  answered: IssueContext,
): Promise<IssueContext> {
  const { blocked, blocker } = dependency;
  requireDependencyWrite(dependency);
  const isFar = isCrossShard(blocked, blocker);
  let [removed, [row]] = isFar
    ? await removeCrossShard(ctx, dependency, answered)
    : await removeHere(ctx, dependency, answered);
  // Of issues that were in two databases once, it is as between these.
  if (!isFar && !removed[0] && ctx.openShards().size > 0) {
    [removed, [row]] = await removeCrossShard(ctx, dependency, answered);
  }
  if (!removed[0] || !row) throw notFound("the issue does not depend on the other one");
  return toIssueContext(answered.repo, row);
}

async function removeHere(ctx: Ctx, dependency: Dependency, answered: IssueContext) {
  const { db } = ctx;
  const { blocked, blocker } = dependency;
  const { issueId, blockerId } = issueDependencies;
  const isThis = and(eq(issueId, blocked.row.id), eq(blockerId, blocker.row.id));
  const [removed, , row] = await db.batch([
    db.delete(issueDependencies).where(isThis).returning({ id: issueId }),
    recordRemoval(ctx, dependency),
    selectIssues(db).where(eq(issues.id, answered.row.id)),
    ...dependencyEntries(ctx, "remove_dependency", dependency),
  ]);
  return [removed, row] as const;
}

async function removeCrossShard(ctx: Ctx, dependency: Dependency, answered: IssueContext) {
  const own = inRepositoryDb(ctx, dependency.blocked.repo.row);
  const [removed] = await own.db.batch([
    own.db
      .delete(crossShardDependencies)
      .where(
        and(
          eq(crossShardDependencies.issueId, dependency.blocked.row.id),
          eq(crossShardDependencies.blockerId, dependency.blocker.row.id),
          eq(crossShardDependencies.isChecked, true),
        ),
      )
      .returning({ id: crossShardDependencies.issueId }),
    recordRemoval(own, dependency),
    ...dependencyEntries(own, "remove_dependency", dependency),
  ]);
  await sendEntriesNow(own);
  return [removed, await selectIssues(ctx.db).where(eq(issues.id, answered.row.id))] as const;
}

const recordRemoval = (ctx: Ctx, { blocked, blocker }: Dependency) =>
  recordIfChanged(ctx, {
    type: "issue.dependency_removed",
    ...eventSubject(blocked),
    blockerId: blocker.row.id,
  });
