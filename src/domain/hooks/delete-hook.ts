import { and, eq } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { hooks } from "../../db/schema/index.ts";
import { recordIfChanged } from "../../events/record.ts";
import { notFound } from "../../lib/failure.ts";
import { eventPlace, isAt, type HookPlace } from "./hook-place.ts";

/**
 * Deletes a hook with its deliveries.
 *
 * @throws Failure `not_found` for one that is not at this place.
 */
export async function deleteHook(ctx: Ctx, place: HookPlace, id: number): Promise<void> {
  const [deleted] = await ctx.db.batch([
    ctx.db
      .delete(hooks)
      .where(and(eq(hooks.id, id), isAt(place)))
      .returning({ id: hooks.id }),
    recordIfChanged(ctx, { type: "hook.deleted", ...eventPlace(place), hookId: id }),
  ]);
  if (deleted.length === 0) throw notFound();
}
