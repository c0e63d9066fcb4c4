import { sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../context.ts";
import { events } from "../db/schema/index.ts";
import type { Event } from "./event.ts";

/** Ids of rows that the same batch inserts are known as SQL only. */
type OrSql<T> = { [K in keyof T]: T[K] extends number ? number | SQL : T[K] };
type Recordable = Event extends infer E ? (E extends Event ? OrSql<E> : never) : never;

/**
 * The statement that records what happened. It belongs into the batch of the change: nothing is
 * told that was not stored, and nothing is stored untold.
 */
export function record(ctx: Ctx, event: Recordable) {
  return insertEvent(ctx, event, sql`1`);
}

/**
 * The same, for a change that may turn out to change nothing: the event is written only if the
 * statement just before it in the batch changed a row.
 */
export function recordIfChanged(ctx: Ctx, event: Recordable) {
  return insertEvent(ctx, event, sql`changes() > 0`);
}

function insertEvent(ctx: Ctx, event: Recordable, condition: SQL) {
  const { type, ownerId, repoId, ...payload } = { repoId: null, ...event };
  const actorId = ctx.actor.user?.id ?? 0;
  return ctx.db
    .insert(events)
    .select(
      sql`select null, ${type}, ${actorId}, ${ownerId}, ${repoId}, ${JSON.stringify(payload)}, ${ctx.now} where ${condition}`,
    );
}
