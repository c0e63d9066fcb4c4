import { and, eq, getTableColumns, gte, isNull, lte, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { batch } from "../../../../db/batch.ts";
import { qualified } from "../../../../db/db.ts";
import { type Params, prepare, prepareAll } from "../../../../db/prepared.ts";
import { hookDeliveries, hooks, repositories, type Hook } from "../../../../db/schema/index.ts";
import { recordIfChanged } from "../../../../events/record.ts";
import { type AttemptRecord, type ChangedDelivery, toHookChange } from "./attempt-record.ts";
import type { PayloadRow } from "./delivery-contents.ts";
import {
  type DueDelivery,
  type DueRange,
  hasDue,
  ofHookMaxFor,
  selectDue,
  selectDuePayloads,
} from "./due-delivery.ts";
import { giveUpUnsendable, isEnabled, LEASE_MS } from "./hook-lease.ts";

/** Consecutive failed attempts before a hook is paused, in addition to the configured time. */
const PAUSE_FAILURES_MIN = 10;
/** The columns of a delivery that an attempt changes. */
const STORED_COLUMNS = [
  "isArchived",
  "requestUrl",
  "requestHeaders",
  "requestBody",
  "responseStatus",
  "responseHeaders",
  "responseBody",
  "failure",
  "durationMs",
  "status",
  "attemptCount",
  "nextAttemptAt",
  "updatedAt",
] as const satisfies readonly (keyof ChangedDelivery)[];
/** Characters of one bound value: D1 accepts at most 2 MB. */
const VALUE_SIZE_MAX = 500_000;

/** The attempts of a leased hook that are stored. */
export interface HookWork {
  readonly hookId: number;
  /** The token of the lease: nothing is stored if the lease was lost. */
  readonly token: number;
  /** The hook before these attempts. */
  readonly before: Hook;
  readonly records: readonly AttemptRecord[];
  /** Whether to release the lease, `always` or unless more deliveries are due. */
  readonly release: "never" | "if-done" | "always";
}

/** The state of a hook after its work was stored. */
type StoredWork =
  | { readonly kind: "held"; readonly hook: Hook; readonly due: readonly DueDelivery[] }
  /** When its next attempt is due; null if no delivery is pending. */
  | { readonly kind: "released"; readonly nextAt: number | null }
  /** The lease was lost, or the hook was deleted. */
  | { readonly kind: "lost" };

/** The result of `storeAttempts`, with the new token of the held leases. */
export interface Stored {
  readonly token: number;
  readonly payloads: readonly PayloadRow[];
  readonly of: (hookId: number) => StoredWork;
}

/**
 * Stores the results of attempts, renews the leases, and releases those that are to be released.
 * The check for due deliveries and the release are one statement, so a delivery that is added
 * concurrently is not missed.
 *
 * Cost: one round trip, whatever the number of hooks and attempts, and one row for each hook.
 *
 * @param works Each of a different hook.
 * @param knownIds Webhook events whose payloads are not read again.
 */
export async function storeAttempts(
  ctx: Ctx,
  works: readonly HookWork[],
  knownIds: readonly number[],
  now: number,
): Promise<Stored> {
  const { db } = ctx;
  // Rises with each write, so that a write of unknown outcome can be repeated without effect.
  const token = Math.max(now + LEASE_MS, ...works.map((work) => work.token + 1));
  const releasing = works.filter(({ release }) => release !== "never");
  const releasingIds = releasing.map(({ hookId }) => hookId);
  const pausing = works.filter((work) => reachesPauseLimit(ctx, work, now));
  const unsendableIds = [...new Set([...releasingIds, ...pausing.map(({ hookId }) => hookId)])];
  const ofHookMax = ofHookMaxFor(releasingIds.length);
  const range = { hookIds: releasingIds, token, now, ofHookMax, knownIds };
  const leases = formatLeases(works);

  const ifReleasing = <T>(statement: T): T[] => (releasing.length > 0 ? [statement] : []);
  const selects = selectDueWithPayloads(db, range);
  const {
    hooks: changed,
    due,
    payloads,
  } = await batch(db, {
    // The hooks come last: these statements have an effect only on hooks that are still leased.
    stored: chunksOf(works.flatMap(({ records }) => records.map((each) => each.deliveryJson))).map(
      (rows) => updateDeliveries(db, { rows: `[${rows.join(",")}]`, leases }),
    ),
    paused: pausing.flatMap((work) => pause(ctx, work, now)),
    givenUp: unsendableIds.length > 0 ? [giveUp(db, { hookIds: unsendableIds, leases, now })] : [],
    hooks: updateHooks(db, { rows: formatChanges(works), token, now }),
    due: ifReleasing(selects.due),
    payloads: ifReleasing(selects.payloads),
  });
  const changedById = new Map(changed.map((hook) => [hook.id, hook]));
  const dueOfHook = Map.groupBy(due.flat(), ({ hookId }) => hookId);
  return {
    token,
    payloads: payloads.flat(),
    of: (hookId) => {
      const hook = changedById.get(hookId);
      if (!hook) return { kind: "lost" };
      const { leasedUntil, nextAt, backoffUntil } = hook;
      if (leasedUntil !== null) return { kind: "held", hook, due: dueOfHook.get(hookId) ?? [] };
      return { kind: "released", nextAt: nextAt && Math.max(nextAt, backoffUntil ?? 0) };
    },
  };
}

/** The leases of hooks, as the JSON of a list. */
const formatLeases = (works: readonly HookWork[]): string =>
  JSON.stringify(works.map(({ hookId, token }) => ({ id: hookId, token })));

/** How attempts change hooks, as the JSON of a list. */
const formatChanges = (works: readonly HookWork[]): string =>
  JSON.stringify(
    works.map(({ hookId, token, records, release }) => {
      const { last, ...change } = toHookChange(records);
      const changed = { lastStatus: last?.status, lastDeliveredAt: last?.at, ...change };
      return { id: hookId, token, release, ...changed };
    }),
  );

/**
 * Releases leases of hooks without due deliveries or that back off, if they are to be released, and
 * renews the others.
 */
const updateHooks = prepare((db, p: Params<{ rows: string; token: number; now: number }>) => {
  const value = (name: string): SQL => sql.raw(`work.value ->> '${name}'`);
  const { lastStatus, lastDeliveredAt, failingSince, failureCount } = hooks;
  const backoffUntil = sql`iif(
    ${value("backoffUntil")} is null,
    ${hooks.backoffUntil},
    max(coalesce(${hooks.backoffUntil}, 0), ${value("backoffUntil")})
  )`;
  const isReleased = sql`case ${value("release")}
    when 'always' then 1
    when 'if-done' then coalesce(${backoffUntil} > ${p.now}, 0) or not ${hasDue(p.now)}
  end`;
  const nextAt = qualified<number | null>(sql`iif(${hooks.leasedUntil} is null, (
    select min(${hookDeliveries.nextAttemptAt})
    from ${hookDeliveries}
    where ${hookDeliveries.hookId} = ${hooks.id} and ${hookDeliveries.nextAttemptAt} is not null
  ), null)`);
  return db
    .update(hooks)
    .set({
      leasedUntil: sql`iif(${isReleased}, null, ${p.token})`,
      lastStatus: sql`coalesce(${value("lastStatus")}, ${lastStatus})`,
      lastDeliveredAt: sql`coalesce(${value("lastDeliveredAt")}, ${lastDeliveredAt})`,
      failingSince: sql`coalesce(
        iif(${value("isReset")}, null, ${failingSince}), ${value("failedAt")}
      )`,
      failureCount: sql`iif(${value("isReset")}, 0, ${failureCount}) + ${value("failureCount")}`,
      backoffUntil,
    })
    .from(sql`json_each(${p.rows}) work`)
    .where(sql`${hooks.id} = ${value("id")} and ${hooks.leasedUntil} = ${value("token")}`)
    .returning({ ...getTableColumns(hooks), nextAt: nextAt.as("next_at") });
});

/** Leaves a delivery pending if a redelivery was requested during the attempt. */
const updateDeliveries = prepare((db, p: Params<{ rows: string; leases: string }>) => {
  const value = (name: string): SQL => sql.raw(`attempt.value ->> '${name}'`);
  const columns = STORED_COLUMNS.map((name) => [name, value(name)] as const);
  return db
    .update(hookDeliveries)
    .set(Object.fromEntries(columns))
    .from(sql`json_each(${p.rows}) attempt`)
    .where(
      sql`${hookDeliveries.id} = ${value("id")}
        and ${hookDeliveries.nextAttemptAt} = ${value("dueAt")}
        and exists (
          select 1
          from ${hooks}
          where ${hooks.id} = ${hookDeliveries.hookId} and ${areLeased(p.leases)}
        )`,
    );
});

const giveUp = prepare(
  (db, p: Params<{ hookIds: readonly number[]; leases: string; now: number }>) =>
    giveUpUnsendable(db, { ...p, isLeased: areLeased(p.leases) }),
);

/** The condition that a hook is still leased as it was. */
const areLeased = (leases: SQL): SQL => sql`(${hooks.id}, ${hooks.leasedUntil}) in (
  select value ->> 'id', value ->> 'token' from json_each(${leases})
)`;

const selectDueWithPayloads = prepareAll((db, range: Params<DueRange>) => ({
  due: selectDue(db, range),
  payloads: selectDuePayloads(db, range),
}));

/** Splits JSON texts so that each part fits into one bound value. */
function chunksOf(texts: readonly string[]): string[][] {
  const chunks: string[][] = [];
  let size = VALUE_SIZE_MAX;
  for (const text of texts) {
    if (size + text.length > VALUE_SIZE_MAX) {
      chunks.push([]);
      size = 0;
    }
    chunks.at(-1)?.push(text);
    size += text.length;
  }
  return chunks;
}

/**
 * Whether the failures of a hook reach the limit at which it is paused, as of its last read row.
 */
function reachesPauseLimit({ config }: Ctx, { before, records }: HookWork, now: number): boolean {
  const { isReset, failureCount } = toHookChange(records);
  return (
    !isReset &&
    failureCount > 0 &&
    isEnabled(before) &&
    before.failingSince !== null &&
    before.failingSince <= now - config.hookPauseMs &&
    before.failureCount + failureCount >= PAUSE_FAILURES_MIN
  );
}

/** Pauses a hook and records the event, unless its row has changed meanwhile. */
const pause = (ctx: Ctx, { before: hook, records, token }: HookWork, now: number) => [
  ctx.db
    .update(hooks)
    .set({ pausedAt: now })
    .where(
      and(
        eq(hooks.id, hook.id),
        eq(hooks.leasedUntil, token),
        // The hook may have been activated again meanwhile.
        eq(hooks.isActive, true),
        isNull(hooks.pausedAt),
        lte(hooks.failingSince, now - ctx.config.hookPauseMs),
        gte(hooks.failureCount, PAUSE_FAILURES_MIN - toHookChange(records).failureCount),
      ),
    ),
  recordIfChanged({ ...ctx, now }, { type: "hook.paused", ...eventOwnerOf(hook), hookId: hook.id }),
];

/** The owner and repository of an event about a hook. */
function eventOwnerOf({ repoId, ownerId }: Hook) {
  if (repoId === null) return { ownerId: ownerId ?? 0 };
  const owner = sql`(
    select ${repositories.ownerId} from ${repositories} where ${repositories.id} = ${repoId}
  )`;
  return { ownerId: owner, repoId };
}
