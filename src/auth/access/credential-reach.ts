import { eq, sql, type SQL } from "drizzle-orm";

import { allOf } from "../../db/db.ts";
import { accessTokenRepositories, repositories, type Repository } from "../../db/schema/index.ts";
import { boundTokenId, seesPublicOnly, type Actor } from "../actor.ts";

// The restrictions that narrow a granted permission are in this file, once for a row and once as SQL.
// A further restriction, such as a block between accounts, is one more fact and one more condition here.

/** Facts from the database about a credential and a repository. */
export interface ReachFacts {
  /** Whether the caller's token is bound to this repository. */
  isInBoundToken: boolean;
}

/** Whether the caller's credential reaches a repository, whatever its user was granted there. */
export function isWithinReach(actor: Actor, repo: Repository, facts: ReachFacts): boolean {
  if (seesPublicOnly(actor) && repo.visibility !== "public") return false;
  return boundTokenId(actor) === undefined || facts.isInBoundToken;
}

/** The rule of `isWithinReach` as a condition on the `repositories` rows of a query. */
export function isWithinReachSql(actor: Actor): SQL {
  const tokenId = boundTokenId(actor);
  return allOf(
    tokenId === undefined ? undefined : isInBoundToken(sql`${tokenId}`),
    seesPublicOnly(actor) ? eq(repositories.visibility, "public") : undefined,
  );
}

/** The condition that a token is bound to a repository. */
export const isInBoundToken = (tokenId: SQL): SQL => sql`exists (
  select 1 from ${accessTokenRepositories}
  where ${accessTokenRepositories.tokenId} = ${tokenId}
    and ${accessTokenRepositories.repoId} = ${repositories.id}
)`;
