import type { Ctx } from "../../context.ts";
import { resealSecrets } from "./hooks/reseal-secrets.ts";
import { sweepDeliveries } from "./delivery/sweep-deliveries.ts";

/** Sweeps deliveries past the retention period, and seals hook secrets again with the newest key. */
export async function maintainWebhooks(ctx: Ctx): Promise<void> {
  await sweepDeliveries(ctx);
  await resealSecrets(ctx);
}
