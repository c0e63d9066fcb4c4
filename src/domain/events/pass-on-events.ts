import type { Ctx } from "../../context.ts";
import { moveLinkedEvents } from "./move-linked-events.ts";
import { relayEvents } from "./relay-events.ts";

/**
 * Takes the events of a database to the others in which hooks and feeds are told of them, as `relayEvents` and `moveLinkedEvents` do. Safe to
 * repeat and to run concurrently.
 *
 * @param ctx `db` is the database that they are taken from.
 */
export const passOnEvents = (ctx: Ctx): Promise<void> =>
  ctx.db.shard === 0 ? relayEvents(ctx) : moveLinkedEvents(ctx);
