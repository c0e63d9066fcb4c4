import { type SQL, sql } from "drizzle-orm";

import { organizationsWithTeamsOf } from "../../auth/access/requested-teams.ts";
import { type Principal, principalOf } from "../../auth/principal.ts";
import type { Ctx } from "../../context.ts";
import { allOf } from "../../db/db.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import { shards } from "../../db/schema/index.ts";
import {
  type AskedShards,
  findShards,
  shardsOfAccounts,
  shardsOfRepositories,
} from "../shards/shards-of.ts";
import type { SearchFilter } from "./bound-filter.ts";
import { userIdOf } from "./conditions.ts";
import { PERSON_ROLES, type PersonRole } from "./issue-query.ts";
import { isReachLimited, reachedIds, type SearchScope } from "./search-scope.ts";

/**
 * Finds the shards that a search asks: those of the repositories in which it can find something, of which a user of each role of the
 * filter has something.
 *
 * Cost: nothing without shards, or for all of them; otherwise one round trip of the first database.
 *
 * @param filter Undefined if nothing can match.
 */
export async function findShardsOfSearch(
  ctx: Ctx,
  { filter, scope }: { filter: SearchFilter | undefined; scope: SearchScope },
): Promise<AskedShards> {
  if (!filter) return new Set();
  if (ctx.openShards().size === 0) return undefined;
  const principal = principalOf(ctx.actor);
  // Names of labels and milestones count if any of the repositories has them, whoever has something there.
  const hasNames = filter.labels !== undefined || filter.milestones !== undefined;
  const people = hasNames
    ? {}
    : Object.fromEntries(
        Object.entries(filter.people).map(([role, { first }]) => [role, first] as const),
      );
  if (!isReachLimited(principal, scope) && Object.keys(people).length === 0) return undefined;
  return findShards(ctx, (db) => askedShards(db, { principal, scope, people }));
}

interface Asked {
  readonly principal: Principal;
  readonly scope: SearchScope;
  /** The name of a user of each role, in lower case. */
  readonly people: { readonly [R in PersonRole]?: string };
}

const askedShards = prepare((db, { principal, scope, people }: Params<Asked>) => {
  const repoIds = reachedIds(principal, scope);
  const conditions = [
    ...(repoIds ? [shardsOfRepositories(repoIds)] : []),
    ...PERSON_ROLES.flatMap((role) => {
      const name = people[role];
      return name ? [shardsOfAccounts(accountIdsOf(role, name))] : [];
    }),
  ];
  return db
    .select({ id: shards.id })
    .from(shards)
    .where(allOf(...conditions.map((ids) => sql`${shards.id} in (select id from (${ids}))`)));
});

/** Selects the ids of the user, and for reviews that are asked of teams, of their organizations. */
function accountIdsOf(role: PersonRole, name: SQL): SQL {
  const userId = userIdOf(name);
  if (role !== "review_requested") return sql`select ${userId}`;
  return sql`select ${userId} union ${organizationsWithTeamsOf(userId)}`;
}
