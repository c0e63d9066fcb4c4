import { and, eq, isNull, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { isViolation, onlyWhile } from "../../../db/db.ts";
import {
  publicKeys,
  type PublicKey,
  type Repository,
  type User,
} from "../../../db/schema/index.ts";
import { record, recordIfChanged } from "../../../events/record.ts";
import { Failure, forbidden, invalid, notFound } from "../../../lib/failure.ts";
import { only } from "../../../lib/only.ts";
import { recordAudit, recordAuditIfChanged } from "../audit/record-audit.ts";
import { parseSshKey } from "./parse-ssh-key.ts";

/** Adds an SSH key to a user's account. */
export const addUserKey = (ctx: Ctx, user: User, title: string, key: string) =>
  addKey(ctx, { user, repo: undefined, title, key, isReadOnly: false });

/** Adds a deploy key to a repository. */
export const addDeployKey = (
  ctx: Ctx,
  user: User,
  repo: Repository,
  input: { title: string; key: string; isReadOnly: boolean },
) => addKey(ctx, { ...input, user, repo });

interface NewKey {
  user: User;
  repo: Repository | undefined;
  title: string;
  key: string;
  isReadOnly: boolean;
}

/**
 * Adds a key. A key authenticates either one account or any number of repositories, never both: its
 * identity must be unambiguous.
 *
 * @throws Failure `invalid` for a key that is not accepted, and for a key or title that is in use.
 */
async function addKey(ctx: Ctx, input: NewKey): Promise<PublicKey> {
  const { user, repo, title, isReadOnly } = input;
  const { normalised, fingerprint } = parse(input.key);
  const isUsedOtherwise = repo ? isNull(publicKeys.repoId) : sql`${publicKeys.repoId} is not null`;
  const isFree = sql`not exists (
    select 1
    from ${publicKeys}
    where ${publicKeys.fingerprint} = ${fingerprint} and ${isUsedOtherwise}
  )`;
  // The same key under the same title is refused as the same key.
  const isTitleFree = sql`not exists (
    select 1
    from ${publicKeys}
    where ${publicKeys.userId} = ${user.id}
      and ${publicKeys.repoId} is null
      and ${publicKeys.title} = ${title}
      and ${publicKeys.fingerprint} <> ${fingerprint}
  )`;
  try {
    const [added] = await ctx.db.batch([
      ctx.db
        .insert(publicKeys)
        .values({
          userId: user.id,
          repoId: repo?.id ?? null,
          title: repo ? title : onlyWhile(isTitleFree, title),
          content: onlyWhile(isFree, normalised),
          fingerprint,
          isReadOnly,
          createdAt: ctx.now,
        })
        .returning(),
      record(ctx, {
        type: "public_key.added",
        ownerId: repo?.ownerId ?? user.id,
        fingerprint,
        ...(repo && { repoId: repo.id }),
      }),
      recordAudit(
        ctx,
        repo
          ? {
              kind: "deploy_key.added",
              ownerId: repo.ownerId,
              repoId: repo.id,
              target: fingerprint,
              details: { title, isReadOnly },
            }
          : {
              kind: "public_key.added",
              ownerId: user.id,
              target: fingerprint,
              details: { title },
            },
      ),
    ]);
    return only(added);
  } catch (error) {
    if (isViolation(error, "NOT NULL", "public_keys.content")) {
      throw invalid(`Key content has been used as ${repo ? "non-deploy" : "deploy"} key`);
    }
    const isTitleUsed =
      isViolation(error, "UNIQUE", "public_keys.title") ||
      isViolation(error, "NOT NULL", "public_keys.title");
    if (isTitleUsed) throw invalid("Key title has been used");
    if (isViolation(error, "UNIQUE", "public_keys")) {
      throw invalid(`Key content has been used as ${repo ? "deploy" : "non-deploy"} key`);
    }
    throw error;
  }
}

function parse(key: string) {
  try {
    return parseSshKey(key);
  } catch (error) {
    throw error instanceof Failure ? invalid(`Invalid key content: ${error.message}`) : error;
  }
}

/**
 * Removes an SSH key of `user`'s account.
 *
 * @throws Failure `not_found` for an id that is not a user's key, `forbidden` for another user's
 *   key.
 */
export async function removeUserKey(ctx: Ctx, user: User, id: number): Promise<void> {
  const isThis = and(eq(publicKeys.id, id), isNull(publicKeys.repoId));
  const [key] = await ctx.db.select().from(publicKeys).where(isThis);
  if (!key) throw notFound();
  if (key.userId !== user.id) throw forbidden("You do not have access to this key");
  await remove(ctx, key, user.id);
}

/**
 * Removes a deploy key of `repo`.
 *
 * @throws Failure `not_found`, also for another repository's key.
 */
export async function removeDeployKey(ctx: Ctx, repo: Repository, id: number): Promise<void> {
  const isThis = and(eq(publicKeys.id, id), eq(publicKeys.repoId, repo.id));
  const [key] = await ctx.db.select().from(publicKeys).where(isThis);
  if (!key) throw notFound();
  await remove(ctx, key, repo.ownerId);
}

async function remove(ctx: Ctx, key: PublicKey, ownerId: number): Promise<void> {
  const { fingerprint, repoId, title } = key;
  const [removed] = await ctx.db.batch([
    ctx.db.delete(publicKeys).where(eq(publicKeys.id, key.id)).returning({ id: publicKeys.id }),
    recordIfChanged(ctx, {
      type: "public_key.removed",
      ownerId,
      fingerprint,
      ...(repoId !== null && { repoId }),
    }),
    recordAuditIfChanged(ctx, {
      kind: repoId === null ? "public_key.removed" : "deploy_key.removed",
      ownerId,
      repoId: repoId ?? undefined,
      target: fingerprint,
      details: { title },
    }),
  ]);
  // Another request has removed it meanwhile.
  if (removed.length === 0) throw notFound();
}
