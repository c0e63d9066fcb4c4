import { and, asc, count, eq, isNull } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import {
  publicKeys,
  type PublicKey,
  type Repository,
  type User,
} from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";

/** Restricts a list of keys. */
export interface KeyFilter {
  /** All keys if it is empty. */
  fingerprint: string;
  id?: number | undefined;
}

/** Lists a user's SSH keys, oldest first. */
export const listUserKeys = (ctx: Ctx, user: Pick<User, "id">, filter: KeyFilter, slice: Slice) =>
  listKeys(ctx, { userId: user.id }, filter, slice);

/**
 * Finds an SSH key of a user's account.
 *
 * @throws Failure `not_found`, also for another user's key.
 */
export const findUserKey = (ctx: Ctx, user: User, id: number): Promise<PublicKey> =>
  findKey(ctx, { userId: user.id }, id);

/**
 * Finds a deploy key of a repository.
 *
 * @throws Failure `not_found`, also for another repository's key.
 */
export const findDeployKey = (ctx: Ctx, repo: Repository, id: number): Promise<PublicKey> =>
  findKey(ctx, { repoId: repo.id }, id);

async function findKey({ db }: Ctx, owner: KeyOwner, id: number): Promise<PublicKey> {
  const listed = { ...owner, id, fingerprint: undefined };
  const [key] = await keysListed(db, { ...listed, size: 1, offset: 0 });
  if (!key) throw notFound();
  return key;
}

/** Lists a repository's deploy keys, oldest first. */
export const listDeployKeys = (ctx: Ctx, repo: Repository, filter: KeyFilter, slice: Slice) =>
  listKeys(ctx, { repoId: repo.id }, filter, slice);

async function listKeys(
  ctx: Ctx,
  owner: KeyOwner,
  { fingerprint, id }: KeyFilter,
  { size, offset }: Slice,
): Promise<Listed<PublicKey>> {
  const listed = { ...owner, id, fingerprint: fingerprint === "" ? undefined : fingerprint };
  return toListedPage(
    await batch(ctx.db, {
      rows: keysListed(ctx.db, { ...listed, size, offset }),
      counted: keyCount(ctx.db, listed),
    }),
  );
}

/** Whose keys are listed: one of the two. */
interface KeyOwner {
  readonly userId?: number;
  readonly repoId?: number;
}

interface ListedKeys extends KeyOwner {
  readonly id: number | undefined;
  readonly fingerprint: string | undefined;
}

const isListed = ({ userId, repoId, id, fingerprint }: Params<ListedKeys>) =>
  and(
    userId && eq(publicKeys.userId, userId),
    repoId ? eq(publicKeys.repoId, repoId) : isNull(publicKeys.repoId),
    fingerprint && eq(publicKeys.fingerprint, fingerprint),
    id && eq(publicKeys.id, id),
  );

const keysListed = prepare((db, p: Params<ListedKeys & Slice>) =>
  db
    .select()
    .from(publicKeys)
    .where(isListed(p))
    .orderBy(asc(publicKeys.id))
    .limit(p.size)
    .offset(p.offset),
);

const keyCount = prepare((db, p: Params<ListedKeys>) =>
  db
    .select({ total: count().as("total") })
    .from(publicKeys)
    .where(isListed(p)),
);
