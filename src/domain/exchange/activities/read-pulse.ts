import { and, asc, type Column, count, desc, eq, gt, gte, isNotNull, sql } from "drizzle-orm";

import { isAllowed } from "../../../auth/access/permission.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { columnsOf, type Database } from "../../../db/db.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { issues, pulls, releases, type User, users } from "../../../db/schema/index.ts";
import { latestFirst } from "../../packages/releases/find-release.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";

/** Issues and pull requests, and releases, that are examined for each part of a pulse. */
const EXAMINED_MAX = 1000;
const EXAMINED_RELEASES_MAX = 200;
/** Rows that a part lists. */
const LISTED_MAX = 50;

/** An issue, a pull request or a release in a pulse. */
interface PulseItem {
  readonly title: string;
  /** The number of an issue or a pull request; the name of a release's tag. */
  readonly name: string;
  readonly at: number;
  /** Undefined for a deleted account. */
  readonly user: User | undefined;
}

/** One kind of events of a period. */
export interface PulsePart {
  /** The latest of them. */
  readonly items: readonly PulseItem[];
  readonly total: number;
  /** Whether there may be more, since no more rows are examined. */
  readonly isCut: boolean;
}

/** Changes of a repository in a period; a part is undefined for a unit that the caller lacks. */
export interface Pulse {
  readonly mergedPulls: PulsePart | undefined;
  readonly proposedPulls: PulsePart | undefined;
  readonly closedIssues: PulsePart | undefined;
  readonly openedIssues: PulsePart | undefined;
  readonly releases: PulsePart | undefined;
}

/**
 * Reads which pull requests, issues and releases of a repository changed since a time, of the units
 * that the caller may read.
 *
 * Cost: one round trip. Of each part, the latest 1,000 rows at most are examined.
 */
export async function readPulse(ctx: Ctx, repo: RepositoryContext, since: number): Promise<Pulse> {
  const sees = (unit: "pulls" | "issues" | "releases"): boolean =>
    isAllowed(repo, { unit, mode: "read" });
  const found = await batch(
    ctx.db,
    pulseOf(ctx.db, {
      repoId: repo.row.id,
      // Numbers increase with the time of creation, and have an index.
      afterNumber: repo.row.lastIssueNumber - EXAMINED_MAX,
      since,
      seesPulls: sees("pulls"),
      seesIssues: sees("issues"),
      seesReleases: sees("releases"),
    }),
  );
  const hasEarlier = repo.row.lastIssueNumber > EXAMINED_MAX;
  const isOpenedCut = hasEarlier && (found.firstExamined ?? []).some(({ at }) => at >= since);
  const isMergedCut = (found.closedPulls ?? []).some(({ total }) => total === EXAMINED_MAX);
  const isFull = (rows: readonly PulseRow[], max: number): boolean => rows[0]?.total === max;
  return {
    mergedPulls: found.mergedPulls && toPart(found.mergedPulls, isMergedCut),
    proposedPulls: found.proposedPulls && toPart(found.proposedPulls, isOpenedCut),
    closedIssues:
      found.closedIssues && toPart(found.closedIssues, isFull(found.closedIssues, EXAMINED_MAX)),
    openedIssues: found.openedIssues && toPart(found.openedIssues, isOpenedCut),
    releases:
      found.releases && toPart(found.releases, isFull(found.releases, EXAMINED_RELEASES_MAX)),
  };
}

interface PulseQuery {
  readonly repoId: number;
  readonly afterNumber: number;
  readonly since: number;
  readonly seesPulls: boolean;
  readonly seesIssues: boolean;
  readonly seesReleases: boolean;
}

