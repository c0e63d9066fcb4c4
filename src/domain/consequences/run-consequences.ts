import { inArray, type SQL, sql } from "drizzle-orm";

import { ANONYMOUS, accountActor, type Actor } from "../../auth/actor.ts";
import type { Ctx } from "../../context.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import { type ConsequenceProgress, events, type EventRow, users } from "../../db/schema/index.ts";
import type { Consequence, RecordedEvent } from "../../events/consequence.ts";
import { log, logBug } from "../../lib/log.ts";
import { settled } from "../../lib/settled.ts";
import { WorkBudget } from "../../lib/work-budget.ts";
import { byRepository, inOrder, isDueInOrder } from "../events/due-events.ts";
import { CONSEQUENCES } from "./consequences.ts";

/** Duration of a lease, in milliseconds, which each step renews. No step starts after `WORK_MS`. */
export const CONSEQUENCE_LEASE_MS = 120 * 1000;
/** Repositories handled concurrently: each may take much memory. */
const REPOSITORIES_AT_ONCE = 4;

/**
 * How long the consequences of an event that are done in one step are not stored one by one, in milliseconds: most
 * find nothing to do. After an interruption they are repeated.
 */
const UNSTORED_MS = 2000;

/** Work budget of one call. */
const WORK_MS = 20 * 1000;
const STATEMENTS_MAX = 500;

/** Attempts at one step. */
export const CONSEQUENCE_ATTEMPTS_MAX = 8;
/** The delay after the first failure and the longest delay, in milliseconds; it quadruples with each failure. */
const DELAY_MS = 30 * 1000;
const DELAY_MS_MAX = 60 * 60 * 1000;

/**
 * Draws the consequences of recorded events.
 *
 * Events of one repository are handled in order, across concurrent calls; repositories take turns, step by step. An
 * event that fails blocks only its own repository, for some hours at most, and only the consequence that failed is
 * repeated. Safe to call at any time and concurrently: a lease gives each event to one call at a time, and the state
 * of a consequence with several steps is stored after each, so that a call that ends anywhere is continued by another.
 *
 * Events that are recorded meanwhile are dispatched afterwards.
 *
 * Cost: one round trip if nothing is pending; two for up to fifty events, and one for each of them and for each step that
 * is not the last of its consequence.
 */
export async function runConsequences(
  ctx: Ctx,
  consequences: readonly Consequence[] = CONSEQUENCES,
): Promise<void> {
  const budget = new WorkBudget(ctx.now, { ms: WORK_MS, statements: STATEMENTS_MAX });
  let leased = await acquireLease(ctx, budget);
  while (leased.length > 0) {
    await runLeased(ctx, budget, leased, consequences);
    leased = budget.isExhausted ? [] : await acquireLease(ctx, budget);
  }
  if (budget.isExhausted) ctx.eventQueues.noteRecorded(ctx.db);
  await ctx.eventQueues.dispatchRecorded();
}

/** Leases due events, but none behind an event of its repository that is not due yet. */
async function acquireLease({ db }: Ctx, budget: WorkBudget): Promise<EventRow[]> {
  const { now } = budget;
  budget.consume(1);
  return inOrder(await leaseDue(db, { now }));
}

const leaseDue = prepare((db, p: Params<{ now: number }>) =>
  db
    .update(events)
    .set({
      consequencesAt: sql`${p.now} + ${CONSEQUENCE_LEASE_MS}`,
      consequenceAttempts: sql`${events.consequenceAttempts} + 1`,
    })
    .where(isDueInOrder("consequences_at", p.now))
    .returning(),
);

/** A leased event. */
interface Work {
  /** With the time until which it is leased, and how far its consequences are drawn. */
  readonly row: EventRow;
  readonly recorded: RecordedEvent;
  readonly actor: Actor;
  /** The consequences that failed in this call. */
  readonly failed: ReadonlySet<string>;
  /** When its progress was last stored, in milliseconds. */
  readonly storedAt: number;
}

/** Handles leased events, and releases those that are left when the budget is exhausted. */
async function runLeased(
  ctx: Ctx,
  budget: WorkBudget,
  rows: readonly EventRow[],
  consequences: readonly Consequence[],
): Promise<void> {
  const actors = await findActors(ctx, budget, rows);
  const works = rows.map((row): Work => {
    const actor = actors.get(row.actorId) ?? ANONYMOUS;
    return { row, recorded: toRecorded(row), actor, failed: new Set(), storedAt: budget.now };
  });
  const queue = byRepository(works);
  const released: Work[] = [];
  const work = async (): Promise<void> => {
    while (!budget.isExhausted) {
      const [first, ...behind] = queue.shift() ?? [];
      if (!first) return;
      const rest = await runStep(ctx, budget, first, consequences);
      if (rest === "failed") released.push(...behind);
      else if (rest) queue.push([rest, ...behind]);
      else if (behind.length > 0) queue.push(behind);
    }
  };
  await settled(Array.from({ length: REPOSITORIES_AT_ONCE }, work));
  released.push(...queue.flat());
  if (released.length > 0) await release(ctx, budget, released);
}

/** Reads the accounts that caused events. */
async function findActors(
  { db }: Ctx,
  budget: WorkBudget,
  rows: readonly EventRow[],
): Promise<Map<number, Actor>> {
  budget.consume(1);
  const ids = [...new Set(rows.map(({ actorId }) => actorId))];
  const found = await accountsOfIds(db, { ids });
  return new Map(found.map((user) => [user.id, accountActor(user)]));
}

