import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from "@simplewebauthn/server";
import { and, asc, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import {
  pendingSignIns,
  sessions,
  webauthnCredentials,
  type PendingSignIn,
  type Session,
  type User,
  type WebauthnCredential,
} from "../../../db/schema/index.ts";
import { formatBase64Url, parseBase64Url } from "../../../lib/base64.ts";
import { invalid, notFound } from "../../../lib/failure.ts";
import { recordAudit, recordAuditIfChanged } from "../audit/record-audit.ts";
import { endSessionStatements } from "../sessions/end-sessions.ts";
import { flagFactors, whileSignedIn } from "./flag-factors.ts";
import { replaceRecoveryCodes } from "./recovery-codes.ts";

/** Keys of one user. */
const KEYS_MAX = 20;

// Loaded when it is first needed: it brings parsers of certificates along.
const load = () => import("@simplewebauthn/server");

/** The service as browsers know it: keys belong to its host, and answer on its origin alone. */
const relyingParty = ({ rootUrl }: Pick<Ctx, "rootUrl">) => {
  const { hostname, origin } = new URL(rootUrl);
  return { id: hostname, origin };
};

/** Lists a user's keys, oldest first. There are at most 20. */
export const listWebauthnKeys = async (
  { db }: Pick<Ctx, "db">,
  user: User,
): Promise<WebauthnCredential[]> => keysOf(db, { userId: user.id });

const keysOf = prepare((db, { userId }: Params<{ userId: number }>) =>
  db
    .select()
    .from(webauthnCredentials)
    .where(eq(webauthnCredentials.userId, userId))
    .orderBy(asc(webauthnCredentials.createdAt), asc(webauthnCredentials.id)),
);

/** Begins to add a key: what the browser asks it for. The session keeps the challenge. */
export async function startWebauthnKey(
  ctx: Ctx,
  user: User,
  session: Session,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { generateRegistrationOptions } = await load();
  const keys = await listWebauthnKeys(ctx, user);
  if (keys.length >= KEYS_MAX) throw invalid(`You have ${KEYS_MAX} keys, and can't add another.`);
  const options = await generateRegistrationOptions({
    rpName: ctx.config.appName,
    rpID: relyingParty(ctx).id,
    userName: user.name,
    userDisplayName: user.fullName || user.name,
    userID: new TextEncoder().encode(`user ${user.id}`),
    excludeCredentials: keys.map(({ credentialId: id }) => ({ id })),
    authenticatorSelection: { residentKey: "discouraged", userVerification: "discouraged" },
  });
  await ctx.db
    .update(sessions)
    .set({ webauthnChallenge: options.challenge })
    .where(eq(sessions.id, session.id));
  return options;
}

/**
 * Adds a key by what the browser got from it, and ends all other sessions: they signed in without
 * it.
 *
 * @returns New recovery codes if it is the user's first second factor.
 * @throws Failure `invalid` for an answer that does not fit what was asked, or was used already,
 * `unauthenticated` if the session has ended meanwhile.
 */
export async function addWebauthnKey(
  ctx: Ctx,
  user: User,
  session: Session,
  { name, response }: { name: string; response: string },
): Promise<string[] | undefined> {
  const { db, now } = ctx;
  const challenge = await takeChallenge(ctx, session);
  const { verifyRegistrationResponse } = await load();
  const { id: expectedRPID, origin: expectedOrigin } = relyingParty(ctx);
  const verified = await refuseThrown(() =>
    verifyRegistrationResponse({
      response: JSON.parse(response) as RegistrationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin,
      expectedRPID,
      requireUserVerification: false,
    }),
  );
  if (!verified.verified) throw refused();
  const { credential } = verified.registrationInfo;
  const recovery =
    user.hasTotp || user.hasWebauthn ? undefined : await replaceRecoveryCodes(ctx, user);
  await whileSignedIn(
    db.batch([
      db.insert(webauthnCredentials).values({
        userId: user.id,
        name,
        credentialId: credential.id,
        publicKey: formatBase64Url(credential.publicKey),
        counter: credential.counter,
        transports: JSON.stringify(credential.transports ?? []),
        createdAt: now,
      }),
      recordAudit(ctx, { kind: "security_key.added", ownerId: user.id, target: name }),
      flagFactors(ctx, user, { hasWebauthn: true }),
      ...(recovery?.statements ?? []),
      ...endSessionStatements(db, user.id, session),
    ]),
  );
  return recovery?.codes;
}

/**
 * SECURITY: a challenge is used once; the write that takes it decides.
 *
 * @throws Failure `invalid` if there is none.
 */
async function takeChallenge({ db }: Ctx, { id }: Session): Promise<string> {
  const [row] = await db.select().from(sessions).where(eq(sessions.id, id));
  const challenge = row?.webauthnChallenge ?? null;
  if (challenge === null) throw refused();
  const isSame = and(eq(sessions.id, id), eq(sessions.webauthnChallenge, challenge));
  const taken = await db
    .update(sessions)
    .set({ webauthnChallenge: null })
    .where(isSame)
    .returning();
  if (taken.length === 0) throw refused();
  return challenge;
}

/**
 * Removes a key, and ends all other sessions.
 *
 * @throws Failure `not_found` for a key that is not the user's, `unauthenticated` if the session
 *   has ended meanwhile.
 */
export async function removeWebauthnKey(
  ctx: Ctx,
  user: User,
  session: Session,
  id: number,
): Promise<void> {
  const { db } = ctx;
  const isKey = and(eq(webauthnCredentials.userId, user.id), eq(webauthnCredentials.id, id));
  const [key] = await db.select().from(webauthnCredentials).where(isKey);
  if (!key) throw notFound();
  const hasOthers = sql<boolean>`exists (
    select 1
    from ${webauthnCredentials}
    where ${webauthnCredentials.userId} = ${user.id}
  )`;
  await whileSignedIn(
    db.batch([
      db.delete(webauthnCredentials).where(isKey),
      recordAuditIfChanged(ctx, {
        kind: "security_key.removed",
        ownerId: user.id,
        target: key.name,
      }),
      flagFactors(ctx, user, { hasWebauthn: hasOthers }),
      ...endSessionStatements(db, user.id, session),
    ]),
  );
}

/** Begins the second step of a sign-in by a key: what the browser asks it for. */
export async function startWebauthnSignIn(
  ctx: Ctx,
  user: User,
  pending: PendingSignIn,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const { generateAuthenticationOptions } = await load();
  const keys = await listWebauthnKeys(ctx, user);
  const options = await generateAuthenticationOptions({
    rpID: relyingParty(ctx).id,
    allowCredentials: keys.map(({ credentialId: id, transports }) => ({
      id,
      transports: JSON.parse(transports) as string[],
    })),
    userVerification: "discouraged",
  });
  await ctx.db
    .update(pendingSignIns)
    .set({ webauthnChallenge: options.challenge })
    .where(eq(pendingSignIns.secretHash, pending.secretHash));
  return options;
}

/**
 * Checks what the browser got from a key of a user who signs in. The caller ends the sign-in under
 * way, and with it its challenge.
 *
 * @throws Failure `invalid` for an answer that does not fit what was asked, and for a key of
 *   somebody else.
 */
export async function verifyWebauthnSignIn(
  ctx: Ctx,
  user: User,
  pending: PendingSignIn,
  response: string,
): Promise<void> {
  const { webauthnChallenge: expectedChallenge } = pending;
  if (expectedChallenge === null) throw refused();
  const answer = await refuseThrown(async () => {
    const parsed = JSON.parse(response) as AuthenticationResponseJSON;
    if (typeof parsed.id !== "string") throw refused();
    return parsed;
  });
  const isKey = and(
    eq(webauthnCredentials.userId, user.id),
    eq(webauthnCredentials.credentialId, answer.id),
  );
  const [key] = await ctx.db.select().from(webauthnCredentials).where(isKey);
  if (!key) throw refused();
  const { verifyAuthenticationResponse } = await load();
  const { id: expectedRPID, origin: expectedOrigin } = relyingParty(ctx);
  const { verified, authenticationInfo } = await refuseThrown(() =>
    verifyAuthenticationResponse({
      response: answer,
      expectedChallenge,
      expectedOrigin,
      expectedRPID,
      credential: toCredential(key),
      requireUserVerification: false,
    }),
  );
  if (!verified) throw refused();
  await ctx.db
    .update(webauthnCredentials)
    .set({ counter: authenticationInfo.newCounter, lastUsedAt: ctx.now })
    .where(isKey);
}

function toCredential({ credentialId: id, publicKey, counter }: WebauthnCredential) {
  const bytes = parseBase64Url(publicKey);
  if (!bytes) throw new Error("a stored public key is not base64url");
  return { id, publicKey: bytes, counter };
}

/** The library throws for whatever does not fit, and says so in its own words. */
async function refuseThrown<T>(verify: () => Promise<T>): Promise<T> {
  try {
    return await verify();
  } catch {
    throw refused();
  }
}

const refused = () => invalid("The key was not accepted. Try again.");
