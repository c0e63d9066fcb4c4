import { z } from "@hono/zod-openapi";

/** Both keys carry the same value: the contract says `Version`, clients of the field read `version`. */
export const ServerVersion = z
  .object({ Version: z.string(), version: z.string() })
  .openapi("ServerVersion");

export function toServerVersion(version: string): z.infer<typeof ServerVersion> {
  return { Version: version, version };
}
