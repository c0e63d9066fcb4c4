import { and, eq } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { hooks, type Hook } from "../../../../db/schema/index.ts";
import { recordIfChanged } from "../../../../events/record.ts";
import { differing } from "../../../../lib/differing.ts";
import { notFound } from "../../../../lib/failure.ts";
import { recordAuditIfChanged } from "../../../people/audit/record-audit.ts";
import { findHook } from "./find-hook.ts";
import { eventOwner, belongsTo, type HookOwner } from "./hook-owner.ts";
import { toColumns, type HookOptions } from "./hook-options.ts";
import { requireApprover } from "./require-approver.ts";

/**
 * Changes the given options of a hook. The caller becomes its approver; activating the hook also
 * ends a pause.
 *
 * @throws Failure `not_found` for a hook that does not belong to this owner, otherwise as
 *   `createHook`.
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
  const edit = {
    // SECURITY: a new origin must not receive the authorization header that was stored for the old
    // one. No response contains the stored header.
    ...(isElsewhere && { authorization: null }),
    ...columns,
    ...(columns.isActive && { pausedAt: null, failingSince: null, failureCount: 0 }),
    // A new URL, or an explicit activation, ends the backoff that the old receiver caused.
    ...((columns.isActive || (columns.url ?? hook.url) !== hook.url) && { backoffUntil: null }),
    // A copy of a default hook is approved by the service; an edit makes the caller its approver.
    approverId: approver.id,
  };
  const changed = Object.keys(differing(hook, edit)).toSorted();
  if (changed.length === 0) return hook;
  const [edited] = await ctx.db.batch([
    ctx.db
      .update(hooks)
      .set({ ...edit, updatedAt: ctx.now })
      // The update applies only to the URL that was validated: a concurrent edit may have changed
      // it.
      .where(and(eq(hooks.id, id), belongsTo(hookOwner), eq(hooks.url, hook.url)))
      .returning(),
    recordIfChanged(ctx, { type: "hook.edited", ...eventOwner(hookOwner), hookId: id }),
    recordAuditIfChanged(ctx, {
      kind: "hook.edited",
      ...eventOwner(hookOwner),
      target: String(id),
      details: { changed },
    }),
  ]);
  const [row] = edited;
  // The hook was deleted concurrently, or its URL was changed.
  if (!row) throw notFound();
  return row;
}
