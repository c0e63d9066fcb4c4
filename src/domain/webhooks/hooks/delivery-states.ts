import { inArray } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { hooks, type Hook } from "../../../db/schema/index.ts";
import { deliveryDatabases } from "./delivery-databases.ts";
import type { HookOwner } from "./hook-owner.ts";

type DeliveryState = Pick<
  Hook,
  "id" | "lastStatus" | "lastDeliveredAt" | "failingSince" | "failureCount" | "backoffUntil"
>;

/**
 * Hooks of the first database with the results of their deliveries in all databases.
 *
 * Cost: nothing without shards and for hooks of repositories; one round trip, to all shards at once.
 */
export async function withDeliveryStates(
  ctx: Ctx,
  hookOwner: HookOwner,
  found: readonly Hook[],
): Promise<Hook[]> {
  const [, ...shards] = deliveryDatabases(ctx, hookOwner);
  if (shards.length === 0 || found.length === 0) return [...found];
  const ids = found.map(({ id }) => id);
  const states = await Promise.all(shards.map(({ db }) => statesOf(db, { ids })));
  const byHook = Map.groupBy(states.flat(), ({ id }) => id);
  return found.map((hook) => ({ ...hook, ...together([hook, ...(byHook.get(hook.id) ?? [])]) }));
}

const statesOf = prepare((db, p: Params<{ ids: readonly number[] }>) => {
  const { id, lastStatus, lastDeliveredAt, failingSince, failureCount, backoffUntil } = hooks;
  return db
    .select({ id, lastStatus, lastDeliveredAt, failingSince, failureCount, backoffUntil })
    .from(hooks)
    .where(inArray(id, p.ids));
});

/**
 * The last result of all, and since when every attempt has failed: after the last success of any. Failures and the backoff are
 * those of any, which an activation ends.
 */
function together(states: readonly DeliveryState[]): Omit<DeliveryState, "id"> {
  const [last] = states.toSorted((a, b) => (b.lastDeliveredAt ?? 0) - (a.lastDeliveredAt ?? 0));
  const succeededAt = states.map((state) =>
    state.lastStatus === "succeeded" ? (state.lastDeliveredAt ?? 0) : 0,
  );
  const failing = states.flatMap(({ failingSince }) => failingSince ?? []);
  const isFailing = last?.lastStatus === "failed" && failing.length > 0;
  const backoffUntil = Math.max(...states.map((state) => state.backoffUntil ?? 0));
  return {
    lastStatus: last?.lastStatus ?? "none",
    lastDeliveredAt: last?.lastDeliveredAt ?? null,
    failingSince: isFailing ? Math.max(Math.min(...failing), ...succeededAt) : null,
    failureCount: states.reduce((sum, { failureCount }) => sum + failureCount, 0),
    backoffUntil: backoffUntil === 0 ? null : backoffUntil,
  };
}
