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

// SECURITY: Basic may carry a token on either side. In a fixed order, so that the caller found here
// is the one that `callerSubquery` finds.
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

/** A query for what a request is about, and its result. */
export type TargetQuery = BatchItem<"sqlite">;

/** What a request shows to say who it is from. */
export interface Claims {
  credential: Credential;
  /** The user whom an administrator wants to act as. */
  sudo: string | undefined;
}

/**
 * Finds the caller of a request and, in the same batch, what the request is about: one round trip.
 *
 * @param selectTarget Makes the query for the target; it gets the caller as a subquery, since
 * nobody knows yet who that is.
 * @throws Failure `unauthenticated` for a wrong or expired credential, `forbidden` for a closed
 * account and for sudo by anybody but administrators.
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
      ? isNamed(credential.name)
      : undefined;
  const isSudo = sudo === undefined ? undefined : eq(users.lowerName, sudo.toLowerCase());

  const found = await batchOf(db, {
    tokens: tokenHashes.length > 0 ? selectTokens(db, tokenHashes) : undefined,
    accounts: isAccount && selectUsers(db, isAccount),
    sudo: isSudo && selectUsers(db, isSudo),
    target: selectTarget?.(callerSubquery({ tokenHashes, isAccount, isSudo })),
  });
  const actor = await judgeCredential(credential, found.tokens ?? [], found.accounts ?? [], now);
  if (actor.user) refuseClosedAccount(actor.user);
  return {
    actor: isSudo ? actAs(actor, found.sudo?.[0]?.user) : actor,
    target: found.target,
  };
}

/** Runs the queries that there are as one batch. */
async function batchOf<Q extends Record<string, TargetQuery | undefined>>(
  db: Database,
  queries: Q,
) {
  const named = Object.entries(queries).filter(
    (entry): entry is [string, TargetQuery] => !!entry[1],
  );
  const [first, ...rest] = named.map(([, query]) => query);
  const results: unknown[] = first ? await db.batch([first, ...rest]) : [];
  return Object.fromEntries(named.map(([name], at) => [name, results[at]])) as {
    [K in keyof Q]: NonNullable<Q[K]>["_"]["result"] | undefined;
  };
}

/** The strings of a credential that may be a token: Basic carries it on either side. */
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

/** A person signs in with a login name or with any address they confirmed. */
function isNamed(name: string): SQL {
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

async function judgeCredential(
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

  // SECURITY: the password is hashed whether or not the account exists (timing), and the answer
  // is the same for a wrong name and a wrong password.
  const user = accounts[0]?.user;
  const isRight = await verifyPassword(user?.passwordHash ?? null, credential.password);
  if (!user || !isRight) throw unauthenticated("the user name or the password is not right");
  return {
    ...ANONYMOUS,
    user,
    isSiteAdmin: user.isAdmin,
    credential: "basic",
    scopes: ALL_SCOPES,
  };
}

function refuseClosedAccount(user: User): void {
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
