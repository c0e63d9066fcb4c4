import { z } from "@hono/zod-openapi";

import { Int64 } from "../../json.ts";

const Hook = z.object({ hook_id: Int64 });

export const WEBHOOK_PAYLOADS = {
  "hook.created": Hook,
  "hook.edited": Hook,
  "hook.deleted": Hook,
  "hook.tested": Hook,
  "hook.paused": Hook,
  "hook.redelivered": Hook,
} as const;
