import { asc, eq, sql } from "drizzle-orm";

import { type CallerArgument, toCallerSql } from "../../../auth/caller-sql.ts";
import type { Database } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { accessTokenRepositories, repositories, users } from "../../../db/schema/index.ts";

/** Rows that tell one repository from several. */
const FEW = 2;

/**
 * Selects the names of the first two repositories that the caller's token is bound to, for a batch
 * that is sent before the caller is known; none for a token that is bound to none.
 */
export const selectBoundRepositories = (db: Database, caller: CallerArgument) =>
  boundRepositories(db, { caller });

const boundRepositories = prepare((db, { caller }: Params<{ caller: CallerArgument }>) =>
  db
    .select({ fullName: sql<string>`${users.name} || '/' || ${repositories.name}`.as("full") })
    .from(accessTokenRepositories)
    .innerJoin(repositories, eq(repositories.id, accessTokenRepositories.repoId))
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(eq(accessTokenRepositories.tokenId, toCallerSql(caller).boundTokenId))
    .orderBy(asc(repositories.id))
    .limit(FEW),
);
