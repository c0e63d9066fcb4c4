import { and, eq, sql, type SQL } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import { ANONYMOUS, type Actor, bindingsOf } from "../auth/actor.ts";
import { type CallerArgument, type CredentialArgument, toConditions } from "../auth/caller-sql.ts";
import { type Credential, readCredential } from "../auth/credential.ts";
import { noteTokenUse } from "../auth/note-token-use.ts";
import { markSignIn } from "../auth/password.ts";
import { ALL_SCOPES, hasScope, readStoredScopes, type Scope } from "../auth/scope.ts";
import { hashSecret } from "../auth/secret.ts";
import { noteSessionUse } from "../auth/session.ts";
import type { Config } from "../config.ts";
import type { BaseCtx, Ctx } from "../context.ts";
import { columnsOf, type Database } from "../db/db.ts";
import { type Params, prepare } from "../db/prepared.ts";
import {
  accessTokens,
  sessions,
  users,
  type AccessToken,
  type Session,
  type User,
} from "../db/schema/index.ts";
import { verifyTotp } from "../domain/people/second-factors/verify-code.ts";
import { recordPasswordUse, recordRefusedSignIn } from "../domain/people/audit/record-sign-in.ts";
import { forbidden, notFound, unauthenticated } from "../lib/failure.ts";
import { comparePassword, isProhibited, refuseProhibited } from "./compare-password.ts";
import type { Door, IncomingRequest, Requirements } from "./door.ts";
import { batchOfGuard } from "./kept-guards.ts";
import { requireAudience } from "./request-audience.ts";

/** A query for the resource that a request names, with its result type. */
export type TargetQuery = BatchItem<"sqlite">;

/** The results of queries, in their order. */
export type ResultsOf<R extends readonly TargetQuery[]> = {
  [At in keyof R]: R[At]["_"]["result"];
};

/** The results of the queries that came with the caller's. */
interface Loaded<Q extends TargetQuery, R extends readonly TargetQuery[]> {
  target: Q["_"]["result"] | undefined;
  more: ResultsOf<R> | undefined;
}

/**
 * Authenticates a request: resolves its caller and, in the same round trip, loads its target;
 * refuses anonymous callers and tokens without the required scopes; records the use of a token.
 *
 * @param selectTarget Builds the query for the target of the request.
 * @param selectMore Builds queries for what belongs to the target.
 * @throws Failure as `resolveCaller` does, and the door's refusal where the requirements are not
 *   met.
 */
export async function authenticate<
  Q extends TargetQuery,
  const R extends readonly TargetQuery[] = readonly TargetQuery[],
>(
  incoming: IncomingRequest,
  { scopes, anonymous }: Requirements,
  selectTarget?: (caller: CallerArgument) => Q,
  selectMore?: (caller: CallerArgument) => R,
): Promise<Loaded<Q, R> & { ctx: Ctx }> {
  const { door, base } = incoming;
  const claims = readClaims(incoming);
  const { actor, target, more } = await resolveCaller(base, claims, selectTarget, selectMore);
  const ctx: Ctx = { ...base, actor };

  if (!actor.user && !isAnonymousAllowed(anonymous, base.config)) {
    throw door.refuseAnonymous(base.config);
  }
  requireAudience(incoming.raw, actor);
  requireScopes(door, actor, scopes);
  const recording =
    (actor.token && noteTokenUse(ctx.db, actor.token, ctx.now)) ??
    (actor.session && noteSessionUse(ctx.db, actor.session, ctx.now));
  if (recording) ctx.defer(recording);
  return { ctx, target, more };
}

/** Refuses a caller whose credential lacks any of `scopes`. */
export function requireScopes(door: Door, { scopes: granted }: Actor, scopes: readonly Scope[]) {
  const missing = scopes.filter((scope) => !hasScope(granted, scope));
  if (missing.length > 0) throw door.refuseScopes(missing, granted);
}

const NO_QUERY = new URLSearchParams();

function readClaims({ door, base, raw, credential }: IncomingRequest): Claims {
  const { headers, url } = raw;
  const query = url.includes("?") ? new URL(url).searchParams : NO_QUERY;
  return {
    credential: credential ?? readCredential(headers.get("authorization") ?? undefined, query),
    sudo: door.hasSudo ? headers.get("sudo") || query.get("sudo") || undefined : undefined,
    otp: headers.get("x-gitea-otp") ?? undefined,
    network: base.network,
  };
}

const isAnonymousAllowed = (anonymous: Requirements["anonymous"], config: Config): boolean =>
  anonymous === "always" || (anonymous === "by-setting" && !config.isSignInRequired);

