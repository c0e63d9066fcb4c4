import { and, eq, gte, inArray, isNull, lte, or, type SQL, sql } from "drizzle-orm";

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
 * Cost: one round trip, whatever the number of hooks and attempts.
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
  const ids = works.map(({ hookId }) => hookId);
  const releasing = works.filter(({ release }) => release !== "never");
  const releasingIds = releasing.map(({ hookId }) => hookId);
  const alwaysIds = releasing.flatMap(({ release, hookId }) =>
    release === "always" ? [hookId] : [],
  );
  const pausing = works.filter((work) => reachesPauseLimit(ctx, work, now));
  const unsendableIds = [...new Set([...releasingIds, ...pausing.map(({ hookId }) => hookId)])];
  const ofHookMax = ofHookMaxFor(releasingIds.length);
  const range = { hookIds: releasingIds, token, now, ofHookMax, knownIds };

  const ifReleasing = <T>(statement: T): T[] => (releasing.length > 0 ? [statement] : []);
  const selects = selectDueWithPayloads(db, range);
  const { released, held, due, payloads } = await batch(db, {
    // Renews the leases first: the other statements have an effect only on hooks with the new
    // token.
    renewed: updateHooks(db, { rows: formatChanges(works), token }),
    stored: chunksOf(works.flatMap(({ records }) => records.map((each) => each.deliveryJson))).map(
      (rows) => updateDeliveries(db, { rows: `[${rows.join(",")}]`, token }),
    ),
    paused: pausing.flatMap(({ before }) => pause(ctx, before, token, now)),
    givenUp: unsendableIds.length > 0 ? [giveUp(db, { hookIds: unsendableIds, token, now })] : [],
    released: ifReleasing(releaseLeases(db, { hookIds: releasingIds, alwaysIds, token, now })),
    held: selectHeld(db, { ids, token }),
    due: ifReleasing(selects.due),
    payloads: ifReleasing(selects.payloads),
  });
  const releasedById = new Map(released.flat().map((hook) => [hook.id, hook]));
  const heldById = new Map(held.map((hook) => [hook.id, hook]));
  const dueOfHook = Map.groupBy(due.flat(), ({ hookId }) => hookId);
  return {
    token,
    payloads: payloads.flat(),
    of: (hookId) => {
      const done = releasedById.get(hookId);
      if (done) {
        const { nextAt, backoffUntil } = done;
        return { kind: "released", nextAt: nextAt && Math.max(nextAt, backoffUntil ?? 0) };
      }
      const hook = heldById.get(hookId);
      return hook ? { kind: "held", hook, due: dueOfHook.get(hookId) ?? [] } : { kind: "lost" };
    },
  };
}

/** How attempts change hooks, as the JSON of a list. */
const formatChanges = (works: readonly HookWork[]): string =>
  JSON.stringify(
    works.map(({ hookId, token, records }) => {
      const { last, ...change } = toHookChange(records);
      return { id: hookId, token, lastStatus: last?.status, lastDeliveredAt: last?.at, ...change };
    }),
  );

/** Rows as JSON, and the token of the lease that is held by then. */
type Rows = Params<{ rows: string; token: number }>;

const updateHooks = prepare((db, { rows, token }: Rows) => {
  const value = (name: string): SQL => sql.raw(`work.value ->> '${name}'`);
  const { lastStatus, lastDeliveredAt, failingSince, failureCount, backoffUntil } = hooks;
  return db
    .update(hooks)
    .set({
      leasedUntil: token,
      lastStatus: sql`coalesce(${value("lastStatus")}, ${lastStatus})`,
      lastDeliveredAt: sql`coalesce(${value("lastDeliveredAt")}, ${lastDeliveredAt})`,
      failingSince: sql`coalesce(
        iif(${value("isReset")}, null, ${failingSince}), ${value("failedAt")}
      )`,
      failureCount: sql`iif(${value("isReset")}, 0, ${failureCount}) + ${value("failureCount")}`,
      backoffUntil: sql`iif(
        ${value("backoffUntil")} is null,
        ${backoffUntil},
        max(coalesce(${backoffUntil}, 0), ${value("backoffUntil")})
      )`,
    })
    .from(sql`json_each(${rows}) work`)
    .where(sql`${hooks.id} = ${value("id")} and ${hooks.leasedUntil} = ${value("token")}`);
});

/** Leaves a delivery pending if a redelivery was requested during the attempt. */
const updateDeliveries = prepare((db, { rows, token }: Rows) => {
  const value = (name: string): SQL => sql.raw(`attempt.value ->> '${name}'`);
  const columns = STORED_COLUMNS.map((name) => [name, value(name)] as const);
  return db
    .update(hookDeliveries)
    .set(Object.fromEntries(columns))
    .from(sql`json_each(${rows}) attempt`)
    .where(
      sql`${hookDeliveries.id} = ${value("id")}
        and ${hookDeliveries.nextAttemptAt} = ${value("dueAt")}
        and exists (
          select 1
          from ${hooks}
          where ${hooks.id} = ${hookDeliveries.hookId} and ${hooks.leasedUntil} = ${token}
        )`,
    );
});

const giveUp = prepare(giveUpUnsendable);

const selectHeld = prepare((db, p: Params<{ ids: readonly number[]; token: number }>) =>
  db
    .select()
    .from(hooks)
    .where(and(inArray(hooks.id, p.ids), eq(hooks.leasedUntil, p.token))),
);

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
const pause = (ctx: Ctx, hook: Hook, token: number, now: number) => [
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
        gte(hooks.failureCount, PAUSE_FAILURES_MIN),
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

/** Which leases are released. */
interface Release extends Pick<DueRange, "hookIds" | "token" | "now"> {
  /** Hooks that are released even if deliveries are due. */
  readonly alwaysIds: readonly number[];
}

/** Releases leases on hooks without due deliveries or that back off. */
const releaseLeases = prepare((db, { hookIds, alwaysIds, token, now }: Params<Release>) => {
  const { nextAttemptAt, hookId } = hookDeliveries;
  const nextAt = qualified<number | null>(sql`(
    select min(${nextAttemptAt})
    from ${hookDeliveries}
    where ${hookId} = ${hooks.id} and ${nextAttemptAt} is not null
  )`);
  return db
    .update(hooks)
    .set({ leasedUntil: null })
    .where(
      and(
        inArray(hooks.id, hookIds),
        eq(hooks.leasedUntil, token),
        or(
          inArray(hooks.id, alwaysIds),
          sql`${hooks.backoffUntil} > ${now}`,
          sql`not ${hasDue(now)}`,
        ),
      ),
    )
    .returning({ id: hooks.id, backoffUntil: hooks.backoffUntil, nextAt: nextAt.as("next_at") });
});
