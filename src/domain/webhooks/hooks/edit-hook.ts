import { and, eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { hooks, type Hook } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { differing } from "../../../lib/differing.ts";
import { notFound } from "../../../lib/failure.ts";
import { findHook } from "./find-hook.ts";
import { eventOwner, belongsTo, type HookOwner } from "./hook-owner.ts";
import { toColumns, type HookOptions } from "./hook-options.ts";
import { requireApprover } from "./require-approver.ts";

/**
 * Changes of a hook what is named. Whoever does so answers for it from then on; activating it also ends
 * a pause.
 *
 * @throws Failure `not_found` for a hook that is not at this place, else as `createHook`.
 */
export async function editHook(
  ctx: Ctx,
  hookOwner: HookOwner,
  id: number,
  options: HookOptions,
): Promise<Hook> {
  const approver = requireApprover(ctx.actor, hookOwner);
  const hook = await findHook(ctx, hookOwner, id);
  const columns = await toColumns(ctx, hook.type, options, hook.chat);
  const isElsewhere =
    columns.url !== undefined && new URL(columns.url).origin !== new URL(hook.url).origin;
  const wanted = {
    // SECURITY: a new receiver is not given what the old one was trusted with. Nobody reads it back.
    ...(isElsewhere && { authorization: null }),
    ...columns,
    ...(columns.isActive && { pausedAt: null, failingSince: null, failureCount: 0 }),
    // Another receiver, or one that is said to be well, need not wait for what the last one did.
    ...((columns.isActive || (columns.url ?? hook.url) !== hook.url) && { backoffUntil: null }),
    // What the service made of a default hook is a person's once they change it.
    approverId: approver.id,
  };
  if (Object.keys(differing(hook, wanted)).length === 0) return hook;
  const [edited] = await ctx.db.batch([
    ctx.db
      .update(hooks)
      .set({ ...wanted, updatedAt: ctx.now })
      // What was judged is what is changed: the address may have been another one meanwhile.
      .where(and(eq(hooks.id, id), belongsTo(hookOwner), eq(hooks.url, hook.url)))
      .returning(),
    recordIfChanged(ctx, { type: "hook.edited", ...eventOwner(hookOwner), hookId: id }),
  ]);
  const [row] = edited;
  // Somebody deleted it meanwhile.
  if (!row) throw notFound();
  return row;
}