/** The identity that a request claims: a credential and, optionally, a user to act as. */
interface Claims {
  credential: Credential;
  /** The name of the user that an administrator acts as. */
  sudo: string | undefined;
  /** The code of an authenticator app that comes with a password. */
  otp: string | undefined;
  /** The network that the request came from, where it is known. */
  network: string | undefined;
}

/** The caller, and whether a password was hashed to know them: it was not right a moment ago. */
interface Resolved {
  actor: Actor;
  isHashed: boolean;
}

/**
 * Finds the caller of a request and, in the same batch, the target of the request: one round trip,
 * or none where a request that reads was here a moment ago.
 *
 * @param selectTarget Builds the query for the target. It receives the caller by their credential,
 * since the batch is sent before the caller is known.
 * @throws Failure `unauthenticated` for a wrong or expired credential, `too_many` after too many
 * wrong passwords, `forbidden` for a disabled account and for sudo by a caller who is not an
 * administrator, `not_found` for sudo as an unknown user.
 */
async function resolveCaller<Q extends TargetQuery, R extends readonly TargetQuery[]>(
  base: BaseCtx,
  claims: Claims,
  selectTarget?: (caller: CallerArgument) => Q,
  selectMore?: (caller: CallerArgument) => R,
): Promise<Loaded<Q, R> & { actor: Actor }> {
  const { db } = base;
  const { credential, sudo } = claims;
  const caller = { ...(await toArgument(credential, base.now)), ...toSudo(sudo) };
  const { target, more, ...found } = await batchOfGuard(base, credential, {
    tokens: hasToken(caller) ? tokensOf(db, { caller }) : undefined,
    accounts: hasAccount(caller) ? accountsOf(db, { caller }) : undefined,
    sessions: caller.session && sessionsOf(db, { caller }),
    sudo: sudo === undefined ? undefined : sudoUser(db, { caller }),
    target: selectTarget?.(caller),
    more: selectMore?.(caller),
  });
  const { actor, isHashed } = await resolveActor(base, claims, found);
  if (actor.user) admitAccount({ ...base, actor }, actor.user, isHashed);
  return {
    actor: sudo !== undefined ? actAs(actor, found.sudo?.[0]?.user) : actor,
    target,
    more: more as ResultsOf<R> | undefined,
  };
}

type CallerParams = Params<{ caller: CredentialArgument }>;

// SECURITY: Basic may carry a token as the user name or as the password. The order is fixed, so
// that this query and `toCallerSql` resolve to the same caller.
const tokensOf = prepare((db, { caller }: CallerParams) =>
  db
    .select({ token: columnsOf(accessTokens, "t"), user: columnsOf(users, "u") })
    .from(accessTokens)
    .innerJoin(users, eq(users.id, accessTokens.userId))
    .where(required(toConditions(caller).isToken))
    .orderBy(accessTokens.id),
);

const accountsOf = prepare((db, { caller }: CallerParams) =>
  selectUsers(db, required(toConditions(caller).isAccount)),
);

const sudoUser = prepare((db, { caller }: CallerParams) =>
  selectUsers(db, required(toConditions(caller).isSudo)),
);

/** SECURITY: a credential that names nobody finds nobody. */
const required = (condition: SQL | undefined): SQL => condition ?? sql`0`;

const selectUsers = (db: Database, where: SQL) =>
  db
    .select({ user: columnsOf(users, "u") })
    .from(users)
    .where(and(eq(users.kind, "user"), where));

const sessionsOf = prepare((db, { caller }: CallerParams) =>
  db
    .select({ session: columnsOf(sessions, "s"), user: columnsOf(users, "u") })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(required(toConditions(caller).isSession)),
);

const hasToken = ({ tokenHash, tokenId }: CredentialArgument): boolean =>
  tokenHash !== undefined || tokenId !== undefined;

const hasAccount = ({ login, accountId }: CredentialArgument): boolean =>
  login !== undefined || accountId !== undefined;

const toSudo = (name: string | undefined): CredentialArgument =>
  name === undefined ? {} : { sudo: name.toLowerCase() };

/** The query argument for the access token, the account or the session of a credential. */
async function toArgument(credential: Credential, now: number): Promise<CredentialArgument> {
  switch (credential.kind) {
    case "none":
      return {};
    case "session":
      return { session: { hash: await hashSecret(credential.secret), now } };
    case "token":
      return { tokenHash: await hashSecret(credential.secret) };
    case "basic": {
      const { name, password } = credential;
      // The token may be the user name or the password.
      const secrets = [password, name].filter((text) => text !== "");
      const [tokenHash, otherTokenHash] = await Promise.all(secrets.map(hashSecret));
      return {
        ...(tokenHash !== undefined && { tokenHash }),
        ...(otherTokenHash !== undefined && { otherTokenHash }),
        ...(password !== "" && { login: name.toLowerCase() }),
      };
    }
    case "transfer":
      return credential.tokenId === undefined
        ? { accountId: credential.userId }
        : { tokenId: credential.tokenId };
    default:
      return credential satisfies never;
  }
}

