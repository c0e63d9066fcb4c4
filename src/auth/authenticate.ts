import { and, eq, inArray, sql, type SQL } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import { anyOf, columnsOf, type Database } from "../db/db.ts";
import {
  accessTokens,
  emailAddresses,
  users,
  type AccessToken,
  type User,
} from "../db/schema/index.ts";
import { forbidden, notFound, unauthenticated } from "../lib/failure.ts";
import { ANONYMOUS, type Actor } from "./actor.ts";
import { callerSubquery, type CallerSql } from "./caller-sql.ts";
import type { Credential } from "./credential.ts";
import { verifyPassword } from "./password.ts";
import { ALL_SCOPES, readStoredScopes } from "./scope.ts";
import { hashSecret } from "./secret.ts";

// SECURITY: Basic may carry a token as the user name or as the password. The order is fixed, so that this
// query and `callerSubquery` resolve to the same caller.
const selectTokens = (db: Database, hashes: string[]) =>
  db
    .select({ token: columnsOf(accessTokens, "t"), user: columnsOf(users, "u") })
    .from(accessTokens)
    .innerJoin(users, eq(users.id, accessTokens.userId))
    .where(inArray(accessTokens.secretHash, hashes))
    .orderBy(accessTokens.id);

const selectUsers = (db: Database, where: SQL) =>
  db
    .select({ user: columnsOf(users, "u") })
    .from(users)
    .where(and(eq(users.kind, "user"), where));

/** A query for the resource that a request names, with its result type. */
export type TargetQuery = BatchItem<"sqlite">;

/** The identity that a request claims: a credential and, optionally, a user to act as. */
export interface Claims {
  credential: Credential;
  /** The name of the user that an administrator wants to act as. */
  sudo: string | undefined;
}

/**
 * Finds the caller of a request and, in the same batch, the target of the request: one round trip.
 *
 * @param selectTarget Builds the query for the target. It receives the caller as a subquery, since the
 * batch is sent before the caller is known.
 * @throws Failure `unauthenticated` for a wrong or expired credential, `forbidden` for a disabled account and
 * for sudo by a caller who is not an administrator, `not_found` for sudo as an unknown user.
 */
export async function authenticate<Q extends TargetQuery>(
  db: Database,
  { credential, sudo }: Claims,
  now: number,
  selectTarget?: (caller: CallerSql) => Q,
): Promise<{ actor: Actor; target: Q["_"]["result"] | undefined }> {
  const tokenHashes = await Promise.all(possibleSecrets(credential).map(hashSecret));
  const isAccount =
    credential.kind === "basic" && credential.password !== ""
      ? matchesLogin(credential.name)
      : undefined;
  const isSudo = sudo === undefined ? undefined : eq(users.lowerName, sudo.toLowerCase());

  const found = await batchOf(db, {
    tokens: tokenHashes.length > 0 ? selectTokens(db, tokenHashes) : undefined,
    accounts: isAccount && selectUsers(db, isAccount),
    sudo: isSudo && selectUsers(db, isSudo),
    target: selectTarget?.(callerSubquery({ tokenHashes, isAccount, isSudo })),
  });
  const actor = await resolveActor(credential, found.tokens ?? [], found.accounts ?? [], now);
  if (actor.user) refuseDisabledAccount(actor.user);
  return {
    actor: isSudo ? actAs(actor, found.sudo?.[0]?.user) : actor,
    target: found.target,
  };
}

/** Runs the defined queries as one batch. */
async function batchOf<Q extends Record<string, TargetQuery | undefined>>(
  db: Database,
  queries: Q,
) {
  const named = Object.entries(queries).filter(
    (entry): entry is [string, TargetQuery] => !!entry[1],
  );
  const [first, ...rest] = named.map(([, query]) => query);
  const results: unknown[] = first ? await db.batch([first, ...rest]) : [];
  return Object.fromEntries(named.map(([name], index) => [name, results[index]])) as {
    [K in keyof Q]: NonNullable<Q[K]>["_"]["result"] | undefined;
  };
}

/** The strings of a credential that may be a token: Basic may carry it as the user name or as the password. */
function possibleSecrets(credential: Credential): string[] {
  switch (credential.kind) {
    case "none":
      return [];
    case "token":
      return [credential.secret];
    case "basic":
      return [credential.password, credential.name].filter((text) => text !== "");
    default:
      return credential satisfies never;
  }
}

/** Matches the account of a Basic user name: a login name or any confirmed email address. */
function matchesLogin(name: string): SQL {
  const lower = name.toLowerCase();
  return anyOf(
    eq(users.lowerName, lower),
    sql`${users.id} = (
      select user_id
      from ${emailAddresses}
      where ${emailAddresses.lowerEmail} = ${lower} and ${emailAddresses.isActivated}
    )`,
  );
}

async function resolveActor(
  credential: Credential,
  tokens: { token: AccessToken; user: User }[],
  accounts: { user: User }[],
  now: number,
): Promise<Actor> {
  if (credential.kind === "none") return ANONYMOUS;

  const [match] = tokens;
  if (match) {
    const { token, user } = match;
    if (token.expiresAt !== null && token.expiresAt <= now) {
      throw unauthenticated("the access token has expired");
    }
    const scopes = readStoredScopes(token.scopes);
    return {
      user,
      isSiteAdmin: user.isAdmin && !scopes.isPublicOnly && !token.isBound,
      credential: "token",
      scopes,
      token,
    };
  }
  if (credential.kind === "token") throw unauthenticated("the access token is not valid");

  // SECURITY: the password is hashed whether or not the account exists, and the error is the same for a wrong
  // name and a wrong password: neither timing nor message reveals which accounts exist.
  const user = accounts[0]?.user;
  const isCorrect = await verifyPassword(user?.passwordHash ?? null, credential.password);
  if (!user || !isCorrect) throw unauthenticated("the user name or the password is not right");
  return {
    ...ANONYMOUS,
    user,
    isSiteAdmin: user.isAdmin,
    credential: "basic",
    scopes: ALL_SCOPES,
  };
}

function refuseDisabledAccount(user: User): void {
  if (!user.isActive || user.isLoginProhibited) {
    throw forbidden(
      "This account is prohibited from signing in, please contact your site administrator.",
    );
  }
  if (user.mustChangePassword) throw forbidden("You must change your password.");
}

function actAs(actor: Actor, user: User | undefined): Actor {
  if (!actor.isSiteAdmin) throw forbidden("Only administrators allowed to sudo.");
  if (!user) throw notFound();
  return { ...actor, user, isSiteAdmin: user.isAdmin };
}
