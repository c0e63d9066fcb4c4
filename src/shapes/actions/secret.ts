import { z } from "@hono/zod-openapi";

import type { ActionSecret } from "../../db/schema/index.ts";
import { formatTime } from "../../lib/time.ts";
import { Time } from "../json.ts";

export const Secret = z
  .object({
    name: z.string().openapi({ example: "DEPLOY_KEY" }),
    description: z.string(),
    created_at: Time,
    updated_at: Time,
  })
  .openapi("Secret");

/** Formats a secret, without its value. */
export const toSecret = (
  secret: Pick<ActionSecret, "name" | "description" | "createdAt" | "updatedAt">,
): z.infer<typeof Secret> => ({
  name: secret.name,
  description: secret.description,
  created_at: formatTime(secret.createdAt),
  updated_at: formatTime(secret.updatedAt),
});
