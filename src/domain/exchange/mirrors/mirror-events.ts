import type { Ctx } from "../../../context.ts";
import type { PushMirror, Repository } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";

/** The state of a mirror before and after an attempt. */
interface MirrorTransition {
  readonly before: Pick<PushMirror, "state">;
  readonly after: Pick<PushMirror, "state" | "lastError" | "dueAt">;
}

/**
 * The statements that record the event of a mirror that begins to fail, is paused, or works again;
 * none if its state stays the same. They follow the statement that stores the attempt, and have an
 * effect only if that changed a row.
 *
 * @param remoteName The remote of a push mirror; undefined for a pull mirror.
 */
export function mirrorEvents(
  ctx: Ctx,
  { id: repoId, ownerId }: Pick<Repository, "id" | "ownerId">,
  remoteName: string | undefined,
  { before, after }: MirrorTransition,
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
