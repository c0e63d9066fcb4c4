import { desc, eq, sql, type SQL } from "drizzle-orm";

import type { Actor } from "../../auth/actor.ts";
import { callerSql } from "../../auth/caller-sql.ts";
import { isReachedByTeam, organizationOfTeam } from "../../auth/access/granted-repositories.ts";
import { isRepositoryVisibleWith } from "../../auth/access/visible-repositories.ts";
import { hasScope } from "../../auth/scope.ts";
import type { Ctx } from "../../context.ts";
import { allOf, columnsOf } from "../../db/db.ts";
import {
  ACTIVITY_KINDS,
  events,
  repositories,
  users,
  watches,
  type Repository,
  type User,
} from "../../db/schema/index.ts";
import type { ActivityEntry } from "../../shapes/events/activity.ts";
import { isActorShown } from "../events/is-actor-shown.ts";
import { selectRepositories, toRepositoryContext } from "../repos/find-repository.ts";
import type { Listed, Slice } from "../slice.ts";

/** Which entries of a feed are listed. */
export interface FeedQuery {
  /** The first moment of the day they are of, in milliseconds; of any day, where it says nothing. */
  readonly dayAt?: number | undefined;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Entries of a feed: it reaches back so far, and its total says no more. */
const ENTRIES_MAX = 1000;

/**
 * Events looked at for one feed: of those that the caller may not see, it passes over so many at most. A
 * watched repository is one of many.
 */
const LOOKED_AT_MAX = 3000;
const LOOKED_AT_WATCHED_MAX = 1000;

/** Watched repositories that a user's feed tells of: those they have watched last. */
const WATCHED_MAX = 500;

/** What people did in a repository, latest first. */
export function listRepositoryActivities(
  ctx: Ctx,
  repo: Repository,
  query: FeedQuery,
  slice: Slice,
): Promise<Listed<ActivityEntry>> {
  const isIn = eq(events.repoId, repo.id);
  return listFeed(ctx, (depth) => walk(ctx, isIn, query, depth, isNoMark), slice);
}

/** What people did in the repositories of an organization, latest first. */
export function listOrganizationActivities(
  ctx: Ctx,
  org: User,
  query: FeedQuery,
  slice: Slice,
): Promise<Listed<ActivityEntry>> {
  const isIn = eq(events.ownerId, org.id);
  return listFeed(ctx, (depth) => walk(ctx, isIn, query, depth, isNoMark), slice);
}

/** What people did in the repositories that the team of an id reaches, latest first. Whoever calls has judged whether the caller may see it. */
export function listTeamActivities(
  ctx: Ctx,
  teamId: number,
  query: FeedQuery,
  slice: Slice,
): Promise<Listed<ActivityEntry>> {
  const isOrgs = sql`${events.ownerId} = ${organizationOfTeam(teamId)}`;
  const isToo = allOf(isNoMark, isReachedByTeam(teamId, sql`${events.repoId}`));
  return listFeed(ctx, (depth) => walk(ctx, isOrgs, query, depth, isToo), slice);
}

/**
 * What a user did and what others did in the repositories they watch, in the latest 500 of these, latest
 * first.
 *
 * What is private is in it for the user and for administrators alone, and nothing at all for others
 * where the user keeps their activity to themselves.
 *
 * @param isOwnOnly Whether only what the user did is listed.
 */
export async function listUserActivities(
  ctx: Ctx,
  user: User,
  query: FeedQuery & { readonly isOwnOnly: boolean },
  slice: Slice,
): Promise<Listed<ActivityEntry>> {
  const seesAll = seesWholeFeed(ctx.actor, user);
  if (user.isActivityHidden && !seesAll) return { items: [], total: 0 };
  const isOpen = seesAll
    ? undefined
    : sql`exists (
      select 1
      from ${repositories}
      where ${repositories.id} = ${events.repoId} and ${repositories.isPrivate} = 0
    )`;
  const own = (depth: number) => walk(ctx, eq(events.actorId, user.id), query, depth, isOpen);
  if (query.isOwnOnly) return listFeed(ctx, own, slice);

  const isWatched = sql`${events.repoId} = latest.repo_id`;
  const isOthers = allOf(sql`${events.actorId} <> ${user.id}`, isNoMark, isOpen);
  // One walk for each watched repository, as deep as the page: what is read does not grow with what
  // has happened there.
  const latest = sql`(
    select ${watches.repoId} as repo_id
    from ${watches}
    where ${watches.userId} = ${user.id}
    order by ${watches.createdAt} desc, ${watches.repoId} desc
    limit ${sql.raw(String(WATCHED_MAX))}
  ) latest`;
  const watched = (depth: number) => sql`
    select entry.value ->> 0 as id, entry.value ->> 1 as created_at, entry.value ->> 2 as position
    from ${latest}, json_each(
      (
        select json_group_array(json_array(id, created_at, position))
        from (${walk(ctx, isWatched, query, depth, isOthers, LOOKED_AT_WATCHED_MAX)})
      )
    ) entry`;
  const both = (depth: number) =>
    sql`select * from (${own(depth)}) union all select * from (${watched(depth)})`;
  return listFeed(ctx, both, slice);
}

/** A part of a day, and how much somebody did in it. */
export interface Contributions {
  /** When it began, in seconds. */
  readonly timestamp: number;
  readonly contributions: number;
}

const HEATMAP_DAYS = 373;
const HEATMAP_PART_MS = 15 * 60 * 1000;
/** Events that one heat map looks at. */
const HEATMAP_EVENTS_MAX = 100_000;

/**
 * How much a user did in each quarter of an hour of a year, oldest first; parts without anything are left
 * out. Of more than 100,000 events it counts among the newest alone, so it may begin later.
 *
 * @param lookedAtMax Events at most, also of those that the caller may not see.
 */
export async function countContributions(
  ctx: Ctx,
  user: User,
  lookedAtMax = HEATMAP_EVENTS_MAX,
): Promise<Contributions[]> {
  const seesAll = seesWholeFeed(ctx.actor, user);
  if (user.isActivityHidden && !seesAll) return [];
  const part = sql`${events.createdAt} / ${sql.raw(String(HEATMAP_PART_MS))}`;
  const since = ctx.now - HEATMAP_DAYS * DAY_MS;
  const lookedAt = ctx.db
    .select({ id: events.id })
    .from(events)
    .where(
      allOf(
        eq(events.actorId, user.id),
        sql`${events.type} in ${ACTIVITY_KINDS}`,
        sql`${events.createdAt} > ${since}`,
      ),
    )
    .orderBy(desc(events.createdAt), desc(events.id))
    .limit(lookedAtMax)
    .as("looked");
  return ctx.db
    .select({
      timestamp: sql<number>`${part} * ${sql.raw(String(HEATMAP_PART_MS / 1000))}`.as("timestamp"),
      contributions: sql<number>`count(*)`.as("contributions"),
    })
    .from(lookedAt)
    .crossJoin(events)
    .where(allOf(eq(events.id, lookedAt.id), isRepositoryShown(ctx)))
    .groupBy(part)
    .orderBy(part);
}

/** Whether somebody sees of a user's feed all that they may see elsewhere: the user, and administrators. */
const seesWholeFeed = (actor: Actor, { id }: User): boolean =>
  actor.isSiteAdmin || (actor.user?.id === id && !actor.scopes.isPublicOnly);

/** Stars and watches are told in the feed of whoever gave them alone. */
const isNoMark = sql`${events.type} not in ('star.created', 'watch.created')`;

/**
 * The condition for an event of a repository that the caller may see now.
 *
 * SECURITY: decided when it is read: whoever loses access sees nothing more of what happened before.
 */
function isRepositoryShown({ actor }: Ctx): SQL {
  const isPushed = sql`${events.type} = 'repository.pushed'`;
  const isShown = allOf(
    // A token for people or organizations alone learns of public repositories only.
    hasScope(actor.scopes, "read:repository") ? undefined : eq(repositories.visibility, "public"),
    isRepositoryVisibleWith(actor, { unit: "code", isNeeded: isPushed }),
  );
  return sql`exists (
    select 1 from ${repositories} where ${repositories.id} = ${events.repoId} and ${isShown}
  )`;
}

/**
 * Entries as far as the caller may see them, latest first, along the index that `isIn` names: one for each
 * branch and tag that a push moved, one for everything else.
 *
 * The events are read one after the other, in the order of the inner query, until there are enough: to sort
 * once more would read all that may be looked at. The test of its plan holds SQLite to that.
 *
 * @param depth  Entries at most.
 * @param isToo  What else the events must be.
 */
function walk(
  ctx: Ctx,
  isIn: SQL,
  { dayAt }: FeedQuery,
  depth: number,
  isToo?: SQL,
  lookedAtMax = LOOKED_AT_MAX,
): SQL {
  const isOfDay =
    dayAt === undefined
      ? undefined
      : sql`${events.createdAt} >= ${dayAt} and ${events.createdAt} < ${dayAt + DAY_MS}`;
  const isLookedAt = allOf(isIn, sql`${events.type} in ${ACTIVITY_KINDS}`, isOfDay);
  const isShown = allOf(
    isToo,
    isRepositoryShown(ctx),
    sql`exists (
      select 1 from ${users} where ${users.id} = ${events.actorId} and ${isActorShown(ctx.actor)}
    )`,
    sql`(
      ${events.type} <> 'repository.pushed'
      or moved.value ->> '$.ref' glob 'refs/heads/*'
      or moved.value ->> '$.ref' glob 'refs/tags/*'
    )`,
  );
  const lookedAt = sql`(
    select ${events.id} as id
    from ${events}
    where ${isLookedAt}
    order by ${events.createdAt} desc, ${events.id} desc
    limit ${sql.raw(String(lookedAtMax))}
  ) looked`;
  return sql`
    select ${events.id} as id, ${events.createdAt} as created_at, moved.key as position
    from ${lookedAt}
    cross join ${events} on ${events.id} = looked.id
    cross join json_each(
      case
        when ${events.type} = 'repository.pushed' then json_extract(${events.payload}, '$.updates')
        else '[{}]'
      end
    ) moved
    where ${isShown}
    limit ${depth}`;
}

/**
 * A page of a feed.
 *
 * Cost: one round; rows as many as the page is deep, and those of `LOOKED_AT_MAX` that are passed over.
 *
 * @param entries Makes the query of its entries, as many as are asked for.
 */
async function listFeed(
  ctx: Ctx,
  entries: (depth: number) => SQL,
  { size, offset }: Slice,
): Promise<Listed<ActivityEntry>> {
  const end = Math.min(offset + size, ENTRIES_MAX);
  const shown = Math.max(end - offset, 0);
  const page = sql`(
    select *
    from (${entries(end)})
    order by created_at desc, id desc, position
    limit ${shown} offset ${offset}
  ) page`;
  const [rows, places, [counted]] = await ctx.db.batch([
    ctx.db
      .select({
        event: columnsOf(events, "e"),
        actor: columnsOf(users, "u"),
        position: sql<number>`page.position`.as("entry_position"),
      })
      .from(events)
      .innerJoin(page, sql`page.id = ${events.id}`)
      .innerJoin(users, eq(users.id, events.actorId))
      .orderBy(desc(events.createdAt), desc(events.id), sql`page.position`),
    selectRepositories(ctx.db, callerSql(ctx.actor)).where(
      sql`${repositories.id} in (
        select ${events.repoId} from ${page} join ${events} on ${events.id} = page.id
      )`,
    ),
    ctx.db
      .select({ total: sql<number>`count(*)`.as("total") })
      .from(sql`(select 1 from (${entries(ENTRIES_MAX)}) limit ${ENTRIES_MAX}) counted`),
  ]);
  const known = new Map(places.map((row) => [row.repo.id, toRepositoryContext(ctx.actor, row)]));
  const items = rows.flatMap((row) => {
    const repo = known.get(row.event.repoId ?? 0);
    return repo ? [{ ...row, repo }] : [];
  });
  return { items, total: counted?.total ?? 0 };
}
