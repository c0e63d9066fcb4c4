import { inArray, sql, type SQL } from "drizzle-orm";

import { accessTokens, users } from "../db/schema/index.ts";
import { boundTokenId, type Actor } from "./actor.ts";

/** The caller of a request in SQL. */
export interface CallerSql {
  /** The id of the user who acts, or null. */
  actorId: SQL;
  /** The bound token that the credential is, or null. */
  boundTokenId: SQL;
}

/** The caller as SQL, once it is known. */
export function callerSql(actor: Actor): CallerSql {
  return {
    actorId: sql`${actor.user?.id ?? null}`,
    boundTokenId: sql`${boundTokenId(actor) ?? null}`,
  };
}

/** The parts of a credential that name a user. */
export interface CredentialSql {
  /** Hashes of the strings that may be a token. */
  tokenHashes: string[];
  /** The account of a password. */
  isAccount: SQL | undefined;
  /** The user whom an administrator acts as. */
  isSudo: SQL | undefined;
}

/** The caller as subqueries that find the user of a credential, so that a query need not wait for it. */
export function callerSubquery({ tokenHashes, isAccount, isSudo }: CredentialSql): CallerSql {
  const userWhere = (condition?: SQL) =>
    condition &&
    sql`(select ${users.id} from ${users} where ${users.kind} = 'user' and ${condition})`;
  const tokenColumn = (column: SQL) =>
    tokenHashes.length > 0 &&
    sql`(
      select ${column}
      from ${accessTokens}
      where ${inArray(accessTokens.secretHash, tokenHashes)}
      order by ${accessTokens.id}
      limit 1
    )`;
  const byToken = tokenColumn(sql`${accessTokens.userId}`) || sql`null`;
  return {
    actorId: userWhere(isSudo) ?? sql`coalesce(${byToken}, ${userWhere(isAccount) ?? sql`null`})`,
    boundTokenId:
      tokenColumn(sql`case when ${accessTokens.isBound} then ${accessTokens.id} end`) || sql`null`,
  };
}
