import { and, asc, count, eq, gte, lte, sql, type SQL } from "drizzle-orm";

import { isAllowed, modeOf } from "../../../auth/access/permission.ts";
import { isRepositoryAllowed } from "../../../auth/access/visible-repositories.ts";
import { toCallerSql } from "../../../auth/caller-sql.ts";
import { type Principal, principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { batch, type Results } from "../../../db/batch.ts";
import { allOf, anyOf, columnsOf, type Database } from "../../../db/db.ts";
import { type Params, prepare, prepareAll } from "../../../db/prepared.ts";
import { ACCESS, issues, repositories, trackedTimes, users } from "../../../db/schema/index.ts";
import type { User } from "../../../db/schema/index.ts";
import { forbidden, notFound } from "../../../lib/failure.ts";
import type { TrackedTimeContext } from "../../../shapes/issues/tracked-time.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { isAccountNamed } from "../../people/accounts/find-account.ts";
import {
  isIssueVisible,
  isNumbered,
  selectIssues,
  toIssueContexts,
  unitOf,
} from "../issue/find-issue.ts";
import { selectRepositories, toRepositoriesById } from "../../repos/repository/find-repository.ts";
import { selectTimeUser } from "./find-time-user.ts";
import { isTrackerOn, requireTracker } from "./time-access.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";

/** When the listed times were booked, in milliseconds, both included. */
export interface BookedWithin {
  readonly since: number | undefined;
  readonly before: number | undefined;
}

/** The filter of a list of times in a repository. */
export interface TimeFilter extends BookedWithin {
  /** The name of the user whose times are listed; "" for all users. */
  readonly userName: string;
}

/**
 * Lists times of an issue or pull request by its number, oldest booking first. Callers who may not
 * write to it see their own.
 *
 * @throws Failure `not_found` where the repository does not track time, and for an unknown user;
 * `forbidden` for callers who name another user and may not write.
 */
export async function listIssueTimes(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  filter: TimeFilter,
  slice: Slice,
): Promise<Listed<TrackedTimeContext>> {
  if (!isTrackerOn(repo)) throw notFound("Timetracker is disabled");
  const [[issue], [user], listed] = await Promise.all([
    kindOfIssue(ctx.db, { repoId: repo.row.id, number }),
    selectTimeUser(ctx, repo, filter.userName),
    listIn(ctx, repo, number, filter, slice),
  ]);
  if (!issue || !isIssueVisible(repo, issue)) throw notFound("issue does not exist");
  requireUserFilter(ctx, filter, modeOf(repo, unitOf(issue)) >= ACCESS.write, user);
  return listed;
}

const kindOfIssue = prepare((db, p: Params<{ repoId: number; number: number }>) =>
  db.select({ isPull: issues.isPull }).from(issues).where(isNumbered(p.repoId, p.number)),
);

/**
 * Lists times of a repository, oldest booking first. Of issues or pull requests that the caller may
 * only read, the caller's own times are listed, and none of those that the caller may not read.
 *
 * @throws Failure `malformed` where the repository does not track time; else as `listIssueTimes`.
 */
export async function listRepositoryTimes(
  ctx: Ctx,
  repo: RepositoryContext,
  filter: TimeFilter,
  slice: Slice,
): Promise<Listed<TrackedTimeContext>> {
  requireTracker(repo);
  const [[user], listed] = await Promise.all([
    selectTimeUser(ctx, repo, filter.userName),
    listIn(ctx, repo, undefined, filter, slice),
  ]);
  const isWriter = (["issues", "pulls"] as const).some((unit) =>
    isAllowed(repo, { unit, mode: "write" }),
  );
  requireUserFilter(ctx, filter, isWriter, user);
  return listed;
}

/**
 * Lists the times of one user in a repository, oldest booking first: for the user, and for
 * administrators of the repository.
 *
 * @throws Failure as `listRepositoryTimes`, with administrators in place of writers.
 */
export async function listUserTimes(
  ctx: Ctx,
  repo: RepositoryContext,
  userName: string,
  slice: Slice,
): Promise<Listed<TrackedTimeContext>> {
  requireTracker(repo);
  const filter = { userName, since: undefined, before: undefined };
  const [[user], listed] = await Promise.all([
    selectTimeUser(ctx, repo, userName),
    listIn(ctx, repo, undefined, filter, slice),
  ]);
  requireUserFilter(ctx, filter, isAllowed(repo, { mode: "admin" }), user);
  return listed;
}

/** SECURITY: a caller who may not list others' times is refused whether or not the user exists. */
function requireUserFilter(
  { actor }: Ctx,
  { userName }: TimeFilter,
  mayAsk: boolean,
  user: User | undefined,
): void {
  if (userName === "") return;
  const isOwn = actor.user?.lowerName === userName.toLowerCase();
  if (!isOwn && !mayAsk) throw forbidden("query by user not allowed; not enough rights");
  if (!user) throw notFound("user does not exist");
}

/**
 * Lists the times of a repository that the caller may see.
 *
 * @param number Of the issue or pull request whose times are listed; undefined for all.
 */
async function listIn(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number | undefined,
  { userName, since, before }: TimeFilter,
  { size, offset }: Slice,
): Promise<Listed<TrackedTimeContext>> {
  const shown = (unit: "issues" | "pulls") => {
    const mode = modeOf(repo, unit);
    return mode < ACCESS.read ? undefined : { isOwnOnly: mode < ACCESS.write };
  };
  const rows = await batch(
    ctx.db,
    timesOfRepository(ctx.db, {
      principal: principalOf(ctx.actor),
      repoId: repo.row.id,
      number,
      userName: userName === "" ? undefined : userName.toLowerCase(),
      ofIssues: shown("issues"),
      ofPulls: shown("pulls"),
      since,
      before,
      size,
      offset,
    }),
  );
  return toListed(ctx, rows);
}

/** The times of issues, or of pull requests, that are listed. */
interface Shown {
  readonly isOwnOnly: boolean;
}

interface RepositoryTimes extends TimePage {
  readonly repoId: number;
  readonly number: number | undefined;
  /** In lower case; undefined for all. */
  readonly userName: string | undefined;
  /** Undefined for none. */
  readonly ofIssues: Shown | undefined;
  readonly ofPulls: Shown | undefined;
}

const timesOfRepository = prepareAll((db, p: Params<RepositoryTimes>) => {
  const isOwn = eq(trackedTimes.userId, p.principal.userId ?? 0);
  const isShown = (isPull: boolean, shown: Shown | undefined) =>
    shown && allOf(eq(issues.isPull, isPull), shown.isOwnOnly ? isOwn : undefined);
  const isAmong = p.number
    ? sql`${trackedTimes.issueId} = (
        select ${issues.id} from ${issues} where ${isNumbered(p.repoId, p.number)}
      )`
    : eq(trackedTimes.repoId, p.repoId);
  const isOfUser =
    p.userName &&
    sql`${trackedTimes.userId} = (
      select ${users.id}
      from ${users}
      where ${isAccountNamed(p.userName)}
    )`;
  const isOfKind = anyOf(isShown(false, p.ofIssues), isShown(true, p.ofPulls));
  return selectTimes(db, allOf(isAmong, isOfUser, isOfKind), p);
});

/**
 * Lists the times of the caller in all repositories whose issues the caller may still read, oldest
 * booking first.
 */
export async function listOwnTimes(
  ctx: Ctx,
  user: User,
  { since, before }: BookedWithin,
  { size, offset }: Slice,
): Promise<Listed<TrackedTimeContext>> {
  const page = { principal: principalOf(ctx.actor), since, before, size, offset };
  return toListed(ctx, await batch(ctx.db, timesOfUser(ctx.db, { ...page, userId: user.id })));
}

const timesOfUser = prepareAll((db, p: Params<TimePage & { userId: number }>) => {
  const isReadable = ([false, true] as const).map((isPull) =>
    allOf(
      eq(issues.isPull, isPull),
      isRepositoryAllowed(p.principal, { unit: isPull ? "pulls" : "issues", mode: "read" }),
    ),
  );
  return selectTimes(db, allOf(eq(trackedTimes.userId, p.userId), anyOf(...isReadable)), p);
});

/** The caller and the part of a list, as arguments of its queries. */
interface TimePage extends BookedWithin, Slice {
  readonly principal: Principal;
}

/**
 * Selects a page of times with their issues and repositories, and the total.
 *
 * @param isListed The condition on the rows of `trackedTimes`, joined with their issues and
 *   repositories.
 */
function selectTimes(
  db: Database,
  isListed: SQL,
  { principal, since, before, size, offset }: Params<TimePage>,
) {
  const condition = and(
    isListed,
    since && gte(trackedTimes.bookedAt, since),
    before && lte(trackedTimes.bookedAt, before),
  );
  const from = sql`
    from ${trackedTimes}
    join ${issues} on ${issues.id} = ${trackedTimes.issueId}
    join ${repositories} on ${repositories.id} = ${trackedTimes.repoId}
    where ${condition}`;
  // Selected again by each query, since the issues and repositories of a page are known by its
  // times only.
  const ids = (column: SQL) => sql`(
    select ${column} ${from} order by ${trackedTimes.id} limit ${size} offset ${offset}
  )`;
  return {
    rows: db
      .select({ time: columnsOf(trackedTimes, "t"), user: columnsOf(users, "u") })
      .from(trackedTimes)
      .innerJoin(users, eq(users.id, trackedTimes.userId))
      .where(sql`${trackedTimes.id} in ${ids(sql`${trackedTimes.id}`)}`)
      .orderBy(asc(trackedTimes.id)),
    issues: selectIssues(db).where(sql`${issues.id} in ${ids(sql`${trackedTimes.issueId}`)}`),
    repos: selectRepositories(db, toCallerSql(principal)).where(
      sql`${repositories.id} in ${ids(sql`${trackedTimes.repoId}`)}`,
    ),
    counted: db.select({ total: count().as("total") }).from(sql`(select 1 ${from})`),
  };
}

type Rows = Results<ReturnType<typeof selectTimes>>;

/** The list of the rows of `selectTimes`. */
function toListed(
  { actor }: Ctx,
  { issues: issueRows, repos: repoRows, ...page }: Rows,
): Listed<TrackedTimeContext> {
  const known = toIssueContexts(toRepositoriesById(actor, repoRows), issueRows);
  const found = new Map(known.map((issue) => [issue.row.id, issue]));
  return toListedPage(page, ({ time, user }) => ({
    row: time,
    user,
    issue: found.get(time.issueId),
  }));
}
