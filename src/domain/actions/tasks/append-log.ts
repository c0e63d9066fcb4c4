import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { workflowLogPieces, type WorkflowTask, workflowTasks } from "../../../db/schema/index.ts";
import { conflict, Failure } from "../../../lib/failure.ts";
import type { RunnerCredential } from "../runners/runner-credential.ts";
import { findTaskOfRunner } from "./find-task.ts";
import { joinLog } from "./join-log.ts";
import { formatLogRows, type SentRow } from "./log-rows.ts";
import { taskMask } from "./mask.ts";
import { readTaskSecrets } from "./task-secrets.ts";

/** Maximum bytes and rows of a log. A row says that it is cut there. */
const LOG_BYTES_MAX = 1024 ** 3;
const LOG_ROWS_MAX = 4_000_000;

/** Pieces after which those of a log are joined. */
const PIECES_AT_ONCE = 32;

/** How often an append is tried against others of the same log. */
const TRIES_MAX = 3;

/** Rows of a log that a runner sends. */
export interface LogAppend {
  readonly taskId: number;
  /** The position of the first row in the log, from 0. */
  readonly index: number;
  readonly rows: readonly SentRow[];
  /** Whether the log ends with these rows. */
  readonly isLast: boolean;
}

/**
 * Appends rows to the log of a task. Rows that it has already change nothing, and so do rows that
 * leave a gap: the answer says which row comes next.
 *
 * Cost: two round trips and one file.
 *
 * @returns How many rows the log has, of those that the runner has sent so far.
 * @throws Failure `unauthenticated` for an unknown runner, `not_found` for a task of another one,
 *   `locked` for more rows of a log that is closed.
 */
export async function appendLog(
  ctx: Ctx,
  credential: RunnerCredential,
  append: LogAppend,
): Promise<number> {
  for (let attempt = 0; attempt < TRIES_MAX; attempt++) {
    const rowCount = await tryAppend(ctx, credential, append);
    if (rowCount !== undefined) return rowCount;
  }
  throw conflict("other rows of the log are being stored");
}

/** Undefined if other rows were stored meanwhile. */
async function tryAppend(
  ctx: Ctx,
  credential: RunnerCredential,
  { taskId, index, rows, isLast }: LogAppend,
): Promise<number | undefined> {
  const found = await findTaskOfRunner(ctx, credential, taskId);
  const { task } = found;
  const { logRows } = task;
  const end = index + rows.length;
  // Rows that the service added are not the runner's: older ones break off if they hear of them.
  const acknowledged = Math.min(logRows, end);
  const isNew = rows.length > 0 && index <= logRows && end > logRows;
  const isClosing = isLast && index <= logRows && end >= logRows && !task.isLogClosed;
  if (!isNew && !isClosing) {
    noteLife(ctx, task);
    return acknowledged;
  }
  if (task.isLogClosed) throw new Failure("locked", "the log has been closed");
  const added = rows.slice(logRows - index);
  const isCut = logRows >= LOG_ROWS_MAX || task.logBytes >= LOG_BYTES_MAX;
  const kept = isCut ? [] : await maskRows(ctx, found, withCut(task, added));
  const isStored = await storeRows(ctx, task, { kept, receivedCount: added.length, isLast });
  return isStored ? end : undefined;
}

/** Notes that a task is alive whose runner has begun it, and has nothing to say. */
function noteLife(ctx: Ctx, { id, startedAt, updatedAt }: WorkflowTask): void {
  if (updatedAt !== startedAt) return;
  const { db, now } = ctx;
  const isUnheard = and(eq(workflowTasks.id, id), eq(workflowTasks.updatedAt, startedAt));
  const later = Math.max(now, startedAt + 1);
  ctx.defer(db.update(workflowTasks).set({ updatedAt: later }).where(isUnheard).execute());
}

/** Rows up to the bound of a log; the last row of a log that is cut says so. */
function withCut(
  { logRows, logBytes }: WorkflowTask,
  rows: readonly SentRow[],
): readonly SentRow[] {
  let bytes = logBytes;
  const fitting = rows.findIndex((row, at) => {
    bytes += row.text.length;
    return logRows + at >= LOG_ROWS_MAX - 1 || bytes > LOG_BYTES_MAX;
  });
  const first = rows[fitting];
  if (!first) return rows;
  const text = "::warning::The log is too long: what follows is not stored.";
  return [...rows.slice(0, fitting), { ...first, text }];
}

async function maskRows(
  ctx: Ctx,
  { task, ...owner }: Awaited<ReturnType<typeof findTaskOfRunner>>,
  rows: readonly SentRow[],
): Promise<readonly SentRow[]> {
  if (rows.length === 0) return rows;
  const mask = taskMask(task, await readTaskSecrets(ctx, task, owner));
  return rows.map((row) => ({ ...row, text: mask(row.text) }));
}

/**
 * Appends rows of the service to a log, as the last ones.
 *
 * @returns Whether they are stored; otherwise the log has changed since the task was read.
 */
export async function closeLogWith(
  ctx: Ctx,
  task: WorkflowTask,
  ...texts: readonly string[]
): Promise<boolean> {
  const kept = texts.map((text) => ({ timeMs: ctx.now, nanos: 0, text }));
  return storeRows(ctx, task, { kept, receivedCount: kept.length, isLast: true });
}

interface Stored {
  readonly kept: readonly SentRow[];
  readonly receivedCount: number;
  readonly isLast: boolean;
}

/**
 * Stores the next rows of a log: the file first, then its row, if no other rows were stored
 * meanwhile. A file without a row goes with the log.
 */
async function storeRows(
  ctx: Ctx,
  task: WorkflowTask,
  { kept, receivedCount, isLast }: Stored,
): Promise<boolean> {
  const { db, git, now } = ctx;
  const piece = { taskId: task.id, firstRow: task.logRows, rowCount: kept.length };
  const bytes = formatLogRows(kept);
  if (kept.length > 0) await git.logFiles.put(piece, bytes);
  const isNext = and(
    eq(workflowTasks.id, task.id),
    eq(workflowTasks.logRows, task.logRows),
    eq(workflowTasks.isLogClosed, task.isLogClosed),
  );
  const { stored } = await batch(db, {
    stored: db
      .update(workflowTasks)
      .set({
        logRows: task.logRows + receivedCount,
        logBytes: sql`${workflowTasks.logBytes} + ${bytes.length}`,
        logPieces: sql`${workflowTasks.logPieces} + ${kept.length > 0 ? 1 : 0}`,
        isLogClosed: isLast,
        updatedAt: Math.max(now, task.startedAt + 1),
      })
      .where(isNext)
      .returning({ logPieces: workflowTasks.logPieces }),
    piece:
      kept.length > 0
        ? insertSelect(
            db,
            workflowLogPieces,
            { ...piece, bytes: bytes.length },
            sql`where changes() > 0`,
          )
        : undefined,
  });
  const [{ logPieces } = { logPieces: 0 }] = stored;
  if (stored.length === 0) return false;
  if (isLast || (kept.length > 0 && logPieces % PIECES_AT_ONCE === 0)) {
    ctx.defer(joinLog(ctx, task.id));
  }
  return true;
}