const accountsOfIds = prepare((db, p: Params<{ ids: readonly number[] }>) =>
  db.select().from(users).where(inArray(users.id, p.ids)),
);

const toRecorded = ({ id, type, actorId, ownerId, repoId, payload, createdAt }: EventRow) =>
  ({
    id,
    actorId,
    createdAt,
    event: { ...payload, type, ownerId, repoId },
  }) as unknown as RecordedEvent;

/**
 * Does one step of an event.
 *
 * @returns The event if it continues; "failed" if it was postponed; undefined if this call is done with it.
 */
async function runStep(
  ctx: Ctx,
  budget: WorkBudget,
  work: Work,
  consequences: readonly Consequence[],
): Promise<Work | "failed" | undefined> {
  const { row, recorded } = work;
  if (row.consequenceAttempts > CONSEQUENCE_ATTEMPTS_MAX) return giveUp(ctx, budget, work);
  const progress = { ...row.consequenceProgress };
  const failed = new Set(work.failed);
  const concerned = consequences.filter(({ kinds }) => kinds.includes(recorded.event.type));
  const next = concerned.find(({ name }) => progress[name] !== null && !failed.has(name));
  if (next) {
    try {
      const state = await next.handle(actingAs(ctx, work), recorded, budget, progress[next.name]);
      progress[next.name] = state ?? null;
    } catch (error) {
      logBug(`event-${row.id}-${next.name}`, error);
      failed.add(next.name);
    }
  }
  const open = concerned.filter(({ name }) => progress[name] !== null);
  if (open.length === 0) {
    await finish(ctx, budget, work);
    return undefined;
  }
  if (open.every(({ name }) => failed.has(name))) {
    return postpone(ctx, budget, work, progress);
  }
  const isQuick = failed.size === 0 && progress[next?.name ?? ""] === null;
  if (isQuick && budget.now - work.storedAt < UNSTORED_MS) {
    return { ...work, row: { ...row, consequenceProgress: progress } };
  }
  const stored = await update(ctx, budget, work, {
    consequencesAt: budget.now + CONSEQUENCE_LEASE_MS,
    consequenceAttempts: failed.size > 0 ? row.consequenceAttempts : 1,
    consequenceProgress: progress,
  });
  return stored && { ...work, row: stored, failed, storedAt: budget.now };
}

const actingAs = (ctx: Ctx, { row, actor }: Work): Ctx => ({
  ...ctx,
  actor,
  publicUrl: ctx.config.publicUrl || row.rootUrl,
  rootUrl: ctx.config.publicUrl || row.rootUrl,
});

/** Marks an event as done, unless another call has leased it since. */
async function finish({ db }: Ctx, budget: WorkBudget, { row }: Work): Promise<void> {
  budget.consume(1);
  const [finished] = await finishLeased(db, { leased: toLeased([row]) });
  if (!finished) log("consequences:lease-lost", { eventId: row.id });
}

const finishLeased = prepare((db, p: Params<{ leased: string }>) =>
  db
    .update(events)
    .set({ consequencesAt: null, consequenceProgress: null })
    .where(areStillLeased(p.leased))
    .returning({ id: events.id }),
);

/** Postpones an event that failed, and with it the later events of its repository, or gives it up. */
async function postpone(
  ctx: Ctx,
  budget: WorkBudget,
  work: Work,
  progress: ConsequenceProgress,
): Promise<"failed" | undefined> {
  const { consequenceAttempts: attempts } = work.row;
  if (attempts >= CONSEQUENCE_ATTEMPTS_MAX) return giveUp(ctx, budget, work);
  const delayMs = Math.min(DELAY_MS * 4 ** (attempts - 1), DELAY_MS_MAX);
  const consequencesAt = budget.now + delayMs;
  await update(ctx, budget, work, { consequencesAt, consequenceProgress: progress });
  return "failed";
}

async function giveUp(ctx: Ctx, budget: WorkBudget, work: Work): Promise<undefined> {
  const { id, consequenceAttempts: attempts } = work.row;
  log("consequences:given-up", { eventId: id, attempts });
  await update(ctx, budget, work, { consequencesAt: null });
}

/**
 * Updates an event, unless another call has leased it since.
 *
 * Its payload is not read again: that of a push of a thousand refs has 100 KB, and each step updates its event.
 */
async function update(
  { db }: Ctx,
  budget: WorkBudget,
  { row }: Work,
  values: Partial<EventRow>,
): Promise<EventRow | undefined> {
  budget.consume(1);
  const [updated] = await db
    .update(events)
    .set(values)
    .where(areStillLeased(sql`${toLeased([row])}`))
    .returning({ id: events.id });
  if (updated) return { ...row, ...values };
  log("consequences:lease-lost", { eventId: row.id });
  return undefined;
}

/** Releases the leases of events that were not started, or that continue later. */
async function release({ db }: Ctx, budget: WorkBudget, works: readonly Work[]): Promise<void> {
  budget.consume(1);
  await db
    .update(events)
    .set({
      consequencesAt: budget.now,
      consequenceAttempts: sql`${events.consequenceAttempts} - 1`,
    })
    .where(areStillLeased(sql`${toLeased(works.map(({ row }) => row))}`));
}

/** Leased events as `areStillLeased` takes them. */
const toLeased = (rows: readonly EventRow[]): string =>
  JSON.stringify(rows.map(({ id, consequencesAt: at }) => ({ id, at })));

/** The condition for those of the given events that no other call has leased since. */
const areStillLeased = (leased: SQL): SQL => sql`(${events.id}, ${events.consequencesAt}) in (
  select value ->> 'id', value ->> 'at' from json_each(${leased})
)`;
