import { z } from "@hono/zod-openapi";

export const NoDetails = z.object({});

/** The names of changed fields, as the code names them, never their values. */
export const Changed = z.object({ changed: z.array(z.string()) });

export const RenamedFrom = z.object({ from: z.string(), to: z.string() });
