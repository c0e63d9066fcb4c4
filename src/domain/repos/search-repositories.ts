import { and, asc, desc, eq, sql, type SQL } from "drizzle-orm";

import { allOf, quotePhrase } from "../../db/db.ts";

import { boundTokenId } from "../../auth/actor.ts";
import { isRepositoryVisible, openVisibilities } from "../../auth/policy.ts";
import { identified } from "../../auth/identify.ts";
import type { Ctx } from "../../context.ts";
import {
  accessTokenRepositories,
  collaborations,
  organizationMembers,
  repositories,
  repositoryTotals,
  stars,
  teamMembers,
  teamRepositories,
  teams,
} from "../../db/schema/index.ts";
import type { RepositoryEntry } from "../../shapes/repository.ts";
import type { Listed, Slice } from "../slice.ts";
import { selectRepositories, toEntry } from "./find-repository.ts";
import { listWhere } from "./list-repositories.ts";

/** What is searched for. Whatever is left out does not narrow the search. */
export interface RepositoryQuery {
  /** Part of the name, or of the owner's name and the name with a slash between. */
  text: string;
  isDescriptionSearched: boolean;
  isTopic: boolean;
  ownerId: number | undefined;
  /** Whether what the owner has a role in elsewhere is left out. */
  isExclusive: boolean;
  priorityOwnerId: number | undefined;
  teamId: number | undefined;
  starredById: number | undefined;
  isPrivate: boolean | undefined;
  isTemplate: boolean | undefined;
  isArchived: boolean | undefined;
  mode: "fork" | "source" | "mirror" | "collaborative" | undefined;
  sort: keyof typeof SORTS;
  isDescending: boolean;
}

/** The orders of a search, each served by an index below the visibility. */
export const SORTS = {
  alpha: [repositories.ownerLowerName, repositories.lowerName],
  // Ids are given in the order of creation.
  id: [repositories.createdAt, repositories.id],
  created: [repositories.createdAt, repositories.id],
  updated: [repositories.updatedAt, repositories.id],
  size: [repositories.sizeBytes, repositories.id],
  git_size: [repositories.sizeBytes, repositories.id],
  // None holds large files yet: all are equal.
  lfs_size: [repositories.createdAt, repositories.id],
  stars: [repositories.starCount, repositories.id],
  forks: [repositories.forkCount, repositories.id],
} as const;

/** Matches of a word that are looked at, newest repositories first: what a common word costs. */
const MATCH_MAX = 1000;
/** How far a total is counted where no counter is kept. */
const TOTAL_MAX = 10_000;
/** Characters that the index of words can find at least. */
const INDEXED_MIN = 3;

/**
 * Searches repositories, as far as the caller may see them.
 *
 * The rows read do not grow with the table: a list without a word walks an index in its order; a
 * word reads at most its `MATCH_MAX` newest matches; what belongs to an owner, a team, a star
 * gazer or a bound token is found among theirs.
 */
export async function searchRepositories(
  ctx: Ctx,
  query: RepositoryQuery,
  slice: Slice,
): Promise<Listed<RepositoryEntry>> {
  // No repository has a topic yet, so none is found by one.
  if (query.isTopic && query.text !== "") return { items: [], total: 0 };
  // The index of words reads a text up to its first NUL.
  if (query.text.includes("\0")) return { items: [], total: 0 };
  const order = orderOf(query);
  const filter = and(...filters(query));
  const isVisible = isRepositoryVisible(ctx.actor);
  const circle = circleOf(ctx, query);
  if (circle) {
    return listWhere(ctx, allOf(circle, isMatch(query), filter, isVisible), order, slice);
  }
  if (query.text !== "") {
    const isFound = sql`${repositories.id} in ${matches(ctx, query)}`;
    return listWhere(ctx, allOf(isFound, filter, isVisible), order, slice);
  }
  return walk(ctx, query, filter, order, slice);
}

const keysOf = (query: RepositoryQuery): SQL[] =>
  SORTS[query.sort].map((column) => (query.isDescending ? desc(column) : asc(column)));

const orderOf = (query: RepositoryQuery): SQL[] =>
  query.priorityOwnerId === undefined
    ? keysOf(query)
    : [desc(sql`${repositories.ownerId} = ${query.priorityOwnerId}`), ...keysOf(query)];

function filters(query: RepositoryQuery): SQL[] {
  const list: SQL[] = [];
  const only = (column: SQL, wanted: boolean | undefined) => {
    if (wanted !== undefined) list.push(sql`${column} = ${wanted ? 1 : 0}`);
  };
  only(sql`${repositories.isPrivate}`, query.isPrivate);
  only(sql`${repositories.isTemplate}`, query.isTemplate);
  only(sql`(${repositories.archivedAt} is not null)`, query.isArchived);
  if (query.mode === "fork") list.push(sql`${repositories.isFork} = 1`);
  if (query.mode === "mirror") list.push(sql`${repositories.isMirror} = 1`);
  if (query.mode === "source")
    list.push(sql`(not ${repositories.isFork} and not ${repositories.isMirror})`);
  return list;
}

