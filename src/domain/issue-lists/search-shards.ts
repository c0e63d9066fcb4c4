import { type SQL, sql } from "drizzle-orm";

import { organizationsWithTeamsOf } from "../../auth/access/requested-teams.ts";
import { principalOf } from "../../auth/principal.ts";
import type { Ctx } from "../../context.ts";
import { allOf } from "../../db/db.ts";
import { shards } from "../../db/schema/index.ts";
import {
  type AskedShards,
  findShards,
  shardsOfAccounts,
  shardsOfRepositories,
} from "../shards/shards-of.ts";
import { Arguments } from "./arguments.ts";
import { userIdOf } from "./conditions.ts";
import type { IssueFilter, PersonFilter } from "./issue-query.ts";
import { reachedIds, type SearchScope } from "./search-scope.ts";

/**
 * Finds the shards that a search asks: those of the repositories in which it can find something, of which each user of the filter
 * has something.
 *
 * Cost: nothing without shards, or for all of them; otherwise one round trip of the first database.
 *
 * @param filter Undefined if nothing can match.
 */
export async function findShardsOfSearch(
  ctx: Ctx,
  { filter, scope }: { filter: IssueFilter | undefined; scope: SearchScope<string> },
): Promise<AskedShards> {
  if (!filter) return new Set();
  const principal = principalOf(ctx.actor);
  const args = new Arguments();
  const repoIds = reachedIds(principal, scope);
  // Names of labels and milestones count if any of the repositories has them, whoever has something there.
  const hasNames = filter.labels.length > 0 || filter.milestones.length > 0;
  const people = hasNames ? [] : filter.people;
  const conditions = [
    ...(repoIds ? [shardsOfRepositories(repoIds)] : []),
    ...people.map((person) => shardsOfAccounts(accountIdsOf(args, person))),
  ];
  if (conditions.length === 0) return undefined;
  const isAsked = allOf(...conditions.map((ids) => sql`${shards.id} in (select id from (${ids}))`));
  return findShards(
    ctx,
    sql`with ${args.table()} select ${shards.id} as id from ${shards} where ${isAsked}`,
  );
}

/** Selects the ids of the user, and for reviews that are asked of teams, of their organizations. */
function accountIdsOf(args: Arguments, { role, name }: PersonFilter): SQL {
  const userId = userIdOf(args, name);
  if (role !== "review_requested") return sql`select ${userId}`;
  return sql`select ${userId} union ${organizationsWithTeamsOf(userId)}`;
}
