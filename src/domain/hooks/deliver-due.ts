import type { Ctx } from "../../context.ts";

/** Sends to hooks what waits for them. */
export async function deliverDue(_ctx: Ctx, _hookIds: readonly number[]): Promise<void> {}
