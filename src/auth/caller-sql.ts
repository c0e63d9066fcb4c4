import { eq, gt, inArray, sql, type SQL } from "drizzle-orm";

import { allOf, anyOf } from "../db/db.ts";
import type { Params } from "../db/prepared.ts";
import { accessTokens, emailAddresses, sessions, users } from "../db/schema/index.ts";
import { boundTokenId, type Actor } from "./actor.ts";
import type { PrincipalSql } from "./principal.ts";
import { isSessionOf } from "./session.ts";

/** The caller of a request as SQL expressions. */
export interface CallerSql {
  /** The id of the acting user, or null. */
  actorId: SQL;
  /** The id of the caller's token where it is bound to repositories, or null. */
  boundTokenId: SQL;
}

/**
 * The caller of a request as an argument of a query: who it is, or the credential that identifies
 * them.
 */
export type CallerArgument = KnownCaller | CredentialArgument;

interface KnownCaller {
  readonly actorId: number | null;
  readonly boundTokenId: number | null;
}

/** The parts of a credential that identify a user. */
export interface CredentialArgument {
  /**
   * Hashes of what may be an access token; of several tokens, the one with the lowest id counts.
   */
  readonly tokenHash?: string;
  readonly otherTokenHash?: string;
  readonly tokenId?: number;
  /** The name that a password signs in to, in lower case. */
  readonly login?: string;
  readonly accountId?: number;
  readonly session?: { readonly hash: string; readonly now: number };
  /** The name of the user that an administrator acts as, in lower case. */
  readonly sudo?: string;
}

type Given<A> = Params<A> | A;

/** A caller that is already resolved, as an argument. */
export const callerArgument = (actor: Actor): KnownCaller => ({
  actorId: actor.user?.id ?? null,
  boundTokenId: boundTokenId(actor) ?? null,
});

/** SQL for a caller that is already resolved. */
export const callerSql = (actor: Actor): CallerSql => toCallerSql(callerArgument(actor));

/**
 * SQL for a caller that is an argument. Subqueries resolve a credential to its caller, so that a
 * query can run in the same batch.
 */
export function toCallerSql(
  caller: Given<KnownCaller> | Given<CredentialArgument> | PrincipalSql,
): CallerSql {
  if ("isSiteAdmin" in caller) {
    return {
      actorId: sql`${caller.userId ?? null}`,
      boundTokenId: sql`${caller.boundTokenId ?? null}`,
    };
  }
  if ("actorId" in caller) {
    return { actorId: sql`${caller.actorId}`, boundTokenId: sql`${caller.boundTokenId}` };
  }
  const { isToken, isAccount, isSession, isSudo } = toConditions(caller);
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

/** The conditions on the rows that a credential names; undefined for what it does not name. */
export function toConditions({
  tokenHash,
  otherTokenHash,
  tokenId,
  login,
  accountId,
  session,
  sudo,
}: Given<CredentialArgument>) {
  const hashes = [tokenHash, otherTokenHash].filter((hash) => hash !== undefined);
  const byHash =
    hashes.length > 0
      ? inArray(accessTokens.secretHash, sql`(${sql.join(hashes, sql`, `)})`)
      : undefined;
  const byId = accountId === undefined ? undefined : eq(users.id, accountId);
  return {
    isToken: tokenId === undefined ? byHash : eq(accessTokens.id, tokenId),
    /** The account that a password belongs to. */
    isAccount: login === undefined ? byId : matchesLogin(login),
    isSession: session && isSessionOf(session.hash, session.now),
    isSudo: sudo === undefined ? undefined : allOf(eq(users.lowerName, sudo), gt(users.id, 0)),
  };
}

/**
 * Matches the account that a name signs in to: a login name or any confirmed email address.
 *
 * @param lower The name in lower case.
 */
export function matchesLogin(lower: string | SQL): SQL {
  return anyOf(
    eq(users.lowerName, lower),
    sql`${users.id} = (
      select user_id
      from ${emailAddresses}
      where ${emailAddresses.lowerEmail} = ${lower} and ${emailAddresses.isActivated}
    )`,
  );
}
