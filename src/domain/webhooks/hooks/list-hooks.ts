import { and, asc, count, inArray } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { hooks, type Hook, type HookLevel } from "../../../db/schema/index.ts";
import type { Listed, Slice } from "../../slice.ts";
import { belongsTo, type HookOwner } from "./hook-owner.ts";

/**
 * Lists the hooks of an owner, oldest first.
 *
 * @param levels Restricts the list to hooks of these levels.
 */
export async function listHooks(
  { db }: Ctx,
  hookOwner: HookOwner,
  { size, offset }: Slice,
  levels?: readonly HookLevel[],
): Promise<Listed<Hook>> {
  const isListed = and(belongsTo(hookOwner), levels && inArray(hooks.level, [...levels]));
  const [items, [counted]] = await db.batch([
    db.select().from(hooks).where(isListed).orderBy(asc(hooks.id)).limit(size).offset(offset),
    db
      .select({ total: count().as("total") })
      .from(hooks)
      .where(isListed),
  ]);
  return { items, total: counted?.total ?? 0 };
}
