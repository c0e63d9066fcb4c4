import type { z } from "@hono/zod-openapi";

import { ApiError } from "../shapes/failure.ts";

/** A JSON body, as a request takes it or a response gives it. */
export const json = <T extends z.ZodType>(schema: T, description: string) => ({
  description,
  content: { "application/json": { schema } },
});

/** A page of a list: `Link` leads to the others, `X-Total-Count` says how many items there are. */
export const page = <T extends z.ZodType>(schema: T, description: string) => ({
  ...json(schema, description),
  headers: {
    "X-Total-Count": {
      description: "Items on all pages",
      schema: { type: "integer" as const, format: "int64" },
    },
    Link: {
      description: "The next, last, first and previous page",
      schema: { type: "string" as const },
    },
  },
});

const refusal = (description: string) => json(ApiError, description);

/** The refusals, as responses of the interface description. */
const REFUSALS = {
  400: refusal("The request can't mean anything"),
  401: refusal("Nobody is signed in, or the credential is wrong"),
  403: refusal("The caller may not do this"),
  404: { description: "Does not exist, or not for this caller" },
  409: refusal("Clashes with what is there"),
  413: refusal("Too large"),
  422: refusal("Input that breaks a rule"),
  423: refusal("The repository is archived"),
} as const;

/** The refusals a route may give. */
export function refusals<Status extends keyof typeof REFUSALS>(
  ...statuses: Status[]
): Pick<typeof REFUSALS, Status> {
  const picked = statuses.map((status) => [status, REFUSALS[status]]);
  return Object.fromEntries(picked) as Pick<typeof REFUSALS, Status>;
}

export const empty = (description: string) => ({ description });
