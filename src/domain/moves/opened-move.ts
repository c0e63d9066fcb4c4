import { and, eq, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import type { Ctx } from "../../context.ts";
import { type Database, isViolation } from "../../db/db.ts";
import { moveTriggers } from "../../db/moves/move-triggers.ts";
import { type RepositoryMove, repositoryMoves } from "../../db/schema/index.ts";
import type { WorkBudget } from "../../lib/work-budget.ts";

/** A move on which a job works, with its lease. */
export interface OpenedMove {
  readonly ctx: Ctx;
  readonly directory: Database;
  readonly source: Database;
  readonly target: Database;
  readonly budget: WorkBudget;
  /** As it was stored last. */
  move: RepositoryMove;
  /** Whether this job has found no references that lead out of the network with foreign keys. */
  areReferencesFar?: boolean;
}

/** A job has lost the lease of its move, or the move has been cancelled: another job goes on. */
export class MoveLeaseLost extends Error {}

/** A move that can't go on. Its copy is removed. */
export class MoveFailed extends Error {}

/**
 * Stores what a step has reached, while the job has the lease and the move is in the state that the job knows.
 *
 * @throws MoveLeaseLost otherwise.
 */
export async function save(
  opened: OpenedMove,
  changes: Partial<typeof repositoryMoves.$inferInsert>,
): Promise<void> {
  opened.budget.consume(1);
  const [row] = await opened.directory
    .update(repositoryMoves)
    .set(changes)
    .where(isHeld(opened))
    .returning();
  if (!row) throw new MoveLeaseLost();
  opened.move = row;
}

/** Whether the job still works on the move. */
export const isHeld = ({ move: { id, fence, state } }: OpenedMove): SQL | undefined =>
  and(
    eq(repositoryMoves.id, id),
    eq(repositoryMoves.fence, fence),
    eq(repositoryMoves.state, state),
  );

/** The side of a database in a move: no row before it takes part, and after it. */
export const sideOf = (moveId: number): SQL => sql`from move_sides where move_id = ${moveId}`;

/**
 * Runs a batch that copies or removes rows of a move: what triggers maintain comes with the other rows, and rows may come before those that
 * they refer to.
 *
 * @param isCurrent Whether the batch is still to be: a value of a query, null if not.
 * @returns The results of the statements; undefined if the batch is not to be any more.
 */
export async function moveBatch(
  db: Database,
  moveId: number,
  isCurrent: SQL,
  statements: readonly SQL[],
): Promise<unknown[][] | undefined> {
  try {
    const results = await db.batch([
      db.textStatement(
        sql`insert into move_batches (move_id, is_current) values (${moveId}, ${isCurrent})`,
      ),
      db.textStatement(sql`pragma defer_foreign_keys = on`),
      ...statements.map((statement) => db.textStatement(statement)),
      db.textStatement(sql`delete from move_batches`),
    ]);
    return (results as unknown[][]).slice(2, -1);
  } catch (error) {
    if (isViolation(error, "NOT NULL", "move_batches.is_current")) return undefined;
    throw error;
  }
}

/** The statements that create the triggers of moves. */
export const createTriggers = (db: Database): BatchItem<"sqlite">[] =>
  [...moveTriggers().values()].map((text) =>
    db.textStatement(sql.raw(text.replace("CREATE TRIGGER", "CREATE TRIGGER IF NOT EXISTS"))),
  );

/** Drops the triggers of moves from a database, unless something still moves from it or to it. */
export const dropTriggers = (db: Database, moveId: number) =>
  moveBatch(
    db,
    moveId,
    sql`(select case when count(*) = 0 then 1 end from move_sides)`,
    [...moveTriggers().keys()].map((name) => sql`drop trigger if exists ${sql.identifier(name)}`),
  );
