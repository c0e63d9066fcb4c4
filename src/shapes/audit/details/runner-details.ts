import { z } from "@hono/zod-openapi";

import { NoDetails } from "./common-details.ts";

/** Runners of jobs. The target is the runner's name. */
export const RUNNER_DETAILS = {
  "runner.registered": z.object({ runnerId: z.int(), isEphemeral: z.boolean() }),
  "runner.edited": z.object({ runnerId: z.int(), isDisabled: z.boolean() }),
  "runner.deleted": z.object({ runnerId: z.int() }),
  "runner_token.reset": NoDetails,
} as const;
