import type { Ctx } from "../../context.ts";

/** Hands out the events that wait for it: what each hook is told becomes a delivery. */
export async function tellEvents(_ctx: Ctx): Promise<void> {}