/** The rows that match the credential of a request. */
interface Found {
  tokens: { token: AccessToken; user: User }[] | undefined;
  accounts: { user: User }[] | undefined;
  sessions: { session: Session; user: User }[] | undefined;
}

async function resolveActor(
  base: BaseCtx,
  { credential, otp, network }: Claims,
  found: Found,
): Promise<Resolved> {
  if (credential.kind === "none") return { actor: ANONYMOUS, isHashed: false };
  // A session that has ended is no reason to refuse a page: its reader may sign in again.
  if (credential.kind === "session") {
    return { actor: ofSession(found.sessions?.[0]), isHashed: false };
  }

  const match = found.tokens?.[0];
  if (match) {
    const { token, user } = match;
    if (token.expiresAt !== null && token.expiresAt <= base.now) {
      throw unauthenticated("the access token has expired");
    }
    const scopes = readStoredScopes(token.scopes);
    const actor: Actor = {
      user,
      isSiteAdmin: user.isAdmin && !scopes.isPublicOnly && bindingsOf(token).length === 0,
      credential: "token",
      scopes,
      token,
      session: undefined,
    };
    return { actor, isHashed: false };
  }
  const user = found.accounts?.[0]?.user;
  let isHashed = false;
  switch (credential.kind) {
    case "token":
      throw unauthenticated("the access token is not valid");
    case "transfer":
      if (!user || !(await isSameLogin(credential, user))) {
        throw unauthenticated("the caller of the transfer must sign in again");
      }
      break;
    case "basic": {
      const { name, password } = credential;
      const result = await comparePassword(base, { name, password }, user, network);
      if (!user || result === "wrong") {
        throw unauthenticated("the user name or the password is not right");
      }
      await requireSecondFactor(base, user, otp, network);
      isHashed = result === "right";
      break;
    }
    default:
      return credential satisfies never;
  }
  const isSiteAdmin = user.isAdmin;
  const actor: Actor = {
    ...ANONYMOUS,
    user,
    isSiteAdmin,
    credential: "basic",
    scopes: ALL_SCOPES,
  };
  return { actor, isHashed };
}

function ofSession(match: { session: Session; user: User } | undefined): Actor {
  if (!match) return ANONYMOUS;
  const { session, user } = match;
  return {
    user,
    isSiteAdmin: user.isAdmin,
    credential: "session",
    scopes: ALL_SCOPES,
    token: undefined,
    session,
  };
}

/**
 * Refuses a password alone for an account with a second factor, at every door. Tokens are for
 * clients that can't ask.
 *
 * @throws Failure `unauthenticated`, in the words that clients match; `too_many` after too many
 *   wrong codes.
 */
async function requireSecondFactor(
  base: BaseCtx,
  user: User,
  code: string | undefined,
  network: string | undefined,
): Promise<void> {
  if (user.hasWebauthn) {
    throw unauthenticated("basic authorization is not allowed while WebAuthn enrolled");
  }
  if (!user.hasTotp) return;
  if (code === undefined || !(await verifyTotp(base, { user, code, network }))) {
    throw unauthenticated("invalid provided OTP");
  }
}

/**
 * Whether the account still has the password and the second factors that the caller of a transfer
 * signed in with.
 */
const isSameLogin = async (
  credential: Extract<Credential, { kind: "transfer" }>,
  user: User,
): Promise<boolean> =>
  credential.tokenId === undefined && credential.signInMark === (await markSignIn(user));

/**
 * Refuses an account that may not sign in, and records that a password was used.
 *
 * @throws Failure `forbidden`.
 */
function admitAccount(ctx: Ctx, user: User, isHashed: boolean): void {
  if (isHashed && isProhibited(user)) ctx.defer(recordRefusedSignIn(ctx, user).execute());
  refuseProhibited(user);
  if (isHashed) ctx.defer(recordPasswordUse(ctx, user).execute());
  if (user.mustChangePassword) {
    throw forbidden(
      `You must change your password. Change it at: ${ctx.rootUrl}/user/change_password`,
    );
  }
}

function actAs(actor: Actor, user: User | undefined): Actor {
  if (!actor.isSiteAdmin) throw forbidden("Only administrators allowed to sudo.");
  if (!user) throw notFound();
  return { ...actor, user, isSiteAdmin: user.isAdmin, sudoer: actor.user };
}
