import { and, eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { hooks, type Hook } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import { belongsTo, type HookOwner } from "./hook-owner.ts";

/**
 * Finds a hook by id.
 *
 * @throws Failure `not_found` also for a hook of a different owner.
 */
export async function findHook({ db }: Ctx, hookOwner: HookOwner, id: number): Promise<Hook> {
  const [hook] = await db
    .select()
    .from(hooks)
    .where(and(eq(hooks.id, id), belongsTo(hookOwner)));
  if (!hook) throw notFound();
  return hook;
}
