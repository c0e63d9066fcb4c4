import { asc, eq, isNotNull, lte, and, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { repositoryMoves } from "../../db/schema/index.ts";
import { logBug } from "../../lib/log.ts";
import { WorkBudget } from "../../lib/work-budget.ts";
import { copyToShard } from "../shards/copy-to-shards.ts";
import { compareNext } from "./compare-rows.ts";
import { copyNext } from "./copy-rows.ts";
import { enterNext, enterRepositories } from "./enter-repositories.ts";
import { clean, openTarget, revert } from "./finish-move.ts";
import { freezeAndMove, open } from "./freeze.ts";
import { giveToldCopies, makeReferencesFar } from "./near-references.ts";
import { MoveLeaseLost, MoveFailed, type OpenedMove, save } from "./opened-move.ts";

/** How long a job has a move, in milliseconds. It ends long before. */
const LEASE_MS = 45_000;
/** Work budget of one move in one run. */
const WORK_MS = 20_000;
const STATEMENTS_MAX = 500;
/** Steps that fail one after the other before a move fails, and how often the source is frozen. */
const FAILURES_MAX = 20;
const FREEZES_MAX = 100;
/** When a step that failed, or that has to wait, is tried again: at first, and at last. It doubles with each time that the source was frozen. */
const RETRY_MS = 5000;
const RETRY_MS_MAX = 300_000;
/** The same where writes of the target wait for it. */
const OPENING_RETRY_MS = 1000;

/**
 * Advances the move that is due for longest. Safe to call at any time and concurrently: a lease gives each move to one call at a time, and what a former holder
 * writes late is refused.
 *
 * Cost: one round trip without due moves, none without shards.
 */
export async function runMoves(ctx: Ctx): Promise<void> {
  if (ctx.openShards().size === 0) return;
  const now = Date.now();
  const [due, more] = await ctx.directory
    .select({ id: repositoryMoves.id })
    .from(repositoryMoves)
    .where(
      and(
        isNotNull(repositoryMoves.dueAt),
        lte(repositoryMoves.dueAt, now),
        lte(repositoryMoves.leasedUntil, now),
      ),
    )
    .orderBy(asc(repositoryMoves.dueAt))
    .limit(2);
  if (due) await runMove(ctx, due.id);
  if (more) ctx.eventQueues.noteMoves();
  await ctx.eventQueues.dispatchRecorded();
}

/** Advances one move as far as the budget goes, if no other job has it. */
export async function runMove(ctx: Ctx, id: number): Promise<void> {
  const now = Date.now();
  const [move] = await ctx.directory
    .update(repositoryMoves)
    .set({ leasedUntil: now + LEASE_MS, fence: sql`${repositoryMoves.fence} + 1` })
    .where(
      and(
        eq(repositoryMoves.id, id),
        lte(repositoryMoves.dueAt, now),
        lte(repositoryMoves.leasedUntil, now),
      ),
    )
    .returning();
  if (!move) return;
  const opened: OpenedMove = {
    ctx,
    directory: ctx.directory,
    source: ctx.openShard(move.source),
    target: ctx.openShard(move.target),
    budget: new WorkBudget(now, { ms: WORK_MS, statements: STATEMENTS_MAX }),
    move,
  };
  try {
    await advance(opened);
    await save(opened, { leasedUntil: 0, failureCount: 0 });
    noteNext(opened);
  } catch (error) {
    if (error instanceof MoveLeaseLost) await release(opened);
    else await noteFailure(opened, error);
  }
}

/** Queues what comes next, unless it is for the schedule. */
function noteNext({ ctx, move: { dueAt } }: OpenedMove): void {
  const delayMs = (dueAt ?? Number.POSITIVE_INFINITY) - Date.now();
  if (delayMs <= RETRY_MS_MAX) ctx.eventQueues.noteMoves(Math.max(0, Math.ceil(delayMs / 1000)));
}

/** When a step that has to wait is tried again. */
function retryAt({ state, freezeCount }: OpenedMove["move"]): number {
  if (state === "moved") return Date.now() + OPENING_RETRY_MS;
  return Date.now() + Math.min(RETRY_MS * 2 ** freezeCount, RETRY_MS_MAX);
}

/** Lets another job go on at once: the move may have been cancelled while the source is closed. */
async function release({ directory, move, ctx }: OpenedMove): Promise<void> {
  await directory
    .update(repositoryMoves)
    .set({ leasedUntil: 0 })
    .where(and(eq(repositoryMoves.id, move.id), eq(repositoryMoves.fence, move.fence)));
  ctx.eventQueues.noteMoves();
}

async function noteFailure(opened: OpenedMove, error: unknown): Promise<void> {
  const { move } = opened;
  const isFinal = error instanceof MoveFailed;
  const failureCount = move.failureCount + 1;
  if (!isFinal) {
    logBug(`move ${move.id}`, error);
    // Rows may refer to accounts that one of the two does not have yet, or any more.
    await copyToBoth(opened).catch((failure: unknown) => logBug(`move ${move.id}`, failure));
  }
  const reverts = isRevertible(move.state) && (isFinal || failureCount > FAILURES_MAX);
  const changes = reverts
    ? {
        state: "reverting" as const,
        reason: isFinal ? error.message : "steps failed: the log has the reason",
        dueAt: Date.now(),
      }
    : { dueAt: retryAt(move) };
  try {
    await save(opened, { leasedUntil: 0, failureCount, ...changes });
    noteNext(opened);
  } catch (lost) {
    if (!(lost instanceof MoveLeaseLost)) throw lost;
  }
}

/** Brings the copies of both databases up to date. */
async function copyToBoth({ move, directory, ctx }: OpenedMove): Promise<void> {
  for (const id of [move.source, move.target]) {
    if (id !== 0) await copyToShard(directory, { id, db: ctx.openShard(id) }, ctx.now);
  }
}

/** Whether the first database still names the source. */
const isRevertible = (state: OpenedMove["move"]["state"]): boolean =>
  state === "copying" || state === "following" || state === "frozen";

/** Goes on from state to state until the budget ends or something has to wait. */
async function advance(opened: OpenedMove): Promise<void> {
  // A job that died, or was too late, may have left the source closed.
  if (opened.move.state === "frozen") await open(opened);
  while (!opened.budget.isExhausted) if (!(await step(opened))) return;
}

/** @returns Whether there is more to do at once. */
async function step(opened: OpenedMove): Promise<boolean> {
  switch (opened.move.state) {
    case "copying":
      if (opened.move.entering.length > 0) await enterNext(opened);
      else if (!(await enterRepositories(opened))) return wait(opened, "copies are late");
      return true;
    case "following":
      return follow(opened);
    case "moved":
      return (await openTarget(opened)) || wait(opened, "copies are late");
    case "cleaning":
      return (opened.move.dueAt ?? 0) <= Date.now() && clean(opened);
    case "reverting":
      return revert(opened);
    default:
      return false;
  }
}

async function follow(opened: OpenedMove): Promise<boolean> {
  if (!(await enterRepositories(opened))) return wait(opened, "copies are late");
  if (opened.move.state !== "following") return true;
  // The target would refuse them. Those that come later are few.
  if (!opened.areReferencesFar && (await makeReferencesFar(opened))) return true;
  opened.areReferencesFar = true;
  if (await copyNext(opened)) return true;
  if (await makeReferencesFar(opened)) return true;
  if (await compareNext(opened)) return true;
  if (opened.move.freezeCount >= FREEZES_MAX) {
    throw new MoveFailed(`the repository is never at rest: ${opened.move.reason}`);
  }
  await giveToldCopies(opened);
  const reason = await freezeAndMove(opened);
  return reason === undefined || wait(opened, reason);
}

async function wait(opened: OpenedMove, reason: string): Promise<false> {
  await save(opened, { dueAt: retryAt(opened.move), reason });
  return false;
}