const pulseOf = prepareAll((db, query: Params<PulseQuery>) => {
  const { repoId, afterNumber, since, seesPulls, seesIssues, seesReleases } = query;
  const isNew = (isPull: boolean) =>
    and(
      eq(issues.repoId, repoId),
      gt(issues.number, afterNumber),
      eq(issues.isPull, isPull),
      gte(issues.createdAt, since),
    );
  const opened = (isPull: boolean) =>
    selectIssues(db, issues.createdAt).where(isNew(isPull)).orderBy(desc(issues.number));
  const closed = (isPull: boolean) =>
    selectIssues(db, issues.closedAt)
      .where(sql`${issues.id} in ${closedIds(db, query, isPull)}`)
      .orderBy(desc(issues.closedAt));
  const ofReleases = db
    .select({ id: releases.id })
    .from(releases)
    .where(and(eq(releases.repoId, repoId), sql`not ${releases.isDraft}`))
    .orderBy(...latestFirst)
    .limit(EXAMINED_RELEASES_MAX);
  return {
    mergedPulls: seesPulls
      ? closed(true).innerJoin(pulls, and(eq(pulls.issueId, issues.id), isNotNull(pulls.mergedAt)))
      : undefined,
    closedPulls: seesPulls
      ? db.select({ total: count().as("total") }).from(closedIds(db, query, true).as("closed"))
      : undefined,
    proposedPulls: seesPulls ? opened(true) : undefined,
    closedIssues: seesIssues ? closed(false) : undefined,
    openedIssues: seesIssues ? opened(false) : undefined,
    firstExamined:
      seesPulls || seesIssues
        ? db
            .select({ at: issues.createdAt })
            .from(issues)
            .where(and(eq(issues.repoId, repoId), gt(issues.number, afterNumber)))
            .orderBy(asc(issues.number))
            .limit(1)
        : undefined,
    releases: seesReleases
      ? db
          .select({
            title: sql<string>`${releases.title}`.as("p_title"),
            name: sql<string>`${releases.tagName}`.as("p_name"),
            ...facts(releases.publisherId, releases.publishedAt),
          })
          .from(releases)
          .leftJoin(users, eq(users.id, releases.publisherId))
          .where(and(sql`${releases.id} in ${ofReleases}`, gte(releases.publishedAt, since)))
          .orderBy(...latestFirst)
          .limit(LISTED_MAX)
      : undefined,
  };
});

/** The latest issues that were closed since the time of a query, or pull requests. */
const closedIds = (db: Database, { repoId, since }: Params<PulseQuery>, isPull: boolean) =>
  db
    .select({ id: issues.id })
    .from(issues)
    .where(
      and(
        eq(issues.repoId, repoId),
        eq(issues.isPull, isPull),
        eq(issues.isClosed, true),
        gte(issues.closedAt, since),
      ),
    )
    .orderBy(desc(issues.closedAt))
    .limit(EXAMINED_MAX);

const selectIssues = (db: Database, at: Column) =>
  db
    .select({
      title: sql<string>`${issues.title}`.as("p_title"),
      name: sql<string>`cast(${issues.number} as text)`.as("p_name"),
      ...facts(issues.posterId, at),
    })
    .from(issues)
    .leftJoin(users, eq(users.id, issues.posterId))
    .limit(LISTED_MAX)
    .$dynamic();

/** The columns of a part that do not depend on its kind. The total is that of all its rows. */
const facts = (userId: Column, at: Column) => ({
  at: sql<number>`${at}`.as("p_at"),
  userId: sql<number | null>`${userId}`.as("p_user_id"),
  user: columnsOf(users, "u"),
  total: sql<number>`count(*) over ()`.as("p_total"),
});

interface PulseRow extends Omit<PulseItem, "user"> {
  readonly userId: number | null;
  /** Columns of nulls for a deleted account. */
  readonly user: User | null;
  readonly total: number;
}

const toPart = (rows: readonly PulseRow[], isCut: boolean): PulsePart => ({
  items: rows.map(({ title, name, at, userId, user }) => ({
    title,
    name,
    at,
    user: userId === null ? undefined : (user ?? undefined),
  })),
  total: rows[0]?.total ?? 0,
  isCut,
});
