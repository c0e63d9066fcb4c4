import { and, eq, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import { asBlocked, isBlockedBy, unlessBlocked } from "../../auth/access/blocks.ts";
import type { Ctx } from "../../context.ts";
import { isViolation, onlyWhile } from "../../db/db.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { crossShardDependencies, issueDependencies, issues } from "../../db/schema/index.ts";
import { recordIfChanged } from "../../events/record.ts";
import { conflict, invalid, notFound } from "../../lib/failure.ts";
import type { IssueContext } from "../../shapes/issues/issue.ts";
import { isCrossShard } from "../cross-shard/is-cross-shard.ts";
import { sendEntriesNow } from "../cross-shard/send-entries.ts";
import { eventSubject } from "../issues/event-subject.ts";
import { selectIssues, toIssueContext } from "../issues/find-issue.ts";
import { inRepositoryDb } from "../shards/in-database.ts";
import { BLOCKERS_MAX, countBlockers } from "./count-blockers.ts";
import type { Dependency } from "./dependency.ts";
import { dependencyEntries } from "./dependency-entries.ts";
import { closesCircle, isFollowed } from "./find-circle.ts";

/** How long a search may take: less than others count with what it is about. */
const SEARCH_MS_MAX = 60_000;

/**
 * Adds a dependency whose circle is searched in several databases.
 *
 * No statement reads them all. So the dependency is written first as a candidate, which other searches see, then searched for, and then
 * counts: of two calls that would close a circle together, each one that searches last sees the other, and at most one stays.
 * A candidate whose call ended in between blocks nothing, and counts for nobody after some minutes.
 *
 * @throws Failure as `addDependency`.
 */
export async function addChecked(
  ctx: Ctx,
  dependency: Dependency,
  answered: IssueContext,
): Promise<IssueContext> {
  const own = inRepositoryDb(ctx, dependency.blocked.repo.row);
  const startedAt = Date.now();
  try {
    const [, [candidate]] = await own.db.batch(candidateStatements(own, dependency));
    if (!candidate) throw isThereAlready();
  } catch (error) {
    throw asRefusal(error);
  }
  try {
    if (await closesCircle(own, dependency)) {
      throw invalid("the issues would depend on one another in a circle");
    }
    if (Date.now() - startedAt > SEARCH_MS_MAX) throw new Error("the search took too long");
    await settle(own, dependency);
  } catch (error) {
    await own.db.delete(crossShardDependencies).where(isCandidate(dependency));
    throw asRefusal(error);
  }
  await sendEntriesNow(own);
  const [row] = await selectIssues(ctx.db).where(eq(issues.id, answered.row.id));
  if (!row) throw notFound("issue does not exist");
  return toIssueContext(answered.repo, row);
}

const isThis = ({ blocked, blocker }: Dependency): SQL =>
  sql`(${crossShardDependencies.issueId} = ${blocked.row.id}
    and ${crossShardDependencies.blockerId} = ${blocker.row.id})`;

const isCandidate = (dependency: Dependency): SQL =>
  sql`(${isThis(dependency)} and not ${crossShardDependencies.isChecked})`;

/** The statements that insert a candidate, or take it over from a call that may have ended, unless the dependency counts already. */
function candidateStatements(ctx: Ctx, { blocked, blocker }: Dependency) {
  const { db, actor, now } = ctx;
  const isKeptOut = isBlockedBy(sql`${actor.user?.id ?? 0}`, sql`${blocker.repo.row.ownerId}`);
  const hasRoom = sql`${countBlockers(ctx, blocked.row.id)} < ${BLOCKERS_MAX}`;
  const isOld = sql`not ${isFollowed(now)}`;
  return [
    db
      .delete(crossShardDependencies)
      .where(and(eq(crossShardDependencies.issueId, blocked.row.id), isOld)),
    insertSelect(
      db,
      crossShardDependencies,
      {
        issueId: unlessBlocked(isKeptOut, blocked.row.id),
        blockerId: onlyWhile(hasRoom, blocker.row.id),
        blockerRepoId: blocker.row.repoId,
        blockerCreatedAt: blocker.row.createdAt,
        createdAt: now,
      },
      sql`where true`,
    )
      .onConflictDoUpdate({
        target: [crossShardDependencies.issueId, crossShardDependencies.blockerId],
        set: { createdAt: now },
        setWhere: eq(crossShardDependencies.isChecked, false),
      })
      .returning({ id: crossShardDependencies.issueId }),
  ] as const;
}

/**
 * Makes a candidate count, with its event and entries.
 *
 * @throws Failure `conflict` if another call about the same two issues was faster, or the blocked one was deleted meanwhile.
 */
async function settle(ctx: Ctx, dependency: Dependency): Promise<void> {
  const { db } = ctx;
  const { blocked, blocker } = dependency;
  const [changed] = await db.batch([
    ...counting(ctx, dependency),
    recordIfChanged(ctx, {
      type: "issue.dependency_added",
      ...eventSubject(blocked),
      blockerId: blocker.row.id,
    }),
    ...dependencyEntries(ctx, "add_dependency", dependency),
  ]);
  if ((changed as unknown[]).length === 0) throw conflict("the issues were changed meanwhile");
}

/** The statements that replace a candidate by what counts; the last one of them returns it, and so does the first. */
function counting(
  { db, actor, now }: Ctx,
  dependency: Dependency,
): [BatchItem<"sqlite">, ...BatchItem<"sqlite">[]] {
  const { blocked, blocker } = dependency;
  const returned = { id: crossShardDependencies.issueId };
  if (isCrossShard(blocked, blocker)) {
    return [
      db
        .update(crossShardDependencies)
        .set({ isChecked: true })
        .where(isCandidate(dependency))
        .returning(returned),
    ];
  }
  return [
    insertSelect(
      db,
      issueDependencies,
      {
        issueId: blocked.row.id,
        blockerId: blocker.row.id,
        creatorId: actor.user?.id ?? null,
        createdAt: now,
      },
      sql`from ${crossShardDependencies} where ${isCandidate(dependency)}`,
    ).returning({ id: issueDependencies.issueId }),
    db.delete(crossShardDependencies).where(isCandidate(dependency)),
  ];
}

const isThereAlready = () => conflict("the issue depends on the other one already");

function asRefusal(error: unknown): unknown {
  if (isViolation(error, "UNIQUE", "issue_dependencies.")) return isThereAlready();
  if (isViolation(error, "NOT NULL", "cross_shard_dependencies.blocker_id")) {
    return invalid(`an issue can depend on ${BLOCKERS_MAX} others at most`);
  }
  if (isViolation(error, "FOREIGN KEY")) return notFound("issue does not exist");
  return asBlocked(error, "cross_shard_dependencies.issue_id");
}
