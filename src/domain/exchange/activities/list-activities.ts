import { desc, eq, sql, type SQL } from "drizzle-orm";

import type { Actor } from "../../../auth/actor.ts";
import { toCallerSql } from "../../../auth/caller-sql.ts";
import { isReachedByTeam, organizationOfTeam } from "../../../auth/access/granted-repositories.ts";
import type { Ctx } from "../../../context.ts";
import { batch, type Results } from "../../../db/batch.ts";
import { allOf, columnsOf, type Database } from "../../../db/db.ts";
import { type Params, prepare, prepareAll } from "../../../db/prepared.ts";
import {
  ACTIVITY_KINDS,
  events,
  repositories,
  users,
  watches,
  type Repository,
  type User,
} from "../../../db/schema/index.ts";
import type { ActivityEntry } from "../../../shapes/events/activity.ts";
import {
  type EventReader,
  eventReaderOf,
  isEventPublic,
  isEventVisible,
} from "../event-stream/event-visibility.ts";
import { isActorShown } from "../event-stream/is-actor-shown.ts";
import { selectRepositories, toRepositoriesById } from "../../repos/repository/find-repository.ts";
import type { Listed, Slice } from "../../slice.ts";
import { isActivityPresent, subjectColumns, toActivitySubject } from "./activity-subject.ts";

