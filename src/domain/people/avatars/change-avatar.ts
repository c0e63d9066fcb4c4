import { and, eq, gt, isNull, ne, sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { avatarImages, repositories, type User, users } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { conflict } from "../../../lib/failure.ts";
import { formatHex } from "../../../lib/hex.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { recordAuditIfChanged } from "../audit/record-audit.ts";
import { type Image, readImage } from "./read-image.ts";

/** The owner of an avatar: a user, an organization, or a repository. */
export type AvatarOwner =
  | { readonly kind: "account"; readonly account: User }
  | { readonly kind: "repository"; readonly repo: RepositoryContext };

/** How long an image may take from its upload until it is in use, in milliseconds. */
const UPLOAD_LIFE_MS = 60 * 60 * 1000;

/** How often an upload is repeated whose image lost its last other reference meanwhile. */
const ATTEMPTS_MAX = 3;

/**
 * Sets an avatar. The same image again changes nothing.
 *
 * The image's row is written before its file, and marked as in use in the batch that refers to it.
 * If a Worker dies in between, a job deletes both.
 *
 * Cost: two D1 batches, and one bucket write unless the image is stored already.
 *
 * @param file The bytes of the image, or these in base64.
 * @throws Failure `malformed` if it is not base64; `invalid` if it is no image, or is too large.
 */
export async function setAvatar(
  ctx: Ctx,
  owner: AvatarOwner,
  file: string | Uint8Array<ArrayBuffer>,
): Promise<void> {
  const image = readImage(file);
  const hash = formatHex(new Uint8Array(await crypto.subtle.digest("SHA-256", image.bytes)));
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const uploadId = await storeImage(ctx, hash, image);
    if (await referTo(ctx, owner, hash, uploadId)) return;
  }
  throw conflict("the avatar changed meanwhile: try again");
}

/** Removes an avatar, so that the generated one is shown. Idempotent. */
export async function deleteAvatar(ctx: Ctx, owner: AvatarOwner): Promise<void> {
  await ctx.db.batch(changeStatements(ctx, owner, "", sql`1`));
}

const isInUse = isNull(avatarImages.expiresAt);

/** Whether an image is in use, and so is stored. */
const isStored = (hash: string): SQL => sql`exists (
  select 1
  from ${avatarImages}
  where ${and(eq(avatarImages.hash, hash), isInUse)}
)`;

/**
 * Stores an image unless it is stored. @returns The id of the upload; undefined if it was stored
 * before.
 */
async function storeImage(ctx: Ctx, hash: string, image: Image): Promise<string | undefined> {
  const { db, now } = ctx;
  const uploadId = crypto.randomUUID();
  const { contentType } = image;
  const row = { uploadId, hash, contentType, expiresAt: now + UPLOAD_LIFE_MS };
  const [known] = await db.batch([
    db
      .select({ hash: avatarImages.hash })
      .from(avatarImages)
      .where(and(eq(avatarImages.hash, hash), isInUse)),
    insertSelect(db, avatarImages, row, sql`where not ${isStored(hash)}`),
  ]);
  if (known.length > 0) return undefined;
  await ctx.git.avatarFiles.put({ hash, uploadId }, image.bytes);
  return uploadId;
}

/**
 * Refers to a stored image. @returns False if it is not stored any more; nothing is changed then.
 */
async function referTo(
  ctx: Ctx,
  owner: AvatarOwner,
  hash: string,
  uploadId: string | undefined,
): Promise<boolean> {
  const { db } = ctx;
  // By the database's clock when the statement runs.
  const isUploaded = and(
    eq(avatarImages.uploadId, uploadId ?? ""),
    gt(avatarImages.expiresAt, sql`unixepoch() * 1000`),
  );
  const isAvailable = sql`(
    ${isStored(hash)} or exists (
      select 1
      from ${avatarImages}
      where ${isUploaded}
    )
  )`;
  const { stored } = await batch(db, {
    change: changeStatements(ctx, owner, hash, isAvailable),
    // Not if the owner was deleted meanwhile. Of two concurrent uploads of one image, the first is
    // used, and a job deletes the other.
    image: db
      .update(avatarImages)
      .set({ expiresAt: null })
      .where(allOf(isUploaded, hasAvatar(owner, hash), sql`not ${isStored(hash)}`)),
    stored: db
      .select({ hash: avatarImages.hash })
      .from(avatarImages)
      .where(and(eq(avatarImages.hash, hash), isInUse)),
  });
  return stored.length > 0;
}

function hasAvatar(owner: AvatarOwner, hash: string): SQL {
  const [table, id] =
    owner.kind === "account" ? [users, owner.account.id] : [repositories, owner.repo.row.id];
  return sql`exists (
    select 1
    from ${table}
    where ${and(eq(table.id, id), eq(table.avatarHash, hash))}
  )`;
}

/** The statements that set the hash of an avatar, and record that it changed. */
function changeStatements(ctx: Ctx, owner: AvatarOwner, avatarHash: string, condition: SQL) {
  const { db, now: updatedAt } = ctx;
  const changed = ["avatar"];
  if (owner.kind === "account") {
    const { account } = owner;
    const isChanged = and(eq(users.id, account.id), ne(users.avatarHash, avatarHash), condition);
    return [
      db.update(users).set({ avatarHash, updatedAt }).where(isChanged),
      account.kind === "organization"
        ? recordIfChanged(ctx, { type: "organization.avatar_changed", ownerId: account.id })
        : recordIfChanged(ctx, { type: "user.edited", ownerId: account.id, changed }),
      recordAuditIfChanged(ctx, {
        kind: account.kind === "organization" ? "organization.edited" : "user.edited",
        ownerId: account.id,
        details: { changed },
      }),
    ] as const;
  }
  const { row } = owner.repo;
  const { id, ownerId } = row;
  return [
    db
      .update(repositories)
      .set({ avatarHash, updatedAt })
      .where(and(eq(repositories.id, id), ne(repositories.avatarHash, avatarHash), condition)),
    recordIfChanged(ctx, {
      type: "repository.edited",
      repoId: id,
      ownerId,
      changed,
    }),
    recordAuditIfChanged(ctx, {
      kind: "repository.edited",
      repoId: id,
      ownerId,
      details: { changed },
    }),
  ] as const;
}
