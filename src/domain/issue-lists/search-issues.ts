import { sql, type SQL } from "drizzle-orm";

import { toCallerSql } from "../../auth/caller-sql.ts";
import { type Principal, principalOf } from "../../auth/principal.ts";
import type { Ctx } from "../../context.ts";
import { type Database, qualified } from "../../db/db.ts";
import { type Params, prepareAll } from "../../db/prepared.ts";
import { issues, repositories } from "../../db/schema/index.ts";
import { malformed } from "../../lib/failure.ts";
import type { IssueContext } from "../../shapes/issues/issue.ts";
import { selectRepositories, toRepositoryContext } from "../repos/find-repository.ts";
import { listFromAll } from "../shards/list-from-all.ts";
import type { Listed, Slice } from "../slice.ts";
import { selectIssues, toIssueContext } from "../issues/find-issue.ts";
import { integer } from "./arguments.ts";
import { type IssueFilter, NAMES_NOTHING, type PersonRole } from "./issue-query.ts";
import { isEmpty } from "./list-issues.ts";
import { isIssueBefore, orderOf, termsOf } from "./orders.ts";
import { ownerIdOf, type SearchScope, teamIdOf } from "./search-scope.ts";
import { FOUND_MAX, NAMED_KINDS, type NamedKind, searchStatements } from "./search-statements.ts";
import { findShardsOfSearch } from "./search-shards.ts";
import { hasText, searchTextOf } from "./text-match.ts";

/** A search over all repositories that the caller sees. */
interface IssueSearch {
  /** Undefined if nothing can match. */
  readonly filter: IssueFilter | undefined;
  readonly scope: SearchScope<string>;
  /** A repository whose issues come first. */
  readonly priorityRepoId: number | undefined;
}

/**
 * Searches the issues and pull requests that the caller may see.
 *
 * Rows read do not grow with the number of repositories: a search for a user, for words, or in some repositories reads
 * the index of those; any other one looks at a bounded number of the newest issues, and at the newest of each repository
 * that was granted to the caller.
 *
 * SECURITY: conditions on the caller's access are part of each statement that finds or counts. Labels and milestones
 * that the caller can't see count as unknown.
 *
 * @throws Failure `malformed` for an owner or a team that does not exist.
 */
export async function searchIssues(
  ctx: Ctx,
  search: IssueSearch,
  slice: Slice,
): Promise<Listed<IssueContext>> {
  const { filter, priorityRepoId } = search;
  const sort = filter?.sort ?? "newest";
  return listFromAll(
    ctx,
    slice,
    (part, partSlice) => searchIn(part, search, partSlice),
    {
      isBefore: ({ row: one }, { row: other }) => {
        const [isFirst, isOtherFirst] = [one, other].map(({ repoId }) => repoId === priorityRepoId);
        return isFirst === isOtherFirst ? isIssueBefore(sort, one, other) : isFirst === true;
      },
      isPart,
    },
    await findShardsOfSearch(ctx, search),
  );
}

/** What one database finds. */
interface Found extends Listed<IssueContext> {
  /** The names of the filter of which the caller sees any there. */
  readonly known: readonly NamedKind[];
}

/** A name that one database knows is known: where it is not, no issue has it, and the names were ignored. */
const isPart = ({ known }: Found, all: readonly Found[]): boolean =>
  all.every((other) => other.known.every((kind) => known.includes(kind)));

const NO_SCOPE: SearchScope<string> = { owner: undefined, team: undefined };

/** Searches in one database. */
async function searchIn(ctx: Ctx, search: IssueSearch, slice: Slice): Promise<Found> {
  const { actor } = ctx;
  const [rows, repos, [counted]] = await ctx.db.batch(selectFound(ctx, search, slice));
  // The first database has all accounts.
  const { owner, team } = ctx.db === ctx.openShard(0) ? search.scope : NO_SCOPE;
  if (owner !== undefined && !counted?.ownerId) {
    throw malformed("user does not exist");
  }
  if (team !== undefined && !counted?.teamId) {
    throw malformed("team does not exist");
  }
  const byId = new Map(repos.map((row) => [row.repo.id, toRepositoryContext(actor, row)]));
  return {
    items: rows.flatMap((row) => {
      const repo = byId.get(row.issue.repoId);
      return repo ? [toIssueContext(repo, row)] : [];
    }),
    total: counted?.total ?? 0,
    known: NAMED_KINDS.filter((kind) => counted?.[kind]),
  };
}

/** The statements of a search. Those for kinds, states, words and one user are prepared. */
function selectFound({ db, actor, openShards }: Ctx, search: IssueSearch, slice: Slice) {
  const { filter, priorityRepoId } = search;
  const scope = {
    owner: search.scope.owner?.toLowerCase(),
    team: search.scope.team?.toLowerCase(),
  };
  const text = filter && hasText(filter) ? searchTextOf(filter) : undefined;
  const reach = reachOf(filter, slice);
  const isAmongMany = openShards().size > 0;
  const asked = { principal: principalOf(actor), scope, priorityRepoId, text, reach, isAmongMany };
  const shape = filter && shapeOf(filter);
  const { name = "" } = filter?.people[0] ?? {};
  if (!shape || typeof name !== "string") return toStatements(db, asked, filter);
  return foundOfShape(db, { ...asked, person: name.toLowerCase() }, shape);
}

