import { getTableColumns, inArray, type SQL, sql } from "drizzle-orm";

import { ANONYMOUS, accountActor, type Actor } from "../../../auth/actor.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf, anyOf, qualified } from "../../../db/db.ts";
import { type Params, prepare, prepareAll } from "../../../db/prepared.ts";
import {
  type ConsequenceProgress,
  events,
  type EventRow,
  type User,
  users,
} from "../../../db/schema/index.ts";
import type { Consequence, RecordedEvent } from "../../../events/consequence.ts";
import { log, logBug } from "../../../lib/log.ts";
import { settled } from "../../../lib/settled.ts";
import { WorkBudget } from "../../../lib/work-budget.ts";
import {
  byRepository,
  inOrder,
  isDueInOrder,
  LEASED_MAX,
} from "../../exchange/event-stream/due-events.ts";
import { CONSEQUENCES } from "./consequences.ts";

/** Duration of a lease, in milliseconds, which each step renews. No step starts after `WORK_MS`. */
export const CONSEQUENCE_LEASE_MS = 120 * 1000;
/** Repositories handled concurrently: each may take much memory. */
const REPOSITORIES_AT_ONCE = 4;

/**
 * How long it is not stored what is done, in milliseconds: neither the consequences of an event
 * that take one step, of which most find nothing to do, nor the events of which all are drawn.
 * After an interruption they are repeated.
 */
const UNSTORED_MS = 2000;

/** Work budget of one call. */
const WORK_MS = 20 * 1000;
const STATEMENTS_MAX = 500;

/** Attempts at one step. */
export const CONSEQUENCE_ATTEMPTS_MAX = 8;
/**
 * The delay after the first failure and the longest delay, in milliseconds; it quadruples with each
 * failure.
 */
const DELAY_MS = 30 * 1000;
const DELAY_MS_MAX = 60 * 60 * 1000;

/**
 * Draws the consequences of recorded events.
 *
 * Events of one repository are handled in order, across concurrent calls; repositories take turns,
 * step by step. An event that fails blocks only its own repository, for some hours at most, and
 * only the consequence that failed is repeated. Safe to call at any time and concurrently: a lease
 * gives each event to one call at a time, and the state of a consequence with several steps is
 * stored after each, so that a call that ends anywhere is continued by another.
 *
 * Events that are recorded meanwhile are dispatched afterwards.
 *
 * Cost: one round trip if nothing is pending, or nothing follows; two for up to fifty events that
 * are drawn within a moment, and one for each step that is not the last of its consequence.
 *
 * @param first What `leaseDueEvents` leased, if it was called before.
 */
export async function runConsequences(
  ctx: Ctx,
  consequences: readonly Consequence[] = CONSEQUENCES,
  first?: LeasedEvents,
): Promise<void> {
  const budget = new WorkBudget(ctx.now, { ms: WORK_MS, statements: STATEMENTS_MAX });
  let leased = first ? toLeased(first) : await acquireLease(ctx, budget, []);
  while (leased.rows.length > 0 || leased.areMore) {
    leased = await runLeased(ctx, budget, leased, consequences);
  }
  if (budget.isExhausted) ctx.eventQueues.noteRecorded();
  await ctx.eventQueues.dispatchRecorded();
}

/** Events that one call leased, with the accounts that caused them. */
interface Leased {
  readonly rows: readonly LeasedRow[];
  readonly actors: ReadonlyMap<number, Actor>;
  /** Whether others may be due, behind as many as are taken at once. */
  readonly areMore: boolean;
}

type LeasedRow = EventRow & {
  /**
   * The consequences that have nothing to do, as a set of bits by their position in `CONDITIONAL`.
   */
  readonly needless: number;
};

/**
 * Marks events as done, and takes due ones, but none behind an event of its repository that is not
 * due yet: the next events of a repository may be among these only after those before them are
 * done. Leases those that some consequence has to do something for, and marks the others as done.
 */
async function acquireLease(
  { db }: Ctx,
  budget: WorkBudget,
  finished: readonly EventRow[],
): Promise<Leased> {
  const { now } = budget;
  budget.consume(2);
  if (finished.length > 0) budget.consume(1);
  const { done, ...leased } = await batch(db, {
    done: finished.length > 0 ? [finishLeased(db, { leased: toTokens(finished) })] : [],
    ...leaseDueEvents(db, { now }),
  });
  logLost(finished, done.flat());
  return toLeased(leased);
}

/** The results of `leaseDueEvents`. */
interface LeasedEvents {
  readonly rows: readonly LeasedRow[];
  readonly accounts: readonly User[];
}

const toLeased = ({ rows, accounts }: LeasedEvents): Leased => ({
  rows: inOrder(rows.filter(({ consequencesAt }) => consequencesAt !== null)),
  areMore: rows.length === LEASED_MAX,
  actors: new Map(accounts.map((user) => [user.id, accountActor(user)])),
});

/** Consequences that have nothing to do for some events of their kinds. */
const CONDITIONAL = CONSEQUENCES.flatMap(({ name, isNeeded }) =>
  isNeeded ? [{ name, isNeeded }] : [],
);

const needlessBits = sql.join(
  CONDITIONAL.map(({ isNeeded }, at) => sql`iif(${isNeeded}, 0, ${1 << at})`),
  sql` | `,
);

/** The condition that some consequence has something to do for an event. */
const isAnyNeeded = anyOf(
  ...CONSEQUENCES.map(({ kinds, isNeeded }) => allOf(inArray(events.type, [...kinds]), isNeeded)),
);

const needlessOf = ({ needless }: LeasedRow): ReadonlySet<string> =>
  new Set(CONDITIONAL.filter((_, at) => (needless & (1 << at)) !== 0).map(({ name }) => name));

