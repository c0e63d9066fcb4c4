import type { Ctx } from "../../../context.ts";
import { recordAudit } from "./record-audit.ts";

/** Maximum characters of what a client says of itself. */
const CLIENT_CHARS_MAX = 200;

/** A call of a tool that has changed something. */
interface ToolCall {
  readonly tool: string;
  /** The name and version that the client gives itself. */
  readonly client: string;
  /** The name of the repository that the call was for, where it was for one. */
  readonly repository: string | undefined;
}

/**
 * Records that an agent has changed something on behalf of the caller. The change itself has its
 * own entry where the same change by hand has one.
 *
 * Cost: one round trip.
 */
export async function recordToolCall(
  ctx: Ctx,
  { tool, client, repository = "" }: ToolCall,
): Promise<void> {
  await recordAudit(ctx, {
    kind: "tool.called",
    ownerId: ctx.actor.user?.id ?? 0,
    target: repository,
    details: { tool, client: client.slice(0, CLIENT_CHARS_MAX).toWellFormed() },
  }).execute();
}
