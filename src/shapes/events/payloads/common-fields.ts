import { z } from "@hono/zod-openapi";

/** Fields that several payloads share. */
export const Named = z.object({ name: z.string() });
export const Renamed = z.object({ from: z.string(), to: z.string() });
export const Edited = z.object({ changed: z.array(z.string()) });
export const Nothing = z.object({});
