import { z } from "@hono/zod-openapi";

/** The details of what agents do by tools. */
export const TOOL_DETAILS = {
  "tool.called": z.object({
    tool: z.string(),
    client: z.string().openapi({ description: "The name that the client gives itself" }),
  }),
} as const;
