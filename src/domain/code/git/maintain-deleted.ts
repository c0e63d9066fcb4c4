import type { Ctx } from "../../../context.ts";
import { listOrphaned } from "./list-orphaned.ts";

/** Deleted repositories handled by one run; the next run continues. */
const ORPHANED_MAX = 100;

/**
 * Queues the removal of what deleted repositories have stored, where the message of the deletion
 * was lost.
 */
export async function maintainDeleted(ctx: Ctx): Promise<void> {
  const locations = await listOrphaned(ctx, ORPHANED_MAX);
  for (const location of locations) await ctx.git.maintainLater(location);
}
