import type { Ctx } from "../../context.ts";
import { resealSecrets } from "./hooks/reseal-secrets.ts";
import { sweepDeliveries } from "./delivery/sweep-deliveries.ts";

/** Removes what hooks were told long ago, and seals their secrets by the newest key. */
export async function maintainWebhooks(ctx: Ctx): Promise<void> {
  await sweepDeliveries(ctx);
  await resealSecrets(ctx);
}