/** Selects the entries of a feed. */
export interface FeedQuery {
  /**
   * The start of a day, in milliseconds: only entries of that day. By default entries of any day.
   */
  readonly dayAt?: number | undefined;
  /** Whether the total is counted, which reads more rows than a page; otherwise it is 0. */
  readonly isCounted?: boolean;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Entries of a feed: older ones are not listed, and the total counts no more than these. */
const ENTRIES_MAX = 1000;

/**
 * Rows examined for one feed, including events that the caller may not see. The limit for each
 * watched repository is lower, since there may be many.
 */
const EXAMINED_MAX = 3000;
const EXAMINED_WATCHED_MAX = 1000;

/** Watched repositories included in a user's feed: the most recently watched. */
const WATCHED_MAX = 500;

/** Lists the activities in a repository, latest first. */
export const listRepositoryActivities = async (
  ctx: Ctx,
  { id }: Repository,
  query: FeedQuery,
  slice: Slice,
): Promise<Listed<ActivityEntry>> =>
  toListed(ctx, await batch(ctx.db, ofRepository(ctx.db, { ...toPage(ctx, query, slice), id })));

const ofRepository = prepareAll((db, { id, ...page }: Params<FeedPage & { id: number }>) => {
  const isIn = eq(events.repoId, id);
  return selectFeed(db, page, (depth) => walk(page, isIn, depth, isNoStarOrWatch));
});

/** Lists the activities in the repositories of an organization, latest first. */
export const listOrganizationActivities = async (
  ctx: Ctx,
  { id }: User,
  query: FeedQuery,
  slice: Slice,
): Promise<Listed<ActivityEntry>> =>
  toListed(ctx, await batch(ctx.db, ofOrganization(ctx.db, { ...toPage(ctx, query, slice), id })));

const ofOrganization = prepareAll((db, { id, ...page }: Params<FeedPage & { id: number }>) => {
  const isIn = eq(events.ownerId, id);
  return selectFeed(db, page, (depth) => walk(page, isIn, depth, isNoStarOrWatch));
});

/**
 * Lists the activities in the repositories that a team reaches, latest first. Callers check that
 * the team is visible.
 */
export const listTeamActivities = async (
  ctx: Ctx,
  id: number,
  query: FeedQuery,
  slice: Slice,
): Promise<Listed<ActivityEntry>> =>
  toListed(ctx, await batch(ctx.db, ofTeam(ctx.db, { ...toPage(ctx, query, slice), id })));

const ofTeam = prepareAll((db, { id, ...page }: Params<FeedPage & { id: number }>) => {
  const isOrganizationEvent = sql`${events.ownerId} = ${organizationOfTeam(id)}`;
  const extraCondition = allOf(isNoStarOrWatch, isReachedByTeam(id, sql`${events.repoId}`));
  return selectFeed(db, page, (depth) => walk(page, isOrganizationEvent, depth, extraCondition));
});

/**
 * Lists the activities of a user, and those of other users in the 500 repositories that the user
 * watched most recently, latest first.
 *
 * Activities in private repositories are listed for the user and administrators only. If the user
 * hides their activity, other callers get an empty list.
 *
 * @param isOwnOnly Whether to list only the user's own activities.
 */
export async function listUserActivities(
  ctx: Ctx,
  user: User,
  query: FeedQuery & { readonly isOwnOnly: boolean },
  slice: Slice,
): Promise<Listed<ActivityEntry>> {
  const seesAll = seesWholeFeed(ctx.actor, user);
  if (user.isActivityHidden && !seesAll) return { items: [], total: 0 };
  const listed = { userId: user.id, seesAll, isOwnOnly: query.isOwnOnly };
  return toListed(
    ctx,
    await batch(ctx.db, ofUser(ctx.db, { ...toPage(ctx, query, slice), ...listed })),
  );
}

type UserFeedPage = FeedPage & {
  readonly userId: number;
  readonly seesAll: boolean;
  readonly isOwnOnly: boolean;
};

const ofUser = prepareAll((db, p: Params<UserFeedPage>) => {
  const { userId, seesAll, isOwnOnly } = p;
  const isPublic = seesAll
    ? undefined
    : sql`exists (
      select 1
      from ${repositories}
      where ${repositories.id} = ${events.repoId} and ${repositories.isPrivate} = 0
    )`;
  const own = (depth: number | SQL) => walk(p, eq(events.actorId, userId), depth, isPublic);
  if (isOwnOnly) return selectFeed(db, p, own);

  const isWatched = sql`${events.repoId} = latest.repo_id`;
  const isByOthers = allOf(sql`${events.actorId} <> ${userId}`, isNoStarOrWatch, isPublic);
  // One walk for each watched repository, as deep as the page: the rows read do not grow with the
  // history of the repository.
  const latest = sql`(
    select ${watches.repoId} as repo_id
    from ${watches}
    where ${watches.userId} = ${userId}
    order by ${watches.createdAt} desc, ${watches.repoId} desc
    limit ${sql.raw(String(WATCHED_MAX))}
  ) latest`;
  const watched = (depth: number | SQL) => sql`
    select entry.value ->> 0 as id, entry.value ->> 1 as created_at, entry.value ->> 2 as position
    from ${latest}, json_each(
      (
        select json_group_array(json_array(id, created_at, position))
        from (${walk(p, isWatched, depth, isByOthers, EXAMINED_WATCHED_MAX)})
      )
    ) entry`;
  const both = (depth: number | SQL) =>
    sql`select * from (${own(depth)}) union all select * from (${watched(depth)})`;
  return selectFeed(db, p, both);
});

/** The contributions of a user in one interval. */
export interface Contributions {
  /** Start of the interval, in seconds. */
  readonly timestamp: number;
  readonly contributions: number;
}

const HEATMAP_DAYS = 373;
const HEATMAP_PART_MS = 15 * 60 * 1000;
/** Events examined for one heat map. */
const HEATMAP_EVENTS_MAX = 100_000;

/**
 * Counts the contributions of a user in each quarter of an hour of a year, oldest first, without
 * empty intervals. Counts only the newest 100,000 events, so the result may start later.
 *
 * @param examinedMax Events examined at most, including those that the caller may not see.
 */
export async function countContributions(
  ctx: Ctx,
  user: User,
  examinedMax = HEATMAP_EVENTS_MAX,
): Promise<Contributions[]> {
  const seesAll = seesWholeFeed(ctx.actor, user);
  if (user.isActivityHidden && !seesAll) return [];
  return contributionsOf(ctx.db, {
    reader: eventReaderOf(ctx.actor),
    userId: user.id,
    since: ctx.now - HEATMAP_DAYS * DAY_MS,
    examinedMax,
  });
}

interface HeatmapQuery {
  readonly reader: EventReader;
  readonly userId: number;
  readonly since: number;
  readonly examinedMax: number;
}

const contributionsOf = prepare((db, p: Params<HeatmapQuery>) => {
  const part = sql`${events.createdAt} / ${sql.raw(String(HEATMAP_PART_MS))}`;
  const examined = db
    .select({ id: events.id })
    .from(events)
    .where(
      allOf(
        eq(events.actorId, p.userId),
        sql`${events.type} in ${ACTIVITY_KINDS}`,
        sql`${events.createdAt} > ${p.since}`,
      ),
    )
    .orderBy(desc(events.createdAt), desc(events.id))
    .limit(p.examinedMax)
    .as("looked");
  return db
    .select({
      timestamp: sql<number>`${part} * ${sql.raw(String(HEATMAP_PART_MS / 1000))}`.as("timestamp"),
      contributions: sql<number>`count(*)`.as("contributions"),
    })
    .from(examined)
    .crossJoin(events)
    .where(allOf(eq(events.id, examined.id), isRepositoryShown(p.reader)))
    .groupBy(part)
    .orderBy(part);
});

/**
 * Whether the caller sees activities in private repositories in a user's feed: the user and
 * administrators do.
 */
const seesWholeFeed = (actor: Actor, { id }: User): boolean =>
  actor.isSiteAdmin || (actor.user?.id === id && !actor.scopes.isPublicOnly);

/** Stars and watches appear in the feed of their actor only. */
const isNoStarOrWatch = sql`${events.type} not in ('star.created', 'watch.created')`;

/** The condition for an event of a repository that the caller may currently see. */
function isRepositoryShown(reader: Params<EventReader>): SQL {
  const isShown = allOf(
    // A token without a repository scope sees public repositories only.
    reader.repositories ? undefined : isEventPublic,
    isEventVisible(reader),
  );
  return sql`exists (
    select 1 from ${repositories} where ${repositories.id} = ${events.repoId} and ${isShown}
  )`;
}

/**
 * Selects the feed entries that the caller may see, latest first, along the index that `isIn`
 * selects: one entry for each updated branch and tag of a push, and one for each other event.
 *
 * Events are examined in the order of the inner query until enough are found: sorting again would
 * read all events within the limit. The test of the query plan asserts this.
 *
 * @param depth Entries at most.
 * @param extraCondition Further condition on the events.
 */
function walk(
  { reader, day }: Params<FeedPage>,
  isIn: SQL,
  depth: number | SQL,
  extraCondition?: SQL,
  examinedMax = EXAMINED_MAX,
): SQL {
  const isOfDay =
    day && sql`${events.createdAt} >= ${day.from} and ${events.createdAt} < ${day.to}`;
  const isExamined = allOf(isIn, sql`${events.type} in ${ACTIVITY_KINDS}`, isOfDay);
  const isShown = allOf(
    extraCondition,
    isRepositoryShown(reader),
    isActivityPresent,
    sql`exists (
      select 1
      from ${users}
      where ${users.id} = ${events.actorId} and ${isActorShown(reader.principal)}
    )`,
    sql`(
      ${events.type} <> 'repository.pushed'
      or moved.value ->> '$.ref' glob 'refs/heads/*'
      or moved.value ->> '$.ref' glob 'refs/tags/*'
    )`,
  );
  const examined = sql`(
    select ${events.id} as id
    from ${events}
    where ${isExamined}
    order by ${events.createdAt} desc, ${events.id} desc
    limit ${sql.raw(String(examinedMax))}
  ) looked`;
  return sql`
    select ${events.id} as id, ${events.createdAt} as created_at, moved.key as position
    from ${examined}
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

/** The reader and the page of a feed, as arguments of its queries. */
interface FeedPage {
  readonly reader: EventReader;
  /** The times between which its entries are, in milliseconds. */
  readonly day: { readonly from: number; readonly to: number } | undefined;
  /** Entries up to the end of the page. */
  readonly end: number;
  readonly size: number;
  readonly offset: number;
  /** Entries that are counted at most. */
  readonly countedMax: number;
}

function toPage(
  { actor }: Ctx,
  { dayAt, isCounted = true }: FeedQuery,
  { size, offset }: Slice,
): FeedPage {
  const end = Math.min(offset + size, ENTRIES_MAX);
  return {
    reader: eventReaderOf(actor),
    day: dayAt === undefined ? undefined : { from: dayAt, to: dayAt + DAY_MS },
    end,
    size: Math.max(end - offset, 0),
    offset,
    countedMax: isCounted ? ENTRIES_MAX : 0,
  };
}

/**
 * Selects a page of a feed: its entries, their repositories and the total.
 *
 * Cost: one round trip; as many rows as the page is deep, plus the skipped rows up to
 * `EXAMINED_MAX`.
 *
 * @param entries Builds the query of the given number of entries.
 */
function selectFeed(
  db: Database,
  { reader, end, size, offset, countedMax }: Params<FeedPage>,
  entries: (depth: number | SQL) => SQL,
) {
  const page = sql`(
    select *
    from (${entries(end)})
    order by created_at desc, id desc, position
    limit ${size} offset ${offset}
  ) page`;
  return {
    rows: db
      .select({
        event: columnsOf(events, "e"),
        actor: columnsOf(users, "u"),
        position: sql<number>`page.position`.as("entry_position"),
        ...subjectColumns,
      })
      .from(events)
      .innerJoin(page, sql`page.id = ${events.id}`)
      .innerJoin(users, eq(users.id, events.actorId))
      .orderBy(desc(events.createdAt), desc(events.id), sql`page.position`),
    repos: selectRepositories(db, toCallerSql(reader.principal)).where(
      sql`${repositories.id} in (
        select ${events.repoId} from ${page} join ${events} on ${events.id} = page.id
      )`,
    ),
    counted: db
      .select({ total: sql<number>`count(*)`.as("total") })
      .from(sql`(select 1 from (${entries(countedMax)}) limit ${countedMax}) counted`),
  };
}

type Rows = Results<ReturnType<typeof selectFeed>>;

/** The list of the rows of `selectFeed`. */
function toListed(
  { actor }: Ctx,
  { rows, repos, counted: [counted] }: Rows,
): Listed<ActivityEntry> {
  const repositoriesById = toRepositoriesById(actor, repos);
  const items = rows.flatMap((row) => {
    const repo = repositoriesById.get(row.event.repoId ?? 0);
    const { issue, comments, posters, reviewers, files, releases, ...entry } = row;
    const subjects = { issue, comments, posters, reviewers, files, releases };
    const subject = repo && toActivitySubject(repo, subjects);
    return repo ? [{ ...entry, repo, ...subject }] : [];
  });
  return { items, total: counted?.total ?? 0 };
}
