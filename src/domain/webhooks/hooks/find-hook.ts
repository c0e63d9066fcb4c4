import { and, eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { hooks, type Hook } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import { isAt, type HookPlace } from "./hook-place.ts";

/**
 * The hook of an id.
 *
 * @throws Failure `not_found` also for one that is elsewhere.
 */
export async function findHook({ db }: Ctx, place: HookPlace, id: number): Promise<Hook> {
  const [hook] = await db
    .select()
    .from(hooks)
    .where(and(eq(hooks.id, id), isAt(place)));
  if (!hook) throw notFound();
  return hook;
}
