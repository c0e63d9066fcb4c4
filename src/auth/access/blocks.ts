import { and, count, desc, eq, sql, type SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import { columnsOf, isViolation, onlyWhile, type Database } from "../../db/db.ts";
import { type Params, prepareAll } from "../../db/prepared.ts";
import { blocks, users } from "../../db/schema/index.ts";
import { forbidden, type Failure } from "../../lib/failure.ts";
import { isMemberOf } from "./organizations.ts";

const blockedUsers = alias(users, "blocked");

// A blocked user reads what they could read before, and does nothing that reaches the blocker: no
// follow, star, watch, fork, comment, reaction, role or assignment. The rule has three forms:
// `requireNotBlocked` for a pair at hand, `unlessBlocked` for a value that a statement writes, and
// the conditions themselves for lists.

/**
 * The condition that one of some accounts blocks a user. Administrators of the site are not
 * hindered by a block.
 *
 * @param userId     A value, or a column of the enclosing query.
 * @param blockerIds Those whom the action of the user reaches: the owner of a repository, the
 *   author of an issue.
 */
export const isBlockedBy = (userId: SQL, ...blockerIds: readonly SQL[]): SQL => sql`exists (
  select 1 from ${blocks} join ${users} ${blockedUsers} on ${blockedUsers.id} = ${blocks.blockedId}
  where ${blocks.blockedId} = ${userId}
    and ${blocks.blockerId} in (${sql.join([...blockerIds], sql`, `)})
    and not ${blockedUsers.isAdmin}
)`;

/**
 * The condition that one of two accounts blocks the other: for what ties both, like a follow or a
 * collaboration.
 */
export const isBlockBetween = (oneId: SQL, otherId: SQL): SQL =>
  sql`(${isBlockedBy(oneId, otherId)} or ${isBlockedBy(otherId, oneId)})`;

/**
 * Refuses what a block forbids, before anything is written.
 *
 * The block may be made a moment later: a write that must never pass one carries the condition
 * itself, by `unlessBlocked`.
 *
 * @param isBlocked `isBlockedBy` or `isBlockBetween`.
 * @throws Failure `forbidden`.
 */
export async function requireNotBlocked(db: Database, isBlocked: SQL): Promise<void> {
  const found = await db.get<{ found: number }>(sql`select ${isBlocked} as found`);
  if (found?.found === 1) throw blockedFailure();
}

/**
 * A value that is written only while a block does not forbid it; otherwise the batch is rolled
 * back.
 */
export const unlessBlocked = <T>(isBlocked: SQL, value: T | SQL<T>): SQL<T> =>
  onlyWhile(sql`not ${isBlocked}`, value);

/**
 * The error of a failed batch for the caller: the refusal if `unlessBlocked` kept a value out of a
 * column, otherwise the error itself.
 *
 * @param column The column with the value, as `table.column`.
 */
export const asBlocked = (error: unknown, column: string): unknown =>
  isViolation(error, "NOT NULL", column) ? blockedFailure() : error;

const blockedFailure = (): Failure => forbidden("user is blocked");

/**
 * Inserts a block, unless it exists or the user is a member of the organization that blocks.
 *
 * The batch fails with a violation of `UNIQUE` or `NOT NULL` then.
 */
export const insertBlock = (
  db: Database,
  block: { blockerId: number; blockedId: number; note: string; createdAt: number },
) =>
  db.insert(blocks).values({
    ...block,
    blockedId: onlyWhile(
      sql`not ${isMemberOf(sql`${block.blockerId}`, sql`${block.blockedId}`)}`,
      block.blockedId,
    ),
  });

/** Deletes a block. */
export const removeBlock = (db: Database, blockerId: number | SQL, blockedId: number | SQL) =>
  db
    .delete(blocks)
    .where(and(eq(blocks.blockerId, blockerId), eq(blocks.blockedId, blockedId)))
    .returning({ blockedId: blocks.blockedId });

/** Selects the ids of the users that an account blocks. */
export const blockedUserIds = (blockerId: number | SQL): SQL => sql`(
  select ${blocks.blockedId} from ${blocks} where ${blocks.blockerId} = ${blockerId}
)`;

/**
 * Selects a page of the users that an account blocks, latest block first, and their total count.
 */
export const selectBlockedPage = prepareAll(
  (db, p: Params<{ blockerId: number; size: number; offset: number }>) => {
    const isOfBlocker = eq(blocks.blockerId, p.blockerId);
    return {
      rows: db
        .select({ user: columnsOf(users, "u"), note: blocks.note })
        .from(blocks)
        .innerJoin(users, eq(users.id, blocks.blockedId))
        .where(isOfBlocker)
        .orderBy(desc(blocks.createdAt), desc(blocks.blockedId))
        .limit(p.size)
        .offset(p.offset),
      counted: db
        .select({ total: count().as("total") })
        .from(blocks)
        .where(isOfBlocker),
    };
  },
);