/** What the statements of a search take of the request. */
interface Asked {
  readonly principal: Principal;
  readonly scope: SearchScope<string>;
  readonly priorityRepoId: number | undefined;
  /** The words, as `searchTextOf` returns them. */
  readonly text: string | undefined;
  readonly reach: Reach;
  /** Whether repositories' own data is in several databases. */
  readonly isAmongMany: boolean;
}

/** The page of a search, and how many issues are found and counted for it. */
interface Reach extends Slice {
  readonly found: number;
  readonly foundByWords: number;
  readonly countedMax: number;
}

function reachOf(filter: IssueFilter | undefined, { size, offset }: Slice): Reach {
  const { isByAge } = orderOf(filter?.sort ?? "newest");
  const found = isByAge ? offset + size : FOUND_MAX;
  return {
    size,
    offset,
    found,
    foundByWords: Math.min(found, FOUND_MAX),
    countedMax: FOUND_MAX + (isByAge ? offset + size : 0),
  };
}

/** What a search is for, but for values. */
interface SearchShape extends Pick<IssueFilter, "isPull" | "isClosed" | "sort"> {
  /** What one user has to do with the issues. */
  readonly role: PersonRole | undefined;
}

/** The shape of a filter; undefined if it asks for more. */
function shapeOf(filter: IssueFilter): SearchShape | undefined {
  const { isPull, isClosed, sort, people } = filter;
  const [person, ...more] = people;
  const isMore = Object.entries(filter).some(
    ([name, value]) => !PREPARED.has(name) && !isEmpty(value),
  );
  return isMore || more.length > 0 ? undefined : { isPull, isClosed, sort, role: person?.role };
}

/** The parts of a filter whose statements are prepared; of users, one. */
const PREPARED: ReadonlySet<string> = new Set([
  "isPull",
  "isClosed",
  "sort",
  "people",
  "words",
  "parts",
]);

const foundOfShape = prepareAll(
  (
    db,
    { person, ...asked }: Params<Asked & { person: string }>,
    { role, ...shape }: SearchShape,
  ) => {
    const people = role ? [{ role, name: person }] : [];
    return toStatements(db, asked, { ...NAMES_NOTHING, ...shape, people });
  },
);

/** @param filter Undefined if nothing can match; its words are those of `asked`. */
function toStatements(
  db: Database,
  { principal, scope, priorityRepoId, text, reach, isAmongMany }: Asked | Params<Asked>,
  filter: IssueFilter | undefined,
) {
  const order = orderOf(filter?.sort ?? "newest");
  // Over several repositories, the age is the order of ids.
  const terms = order.isByAge ? termsOf(order).slice(1) : termsOf(order);
  if (priorityRepoId !== undefined) {
    terms.unshift(sql`(${issues.repoId} = ${integer(priorityRepoId)}) desc`);
  }
  const wanted = { text, scope, priorityRepoId, isAmongMany };
  const statements = filter && searchStatements(principal, { ...wanted, filter });
  const found = statements?.find({ all: reach.found, byWords: reach.foundByWords });
  const ids: SQL = found
    ? sql`
        select ${issues.id} from ${issues}
        where ${issues.id} in (${found})
        order by ${sql.join(terms, sql`, `)}
        limit ${integer(reach.size)} offset ${integer(reach.offset)}`
    : sql`select id from ${issues} where 0`;
  const total = statements?.count({ all: reach.countedMax, byWords: FOUND_MAX });
  const { owner, team } = scope;
  const column = <T>(value: SQL | undefined, name: string) =>
    qualified<T>(value ?? sql`null`).as(name);
  const isKnown = (kind: NamedKind) =>
    column<number | null>(isAmongMany ? statements?.isKnown(kind) : undefined, `knows_${kind}`);
  return [
    selectIssues(db)
      .where(sql`${issues.id} in (${ids})`)
      .orderBy(...terms),
    selectRepositories(db, toCallerSql(principal)).where(
      sql`${repositories.id} in (select repo_id from ${issues} where id in (${ids}))`,
    ),
    db
      .select({
        total: column<number | null>(total, "total"),
        ownerId: column<number | null>(
          owner === undefined ? undefined : ownerIdOf(principal, owner),
          "owner_id",
        ),
        teamId: column<number | null>(
          owner === undefined || team === undefined ? undefined : teamIdOf(principal, owner, team),
          "team_id",
        ),
        labels: isKnown("labels"),
        milestones: isKnown("milestones"),
      })
      .from(sql`(select 1)`),
  ] as const;
}
