import type { Ctx } from "../../../context.ts";
import type { PushMirror, Repository } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";

/** What a mirror was before an attempt, and is after it. */
interface Turn {
  readonly before: Pick<PushMirror, "state">;
  readonly after: Pick<PushMirror, "state" | "lastError" | "dueAt">;
}

/**
 * The statements that tell of a mirror which begins to fail, is paused, or works again: nothing
 * where it goes on as before. They follow the statement that stores the attempt, and tell only if
 * that changed a row.
 *
 * @param remoteName Of a push mirror; undefined for the mirror that the repository is.
 */
export function mirrorEvents(
  ctx: Ctx,
  { id: repoId, ownerId }: Pick<Repository, "id" | "ownerId">,
  remoteName: string | undefined,
  { before, after }: Turn,
) {
  if (before.state === after.state) return [];
  const subject = { repoId, ownerId, ...(remoteName !== undefined && { remoteName }) };
  if (after.state === "ok") {
    return [recordIfChanged(ctx, { type: "mirror.recovered", ...subject })];
  }
  const { lastError: reason, dueAt: nextAt } = after;
  const isPaused = after.state === "paused";
  return [recordIfChanged(ctx, { type: "mirror.failed", ...subject, reason, nextAt, isPaused })];
}
