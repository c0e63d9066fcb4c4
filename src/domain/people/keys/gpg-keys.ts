import { and, asc, type Column, count, eq, or, sql, type SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { isViolation, onlyWhile } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { emailAddresses, gpgKeys, type GpgKey, type User } from "../../../db/schema/index.ts";
import { record, recordIfChanged } from "../../../events/record.ts";
import { forbidden, invalid, notFound } from "../../../lib/failure.ts";
import { only } from "../../../lib/only.ts";
import { recordAudit, recordAuditIfChanged } from "../audit/record-audit.ts";
import type { Listed, Slice } from "../../slice.ts";
import { normalizeGpgId } from "./fingerprint.ts";
import { parseGpgKeys } from "./parse-gpg-key.ts";
import type { GpgSubkey, ParsedGpgKey } from "./read-gpg-key.ts";
import { tokensToSign } from "./gpg-key-token.ts";
import { verifyGpgSignature } from "./verify-gpg-signature.ts";

/** A key, its subkeys, and the email addresses that its account has confirmed. */
export interface GpgKeyEntry {
  key: GpgKey;
  subkeys: GpgKey[];
  confirmedEmails: Set<string>;
}

const isPrimary = eq(gpgKeys.primaryKeyId, "");

/** Lists a user's keys with their subkeys, oldest first. */
export async function listGpgKeys(
  ctx: Ctx,
  user: User,
  { size, offset }: Slice,
): Promise<Listed<GpgKeyEntry>> {
  const ofUser = { userId: user.id };
  const { keys, emails, counted } = await batch(ctx.db, {
    keys: keysOfPage(ctx.db, { ...ofUser, size, offset }),
    emails: selectConfirmedEmails(ctx.db, ofUser),
    counted: keyCount(ctx.db, ofUser),
  });
  return { items: toEntries(keys, emails), total: only(counted).total };
}

interface OfUser {
  readonly userId: number;
}

const isPrimaryOfUser = ({ userId }: Params<OfUser>) => and(eq(gpgKeys.userId, userId), isPrimary);

const keysOfPage = prepare((db, p: Params<OfUser & Slice>) => {
  const page = db
    .select({ keyId: gpgKeys.keyId })
    .from(gpgKeys)
    .where(isPrimaryOfUser(p))
    .orderBy(asc(gpgKeys.id))
    .limit(p.size)
    .offset(p.offset);
  const isOfPage = or(sql`${gpgKeys.keyId} in ${page}`, sql`${gpgKeys.primaryKeyId} in ${page}`);
  return db
    .select()
    .from(gpgKeys)
    .where(and(eq(gpgKeys.userId, p.userId), isOfPage))
    .orderBy(asc(gpgKeys.id));
});

const keyCount = prepare((db, p: Params<OfUser>) =>
  db
    .select({ total: count().as("total") })
    .from(gpgKeys)
    .where(isPrimaryOfUser(p)),
);

const selectConfirmedEmails = prepare((db, p: Params<OfUser>) =>
  db
    .select({ email: emailAddresses.lowerEmail })
    .from(emailAddresses)
    .where(and(eq(emailAddresses.userId, p.userId), emailAddresses.isActivated)),
);

/**
 * Finds a user's key.
 *
 * @throws Failure `not_found`, also for another user's key.
 */
export const findGpgKey = (ctx: Ctx, user: User, id: number): Promise<GpgKeyEntry> =>
  findEntry(ctx, user, { id });

/** A name for a key of a user: its row, its id, or the id of the key or of one of its subkeys. */
type KeyName =
  | { readonly id: number }
  | { readonly keyId: string }
  | { readonly keyOrSubkeyId: string };

async function findEntry(ctx: Ctx, user: User, name: KeyName): Promise<GpgKeyEntry> {
  const { keys, emails } = await batch(ctx.db, {
    keys: keyWithSubkeys(ctx.db, { userId: user.id, name }),
    emails: selectConfirmedEmails(ctx.db, { userId: user.id }),
  });
  const [entry] = toEntries(keys, emails);
  if (!entry) throw notFound();
  return entry;
}

const keyWithSubkeys = prepare((db, p: Params<OfUser & { name: KeyName }>) => {
  const isThis = and(isPrimaryOfUser(p), isNamed(p.userId, p.name));
  const primary = db.select({ keyId: gpgKeys.keyId }).from(gpgKeys).where(isThis);
  const isOfKey = or(
    isThis,
    and(eq(gpgKeys.userId, p.userId), sql`${gpgKeys.primaryKeyId} in ${primary}`),
  );
  return db.select().from(gpgKeys).where(isOfKey).orderBy(asc(gpgKeys.id));
});

const named = alias(gpgKeys, "named");

function isNamed(userId: SQL, name: Params<KeyName>): SQL {
  if ("id" in name) return eq(gpgKeys.id, name.id);
  if ("keyId" in name) return eq(gpgKeys.keyId, name.keyId);
  return sql`${gpgKeys.keyId} = coalesce(
    (
      select nullif(${named.primaryKeyId}, '')
      from ${gpgKeys} ${named}
      where ${named.userId} = ${userId} and ${named.keyId} = ${name.keyOrSubkeyId}
    ),
    ${name.keyOrSubkeyId}
  )`;
}

function toEntries(rows: GpgKey[], emails: { email: string }[]): GpgKeyEntry[] {
  const confirmedEmails = new Set(emails.map(({ email }) => email));
  return rows
    .filter((row) => row.primaryKeyId === "")
    .map((key) => ({
      key,
      subkeys: rows.filter((row) => row.primaryKeyId === key.keyId),
      confirmedEmails,
    }));
}

/**
 * Adds the keys of an armored text to a user. Several keys in one text are all added or none.
 *
 * A key is verified if `signature` signs the token of `gpg_key_token`. It is trusted with
 * signatures of commits also if it names an email address that the account has confirmed. Other
 * keys are stored too. A key can be trusted for one account only. An untrusted copy in another
 * account does not stop the owner from adding the key, and a trusted copy does not stop the owner
 * from proving it.
 *
 * @returns The first key of the text.
 * @throws Failure `invalid` for a text without a public key, a key that the account already has or
 * that another account is trusted with, and a signature that does not match.
 */
export async function addGpgKeys(
  ctx: Ctx,
  user: User,
  armored: string,
  signature: string | undefined,
): Promise<GpgKeyEntry> {
  const keys = await parseGpgKeys(armored, ctx.now);
  const [first] = keys;
  if (!first) throw invalid("there is no GPG key in the text");
  const isProven = signature !== undefined;
  if (isProven && !(await signsToken(ctx, user, first.armored, signature))) {
    throw invalid("the signature does not match the token of /user/gpg_key_token");
  }
  const rows = keys.flatMap((key, at) => toRows(ctx, user, key, isProven && at === 0));
  const isTaken = (isProven ? isProvenElsewhere : isTrustedElsewhere)(user, rows);
  const [head, ...tail] = rows.map((row) =>
    ctx.db.insert(gpgKeys).values({
      ...row,
      keyId: onlyWhile(sql`not ${isTaken}`, row.keyId),
    }),
  );
  if (!head) throw invalid("there is no GPG key in the text");
  try {
    await ctx.db.batch([
      head,
      ...tail,
      record(ctx, { type: "gpg_key.added", ownerId: user.id, keyId: first.keyId }),
      recordAudit(ctx, { kind: "gpg_key.added", ownerId: user.id, target: first.keyId }),
    ]);
  } catch (error) {
    if (
      isViolation(error, "UNIQUE", "gpg_keys") ||
      isViolation(error, "NOT NULL", "gpg_keys.key_id")
    ) {
      throw invalid(IN_USE);
    }
    throw error;
  }
  return findEntry(ctx, user, { keyId: first.keyId });
}

const IN_USE = "a key with the same id is already in use";

type Named = Pick<GpgKey, "keyId">;

const others = alias(gpgKeys, "others");

/** The condition that another account is trusted with one of the keys. */
const isTrustedElsewhere = (user: User, keys: readonly Named[]): SQL =>
  isElsewhere(user, keys, isTrusted(others));

/**
 * The condition that another account has proven possession of one of the keys.
 *
 * SECURITY: only another proof blocks a proof. Somebody else may have claimed an email address
 * before its owner did, but can't have made a signature.
 */
const isProvenElsewhere = (user: User, keys: readonly Named[]): SQL =>
  isElsewhere(user, keys, sql`${others.isProven}`);

function isElsewhere(user: User, keys: readonly Named[], condition: SQL): SQL {
  const list = JSON.stringify(keys.map(({ keyId }) => keyId));
  return sql`exists (
    select 1
    from ${gpgKeys} ${others}
    where ${others.keyId} in (select value from json_each(${list}))
      and ${others.userId} <> ${user.id}
      and ${condition}
  )`;
}

const whole = alias(gpgKeys, "whole");

type TrustColumns = Readonly<Record<"isProven" | "userId" | "keyId" | "primaryKeyId", Column>>;

/**
 * The condition that a row of `gpg_keys`, by this name or as an alias, is trusted to be its
 * account's: proven, or with a confirmed email address.
 */
export const isTrusted = (keys: TrustColumns): SQL => sql`(
  ${keys.isProven}
  or exists (
    select 1
    from ${gpgKeys} ${whole}
    join json_each(${whole.emails}) email
    join ${emailAddresses} on ${emailAddresses.lowerEmail} = email.value
      and ${emailAddresses.userId} = ${keys.userId}
      and ${emailAddresses.isActivated}
    where ${whole.userId} = ${keys.userId}
      and ${whole.keyId} in (${keys.keyId}, ${keys.primaryKeyId})
  )
)`;

function toRows(ctx: Ctx, user: User, key: ParsedGpgKey, isProven: boolean) {
  const row = (each: GpgSubkey, primaryKeyId: string) => ({
    userId: user.id,
    primaryKeyId,
    keyId: each.keyId,
    fingerprint: each.fingerprint,
    publicKey: each.publicKeyBase64,
    armored: primaryKeyId === "" ? key.armored : "",
    emails: each.emails,
    canSign: each.canSign,
    canCertify: each.canCertify,
    canEncryptComms: each.canEncryptComms,
    canEncryptStorage: each.canEncryptStorage,
    isProven,
    isRevoked: each.isRevoked,
    createdAt: each.createdAt,
    expiresAt: each.expiresAt,
    addedAt: ctx.now,
  });
  return [row(key, ""), ...key.subkeys.map((subkey) => row(subkey, key.keyId))];
}

/**
 * Verifies a signature over the token and marks the key as proven to be the user's. Idempotent.
 *
 * @param keyId The id of the key or of one of its subkeys.
 * @throws Failure `not_found` for a key that the user does not have, `invalid` for a signature that
 * does not match and for a key that another account has proven to hold.
 */
export async function proveGpgKey(
  ctx: Ctx,
  user: User,
  keyId: string,
  signature: string,
): Promise<GpgKeyEntry> {
  const entry = await findEntry(ctx, user, { keyOrSubkeyId: normalizeGpgId(keyId) });
  if (!(await signsToken(ctx, user, entry.key.armored, signature))) {
    throw invalid("the signature does not match the token of /user/gpg_key_token");
  }
  const keys = [entry.key, ...entry.subkeys];
  const ids = JSON.stringify(keys.map(({ id }) => id));
  try {
    await ctx.db.batch([
      ctx.db
        .update(gpgKeys)
        .set({ isProven: onlyWhile(sql`not ${isProvenElsewhere(user, keys)}`, true) })
        .where(
          sql`${gpgKeys.id} in (select value from json_each(${ids})) and not ${gpgKeys.isProven}`,
        ),
      recordIfChanged(ctx, { type: "gpg_key.verified", ownerId: user.id, keyId: entry.key.keyId }),
      recordAuditIfChanged(ctx, {
        kind: "gpg_key.verified",
        ownerId: user.id,
        target: entry.key.keyId,
      }),
    ]);
  } catch (error) {
    if (isViolation(error, "NOT NULL", "gpg_keys.is_proven")) throw invalid(IN_USE);
    throw error;
  }
  return { ...entry, key: { ...entry.key, isProven: true } };
}

async function signsToken(ctx: Ctx, user: User, armored: string, signature: string) {
  for (const token of await tokensToSign(user, ctx.now)) {
    if (await verifyGpgSignature(armored, signature, token)) return true;
  }
  return false;
}

/**
 * Removes a key of `user` with its subkeys.
 *
 * @throws Failure `not_found` for an unknown id, `forbidden` for another user's key.
 */
export async function removeGpgKey(ctx: Ctx, user: User, id: number): Promise<void> {
  const [key] = await ctx.db
    .select()
    .from(gpgKeys)
    .where(and(eq(gpgKeys.id, id), isPrimary));
  if (!key) throw notFound();
  if (key.userId !== user.id) throw forbidden("You do not have access to this key");
  const isOfKey = or(eq(gpgKeys.keyId, key.keyId), eq(gpgKeys.primaryKeyId, key.keyId));
  const [removed] = await ctx.db.batch([
    ctx.db
      .delete(gpgKeys)
      .where(and(eq(gpgKeys.userId, user.id), isOfKey))
      .returning({ id: gpgKeys.id }),
    recordIfChanged(ctx, { type: "gpg_key.removed", ownerId: user.id, keyId: key.keyId }),
    recordAuditIfChanged(ctx, { kind: "gpg_key.removed", ownerId: user.id, target: key.keyId }),
  ]);
  // Another request has removed it meanwhile.
  if (removed.length === 0) throw notFound();
}
