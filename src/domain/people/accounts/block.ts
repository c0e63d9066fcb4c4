import { and, eq, or, sql, type SQL } from "drizzle-orm";

import { insertBlock, removeBlock, selectBlockedPage } from "../../../auth/access/blocks.ts";
import { deleteCollaborationsBetween } from "../../../auth/access/collaborators.ts";
import { deleteTransfersBetween } from "../../../auth/access/transfers.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { isViolation } from "../../../db/db.ts";
import { follows, repositories, stars, watches, type User } from "../../../db/schema/index.ts";
import { record, recordIfChanged } from "../../../events/record.ts";
import { malformed, notFound, type Failure } from "../../../lib/failure.ts";
import { recordAudit, recordAuditIfChanged } from "../audit/record-audit.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";
import { findSeenAccount } from "./find-account.ts";
import { findAccountIn } from "./list-accounts.ts";

/**
 * Blocks a user, and undoes what ties the two accounts, in both directions: follows, stars and
 * watches of each other's repositories, roles on them, and pending transfers between the two.
 *
 * @param blocker The caller, or an organization that the caller owns.
 * @throws Failure `malformed` for an organization, for the caller, for a member of the organization
 * that blocks, and for a user who is blocked already.
 */
export async function createBlock(
  ctx: Ctx,
  blocker: User,
  blocked: User,
  note: string,
): Promise<void> {
  if (blocked.kind !== "user") throw malformed("cannot block an organization");
  if (blocked.id === ctx.actor.user?.id || blocked.id === blocker.id) throw unblockable();
  const { db, now } = ctx;
  const pair = { blockerId: blocker.id, blockedId: blocked.id };
  try {
    await db.batch([
      insertBlock(db, { ...pair, note, createdAt: now }),
      record(ctx, { type: "block.created", ownerId: blocker.id, userId: blocked.id }),
      // SECURITY: without the user, who would read it, too.
      recordAudit(ctx, { kind: "user.blocked", ownerId: blocker.id, target: blocked.name }),
      db.delete(follows).where(or(isFollow(blocker, blocked), isFollow(blocked, blocker))),
      ...[stars, watches].flatMap((table) =>
        [
          [blocker, blocked],
          [blocked, blocker],
        ].map(([user, owner]) =>
          db
            .delete(table)
            .where(and(eq(table.userId, user?.id ?? 0), sql`${table.repoId} in ${ownedBy(owner)}`)),
        ),
      ),
      deleteCollaborationsBetween(db, blocker.id, blocked.id),
      deleteTransfersBetween(db, blocker.id, blocked.id),
    ]);
  } catch (error) {
    const isRefused =
      isViolation(error, "UNIQUE", "blocks.blocker_id") ||
      isViolation(error, "NOT NULL", "blocks.blocked_id");
    throw isRefused ? unblockable() : error;
  }
}

const unblockable = (): Failure => malformed("cannot block the user");

const isFollow = (follower: User, followed: User) =>
  and(eq(follows.followerId, follower.id), eq(follows.followedId, followed.id));

const ownedBy = (owner: User | undefined): SQL => sql`(
  select ${repositories.id} from ${repositories} where ${repositories.ownerId} = ${owner?.id ?? 0}
)`;

/**
 * Ends the block of a user by name. What it undid stays undone.
 *
 * @throws Failure `not_found` for an unknown name, `malformed` if the user is not blocked.
 */
export async function deleteBlock(ctx: Ctx, blocker: User, name: string): Promise<void> {
  // A blocked user is found even if the account has become private.
  const [found, seen] = await Promise.all([
    findBlocked(ctx, blocker, name),
    findSeenAccount(ctx, name),
  ]);
  const blocked = found ?? seen;
  if (!blocked) throw notFound();
  const [removed] = await ctx.db.batch([
    removeBlock(ctx.db, blocker.id, blocked.id),
    recordIfChanged(ctx, { type: "block.deleted", ownerId: blocker.id, userId: blocked.id }),
    recordAuditIfChanged(ctx, {
      kind: "user.unblocked",
      ownerId: blocker.id,
      target: blocked.name,
    }),
  ]);
  if (removed.length === 0) throw malformed("cannot unblock the user");
}

/**
 * Finds a user that an account blocks, even if the user has become invisible to the caller; or
 * undefined.
 */
export const findBlocked = (ctx: Ctx, blocker: User, name: string): Promise<User | undefined> =>
  findAccountIn(ctx, { blockedBy: blocker.id }, name);

/**
 * Lists the users that an account blocks, latest block first, including those that have become
 * invisible to the caller: otherwise the block could not be ended.
 */
export async function listBlocked(ctx: Ctx, blocker: User, slice: Slice): Promise<Listed<User>> {
  const { items, total } = await listBlocks(ctx, blocker, slice);
  return { items: items.map(({ user }) => user), total };
}

/** The user of a block, and why they are blocked, for the blocker alone. */
export interface BlockEntry {
  readonly user: User;
  readonly note: string;
}

/** The same with the notes of the blocks. */
export async function listBlocks(
  ctx: Ctx,
  blocker: User,
  { size, offset }: Slice,
): Promise<Listed<BlockEntry>> {
  return toListedPage(
    await batch(ctx.db, selectBlockedPage(ctx.db, { blockerId: blocker.id, size, offset })),
  );
}