/**
 * The text as a condition on a row.
 *
 * Descriptions are in any alphabet, and SQLite folds the case of ASCII letters only: the index of
 * words judges them wherever it can.
 */
function isMatch(query: RepositoryQuery): SQL | undefined {
  const text = query.text.toLowerCase();
  if (text === "") return undefined;
  const slash = text.indexOf("/");
  if (slash >= 0) {
    return sql`(instr(${repositories.ownerLowerName}, ${text.slice(0, slash)}) and instr(${repositories.lowerName}, ${text.slice(slash + 1)}))`;
  }
  const isNamed = sql`instr(${repositories.lowerName}, ${text})`;
  if (!query.isDescriptionSearched) return isNamed;
  const words = indexedText(query);
  return words === undefined
    ? sql`(${isNamed} or instr(lower(${repositories.description}), ${text}))`
    : sql`exists (select 1 from repositories_search where repositories_search match ${words} and rowid = ${repositories.id})`;
}

/** A condition that few repositories meet whatever the size of the table, where the query has one. */
function circleOf(ctx: Ctx, query: RepositoryQuery): SQL | undefined {
  const circles: (SQL | undefined)[] = [];
  const { ownerId, teamId, starredById } = query;
  if (ownerId !== undefined) {
    const collaborated = sql`select ${collaborations.repoId} from ${collaborations} where ${collaborations.userId} = ${ownerId}`;
    const owned = sql`select id from ${repositories} where owner_id = ${ownerId}`;
    const ids =
      query.mode === "collaborative"
        ? collaborated
        : query.isExclusive
          ? owned
          : sql`${owned} union ${collaborated}`;
    circles.push(sql`${repositories.id} in (${ids})`);
  }
  if (teamId !== undefined) {
    circles.push(
      sql`${repositories.id} in (select ${teamRepositories.repoId} from ${teamRepositories} where ${teamRepositories.teamId} = ${teamId} union select r.id from ${teams} join ${repositories} r on r.owner_id = ${teams.orgId} where ${teams.id} = ${teamId} and ${teams.includesAllRepositories})`,
    );
  }
  if (starredById !== undefined) {
    circles.push(
      sql`${repositories.id} in (select ${stars.repoId} from ${stars} where ${stars.userId} = ${starredById})`,
    );
  }
  const tokenId = boundTokenId(ctx.actor);
  if (tokenId !== undefined) {
    circles.push(
      sql`${repositories.id} in (select ${accessTokenRepositories.repoId} from ${accessTokenRepositories} where ${accessTokenRepositories.tokenId} = ${tokenId})`,
    );
  }
  return and(...circles);
}

/** Ids of the newest repositories with the text in them that everybody like the caller sees, and of what the caller was given. */
function matches(ctx: Ctx, query: RepositoryQuery): SQL {
  const open = openVisibilities(ctx.actor);
  const newest = indexedText(query) === undefined ? byBeginning(query, open) : byWord(query, open);
  // Of two words with a slash between, one may have been too short to be looked for.
  const found = query.text.includes("/") ? among(newest, query) : sql`select id from (${newest})`;
  return sql`(${found} union all ${among(given(ctx), query)})`;
}

/** The repositories of some ids that the text is in. */
const among = (ids: SQL, query: RepositoryQuery): SQL =>
  sql`select id from ${repositories} where ${allOf(sql`${repositories.id} in (${ids})`, isMatch(query))}`;

/** The words of the query that the index can find, as it takes them. */
function indexedText(query: RepositoryQuery): string | undefined {
  const isLong = (text: string) => [...text].length >= INDEXED_MIN;
  const slash = query.text.indexOf("/");
  if (slash >= 0) {
    const [owner, name] = [query.text.slice(0, slash), query.text.slice(slash + 1)];
    const words = [
      isLong(owner) && `owner : ${quotePhrase(owner)}`,
      isLong(name) && `name : ${quotePhrase(name)}`,
    ];
    return words.filter(Boolean).join(" AND ") || undefined;
  }
  if (!isLong(query.text)) return undefined;
  const columns = query.isDescriptionSearched ? "{name description}" : "name";
  return `${columns} : ${quotePhrase(query.text)}`;
}

