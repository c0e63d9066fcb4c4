import type { Ctx } from "../../../../context.ts";
import { forbidden } from "../../../../lib/failure.ts";

/** @throws Failure `forbidden` if webhooks are disabled. */
export function requireWebhooks({ config }: Ctx): void {
  if (config.areWebhooksDisabled) throw forbidden("webhooks disabled by administrator");
}
