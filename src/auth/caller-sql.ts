import { sql, type SQL } from "drizzle-orm";

import { accessTokens, sessions, users } from "../db/schema/index.ts";
import { boundTokenId, type Actor } from "./actor.ts";

/** The caller of a request as SQL expressions. */
export interface CallerSql {
  /** The id of the acting user, or null. */
  actorId: SQL;
  /** The id of the caller's token where it is bound to repositories, or null. */
  boundTokenId: SQL;
}

/** SQL for a caller that is already resolved. */
export function callerSql(actor: Actor): CallerSql {
  return {
    actorId: sql`${actor.user?.id ?? null}`,
    boundTokenId: sql`${boundTokenId(actor) ?? null}`,
  };
}

/** The parts of a credential that identify a user. */
export interface CredentialSql {
  /** The condition for the access token; of several, the one with the lowest id counts. */
  isToken?: SQL | undefined;
  /** The condition for the account that a password belongs to. */
  isAccount?: SQL | undefined;
  /** The condition for the session. */
  isSession?: SQL | undefined;
  /** The condition for the user that an administrator acts as. */
  isSudo?: SQL | undefined;
}

/** SQL that resolves a credential to its caller by subqueries, so that a query can run in the same batch. */
export function callerSubquery({
  isToken,
  isAccount,
  isSession,
  isSudo,
}: CredentialSql): CallerSql {
  const userWhere = (condition?: SQL) =>
    condition &&
    sql`(select ${users.id} from ${users} where ${users.kind} = 'user' and ${condition})`;
  const tokenColumn = (column: SQL) =>
    isToken
      ? sql`(
          select ${column}
          from ${accessTokens}
          where ${isToken}
          order by ${accessTokens.id}
          limit 1
        )`
      : sql`null`;
  const byToken = tokenColumn(sql`${accessTokens.userId}`);
  const bySession =
    isSession && sql`(select ${sessions.userId} from ${sessions} where ${isSession})`;
  const byLogin = bySession ?? userWhere(isAccount) ?? sql`null`;
  return {
    actorId: userWhere(isSudo) ?? sql`coalesce(${byToken}, ${byLogin})`,
    boundTokenId: tokenColumn(sql`case when ${accessTokens.isBound} then ${accessTokens.id} end`),
  };
}
