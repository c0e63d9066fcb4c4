import { listLeftBehind } from "../domain/git/list-left-behind.ts";
import { tendRepository } from "../domain/git/tend-repository.ts";
import { removeLooseFiles } from "../domain/lfs/remove-loose-files.ts";
import type { Ctx } from "../context.ts";
import { logBug } from "../lib/log.ts";
import type { StorageJob } from "../storage/storage-job.ts";

/** Deleted repositories that one run of the schedule sees to; the next one goes on. */
const LEFT_BEHIND_MAX = 100;

/**
 * Does what the messages of a batch ask for, each by itself: one that fails comes again and takes
 * none of its neighbours along.
 *
 * @param openCtx A context for each: none knows of another's usage or time.
 */
export async function handleBatch(
  { messages }: MessageBatch<StorageJob>,
  openCtx: () => Ctx,
): Promise<void> {
  for (const message of messages) {
    try {
      await tendRepository(openCtx(), message.body);
      message.ack();
    } catch (error) {
      logBug(message.id, error);
      message.retry();
    }
  }
}

/** Sends again for what should have been done by now, and removes what uploads left behind. */
export async function handleSchedule(ctx: Ctx): Promise<void> {
  const places = await listLeftBehind(ctx, LEFT_BEHIND_MAX);
  for (const place of places) await ctx.git.tendLater(place);
  await removeLooseFiles(ctx);
}