function byWord(query: RepositoryQuery, open: readonly string[]): SQL {
  if (open.length === 0) return sql`select id from ${repositories} where 0`;
  // Three letters tell visibilities apart and are one entry of the index; the word would be several to intersect.
  const isOpen = open.map((visibility) => `"${visibility.slice(0, INDEXED_MIN)}"`).join(" OR ");
  const text = `visibility : (${isOpen}) AND ${indexedText(query)}`;
  return sql`select rowid as id from repositories_search where repositories_search match ${text} order by rowid desc limit ${MATCH_MAX}`;
}

/** Words too short for the index are found where a name begins with them. */
function byBeginning(query: RepositoryQuery, open: readonly string[]): SQL {
  const slash = query.text.indexOf("/");
  const text = query.text.slice(slash + 1).toLowerCase();
  const end = `${text}\u{10ffff}`;
  const isOpen = sql`${repositories.visibility} in (select value from json_each(${JSON.stringify(open)}))`;
  return sql`select id from ${repositories} where ${isOpen} and ${repositories.lowerName} >= ${text} and ${repositories.lowerName} < ${end} limit ${MATCH_MAX}`;
}

/** Ids of what the caller sees because it was given to them, beyond what is open to everybody like them. */
function given(ctx: Ctx): SQL {
  const userId = ctx.actor.user?.id;
  if (userId === undefined || ctx.actor.isSiteAdmin)
    return sql`select id from ${repositories} where 0`;
  return sql`
    select id from ${repositories} where owner_id = ${userId}
    union all select ${collaborations.repoId} from ${collaborations} where ${collaborations.userId} = ${userId}
    union all select ${teamRepositories.repoId} from ${teamMembers} join ${teamRepositories} on ${teamRepositories.teamId} = ${teamMembers.teamId} where ${teamMembers.userId} = ${userId}
    union all select r.id from ${teamMembers} join ${teams} on ${teams.id} = ${teamMembers.teamId} and ${teams.includesAllRepositories} join ${repositories} r on r.owner_id = ${teams.orgId} where ${teamMembers.userId} = ${userId}
    union all select r.id from ${organizationMembers} join ${repositories} r on r.owner_id = ${organizationMembers.orgId} and not r.is_private where ${organizationMembers.userId} = ${userId}`;
}

/**
 * Lists without a word: each open visibility is walked in the order of the list, as far as the
 * page reaches, and merged with what the caller was given.
 */
async function walk(
  ctx: Ctx,
  query: RepositoryQuery,
  filter: SQL | undefined,
  order: SQL[],
  { size, offset }: Slice,
): Promise<Listed<RepositoryEntry>> {
  const open = openVisibilities(ctx.actor);
  const isVisible = isRepositoryVisible(ctx.actor);
  const reach = size + offset;
  const isOpen = sql`${repositories.visibility} in (select value from json_each(${JSON.stringify(open)}))`;
  const isBeyond = sql`not ${isOpen}`;
  const isGiven = and(sql`${repositories.id} in (${given(ctx)})`, isBeyond, filter, isVisible);
  const walks = open.map(
    (visibility) =>
      sql`select id from (select id from ${repositories} where ${and(eq(repositories.visibility, visibility), filter)} order by ${list(keysOf(query))} limit ${reach})`,
  );
  // What comes before the order of an index is looked up beside it.
  const isFirst = sql`${repositories.ownerId} = ${query.priorityOwnerId ?? null}`;
  const besides = [isGiven, and(isFirst, filter, isVisible)].map(
    (condition) => sql`select id from ${repositories} where ${condition}`,
  );
  const ids = sql.join([...walks, ...besides], sql` union all `);
  const pageIds = sql`(select ${repositories.id} from ${repositories} where ${repositories.id} in (${ids}) order by ${list(order)} limit ${size} offset ${offset})`;

  const openTotal =
    filter === undefined
      ? sql`(select coalesce(sum(count), 0) from ${repositoryTotals} where ${repositoryTotals.visibility} in (select value from json_each(${JSON.stringify(open)})))`
      : sql`(select count(*) from (select 1 from ${repositories} where ${and(isOpen, filter)} limit ${TOTAL_MAX}))`;
  const givenTotal = sql`(select count(*) from ${repositories} where ${isGiven})`;
  const [rows, [counted]] = await ctx.db.batch([
    selectRepositories(ctx.db, identified(ctx.actor))
      .where(sql`${repositories.id} in ${pageIds}`)
      .orderBy(...order),
    ctx.db
      .select({ total: sql<number>`${openTotal} + ${givenTotal}`.as("total") })
      .from(sql`(select 1)`),
  ]);
  return { items: rows.map((row) => toEntry(ctx.actor, row)), total: counted?.total ?? 0 };
}

const list = (order: SQL[]): SQL => sql.join(order, sql`, `);