/** The statements that lease due events for `runConsequences`. */
export const leaseDueEvents = prepareAll((db, p: Params<{ now: number }>) => {
  const isDue = isDueInOrder("consequencesAt", p.now);
  return {
    // Before the lease, after which the events are not due.
    accounts: db
      .select()
      .from(users)
      .where(sql`${users.id} in (select ${events.actorId} from ${events} where ${isDue})`),
    rows: db
      .update(events)
      .set({
        consequencesAt: sql`iif(${isAnyNeeded}, ${p.now} + ${CONSEQUENCE_LEASE_MS}, null)`,
        consequenceAttempts: sql`${events.consequenceAttempts} + 1`,
      })
      .where(isDue)
      .returning({
        ...getTableColumns(events),
        needless: qualified<number>(needlessBits).as("needless"),
      }),
  };
});

/** A leased event. */
interface Work {
  /** With the time until which it is leased, and how far its consequences are drawn. */
  readonly row: EventRow;
  readonly recorded: RecordedEvent;
  readonly actor: Actor;
  /** The consequences that have nothing to do. */
  readonly needless: ReadonlySet<string>;
  /** The consequences that failed in this call. */
  readonly failed: ReadonlySet<string>;
  /** When its progress was last stored, in milliseconds. */
  readonly storedAt: number;
}

/**
 * Handles leased events, and releases those that are left when the budget is exhausted. Then leases
 * the next due ones.
 */
async function runLeased(
  ctx: Ctx,
  budget: WorkBudget,
  { rows, actors }: Leased,
  consequences: readonly Consequence[],
): Promise<Leased> {
  const works = rows.map((row): Work => {
    const actor = actors.get(row.actorId) ?? ANONYMOUS;
    const needless = needlessOf(row);
    const recorded = toRecorded(row);
    return { row, recorded, actor, needless, failed: new Set(), storedAt: budget.now };
  });
  const queue = byRepository(works);
  const released: Work[] = [];
  /** Events that are done and not marked so yet, and since when there are some. */
  let finished: EventRow[] = [];
  let finishedAt = 0;
  const storeFinished = async (): Promise<void> => {
    const stored = finished;
    finished = [];
    await finish(ctx, budget, stored);
  };
  const work = async (): Promise<void> => {
    while (!budget.isExhausted) {
      const [first, ...behind] = queue.shift() ?? [];
      if (!first) return;
      const rest = await runStep(ctx, budget, first, consequences);
      if (rest === "failed") released.push(...behind);
      else if (typeof rest === "object") queue.push([rest, ...behind]);
      else if (behind.length > 0) queue.push(behind);
      if (rest === "finished") {
        if (finished.length === 0) finishedAt = budget.now;
        finished.push(first.row);
      }
      if (finished.length > 0 && budget.now - finishedAt >= UNSTORED_MS) await storeFinished();
    }
  };
  try {
    await settled(Array.from({ length: REPOSITORIES_AT_ONCE }, work));
  } catch (error) {
    await storeFinished();
    throw error;
  }
  released.push(...queue.flat());
  if (released.length > 0) await release(ctx, budget, released);
  if (!budget.isExhausted) return acquireLease(ctx, budget, finished);
  await storeFinished();
  return toLeased({ rows: [], accounts: [] });
}

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
 * @returns The event if it continues; "finished" if all is drawn; "failed" if it was postponed;
 * undefined if this call is done with it for another reason.
 */
async function runStep(
  ctx: Ctx,
  budget: WorkBudget,
  work: Work,
  consequences: readonly Consequence[],
): Promise<Work | "finished" | "failed" | undefined> {
  const { row, recorded, needless } = work;
  if (row.consequenceAttempts > CONSEQUENCE_ATTEMPTS_MAX) return giveUp(ctx, budget, work);
  const progress = { ...row.consequenceProgress };
  const failed = new Set(work.failed);
  const concerned = consequences.filter(
    ({ name, kinds }) => kinds.includes(recorded.event.type) && !needless.has(name),
  );
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
  if (open.length === 0) return "finished";
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

/** Marks events as done, unless another call has leased them since. */
async function finish({ db }: Ctx, budget: WorkBudget, rows: readonly EventRow[]): Promise<void> {
  if (rows.length === 0) return;
  budget.consume(1);
  logLost(rows, await finishLeased(db, { leased: toTokens(rows) }));
}

/** Logs the events whose lease this call has lost. */
function logLost(rows: readonly EventRow[], stored: readonly { readonly id: number }[]): void {
  if (stored.length === rows.length) return;
  const ids = new Set(stored.map(({ id }) => id));
  for (const { id } of rows) if (!ids.has(id)) log("consequences:lease-lost", { eventId: id });
}

const finishLeased = prepare((db, p: Params<{ leased: string }>) =>
  db
    .update(events)
    .set({ consequencesAt: null, consequenceProgress: null })
    .where(areStillLeased(p.leased))
    .returning({ id: events.id }),
);

/**
 * Postpones an event that failed, and with it the later events of its repository, or gives it up.
 */
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
 * Its payload is not read again: that of a push of a thousand refs has 100 KB, and each step
 * updates its event.
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
    .where(areStillLeased(sql`${toTokens([row])}`))
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
    .where(areStillLeased(sql`${toTokens(works.map(({ row }) => row))}`));
}

/** Leased events as `areStillLeased` takes them. */
const toTokens = (rows: readonly EventRow[]): string =>
  JSON.stringify(rows.map(({ id, consequencesAt: at }) => ({ id, at })));

/** The condition for the given events that no other call has leased since. */
const areStillLeased = (leased: SQL): SQL => sql`(${events.id}, ${events.consequencesAt}) in (
  select value ->> 'id', value ->> 'at' from json_each(${leased})
)`;
