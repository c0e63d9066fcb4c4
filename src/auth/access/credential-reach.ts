import { eq, sql, type SQL } from "drizzle-orm";

import { allOf } from "../../db/db.ts";
import { accessTokenRepositories, repositories, type Repository } from "../../db/schema/index.ts";
import { boundTokenId, seesPublicOnly, type Actor } from "../actor.ts";

// What takes away from whatever was granted stands in this file, once for a row and once as SQL.
// A further reason, such as a block between accounts, is one more fact and one more condition here.

/** What the database knows of a credential and a repository. */
export interface ReachFacts {
  /** Whether the caller's token is bound to repositories and this is one of them. */
  isInBoundToken: boolean;
}

/** Whether the caller's credential reaches a repository at all. */
export function isWithinReach(actor: Actor, repo: Repository, facts: ReachFacts): boolean {
  if (seesPublicOnly(actor) && repo.visibility !== "public") return false;
  return boundTokenId(actor) === undefined || facts.isInBoundToken;
}

/** The same as a condition on each repository of a query. */
export function isWithinReachSql(actor: Actor): SQL {
  const tokenId = boundTokenId(actor);
  return allOf(
    tokenId === undefined ? undefined : isInBoundToken(sql`${tokenId}`),
    seesPublicOnly(actor) ? eq(repositories.visibility, "public") : undefined,
  );
}

/** The condition for a repository that a token is bound to. */
export const isInBoundToken = (tokenId: SQL): SQL => sql`exists (
  select 1 from ${accessTokenRepositories}
  where ${accessTokenRepositories.tokenId} = ${tokenId}
    and ${accessTokenRepositories.repoId} = ${repositories.id}
)`;
