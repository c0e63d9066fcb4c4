import { z } from "@hono/zod-openapi";

import { Paging } from "../paging.ts";
import { TimeRange } from "./time-range.ts";

/** The query of a list of the caller's times. */
export const OwnTimeListing = Paging.extend(TimeRange.shape);

/** The query of a list of times in a repository. */
export const TimeListing = OwnTimeListing.extend({
  user: z
    .string()
    .optional()
    .transform((name = "") => name.trim())
    .openapi({ type: "string", description: "Only times of this user; of others for writers" }),
});
