import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { takeDueEvents } from "../../exchange/webhooks/dispatch/dispatch-events.ts";
import { leaseDueEvents } from "./run-consequences.ts";

/**
 * Takes due events for `dispatchEvents` and for `runConsequences`.
 *
 * Cost: one round trip for both, which is all for up to fifty events that no hook may receive and
 * from which nothing follows.
 */
export async function takeEvents(ctx: Ctx) {
  const { due, ...leased } = await batch(ctx.db, {
    due: takeDueEvents(ctx),
    ...leaseDueEvents(ctx.db, { now: ctx.now }),
  });
  return { due, leased };
}
