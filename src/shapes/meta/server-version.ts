import { z } from "@hono/zod-openapi";

/**
 * Both keys have the same value: Gitea's API document names it `Version`, its clients read
 * `version`.
 */
export const ServerVersion = z
  .object({ Version: z.string(), version: z.string() })
  .openapi("ServerVersion");

export function toServerVersion(version: string): z.infer<typeof ServerVersion> {
  return { Version: version, version };
}
