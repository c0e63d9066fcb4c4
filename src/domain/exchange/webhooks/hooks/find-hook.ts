import { and, eq } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { type Params, prepare } from "../../../../db/prepared.ts";
import { hooks, type Hook } from "../../../../db/schema/index.ts";
import { notFound } from "../../../../lib/failure.ts";
import {
  type HookOwner,
  type HookOwnerArgument,
  hookOwnerArgument,
  isHookOf,
} from "./hook-owner.ts";

/**
 * Finds a hook by id.
 *
 * @throws Failure `not_found` also for a hook of a different owner.
 */
export async function findHook({ db }: Ctx, hookOwner: HookOwner, id: number): Promise<Hook> {
  const [hook] = await hookOfOwner(db, { id, owner: hookOwnerArgument(hookOwner) });
  if (!hook) throw notFound();
  return hook;
}

const hookOfOwner = prepare((db, p: Params<{ id: number; owner: HookOwnerArgument }>) =>
  db
    .select()
    .from(hooks)
    .where(and(eq(hooks.id, p.id), isHookOf(p.owner))),
);
