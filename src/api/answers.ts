import type { z } from "@hono/zod-openapi";

import { ApiError } from "../shapes/failure.ts";

/** The JSON body of a request or response, for the OpenAPI document. */
export const json = <T extends z.ZodType>(schema: T, description: string) => ({
  description,
  content: { "application/json": { schema } },
});

/** The response of a paginated list: `Link` has the URLs of other pages, `X-Total-Count` the total. */
export const page = <T extends z.ZodType>(schema: T, description: string) => ({
  ...json(schema, description),
  headers: {
    "X-Total-Count": {
      description: "The number of items on all pages",
      schema: { type: "integer" as const, format: "int64" },
    },
    Link: {
      description: "The URLs of the next, last, first and previous page",
      schema: { type: "string" as const },
    },
  },
});

const refusal = (description: string) => json(ApiError, description);

/** Error responses of the OpenAPI document by status. */
const REFUSALS = {
  400: refusal("The request is malformed"),
  401: refusal("Authentication is required, or the credential is invalid"),
  403: refusal("The caller lacks permission"),
  404: { description: "Not found, or not visible to the caller" },
  409: refusal("The request conflicts with the current state"),
  413: refusal("The request or the result is too large"),
  422: refusal("The input is invalid"),
  423: refusal("The repository is archived"),
} as const;

/** The error responses of a route. */
export function refusals<Status extends keyof typeof REFUSALS>(
  ...statuses: Status[]
): Pick<typeof REFUSALS, Status> {
  const picked = statuses.map((status) => [status, REFUSALS[status]]);
  return Object.fromEntries(picked) as Pick<typeof REFUSALS, Status>;
}

/** A response without a body. */
export const empty = (description: string) => ({ description });
