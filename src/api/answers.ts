import type { z } from "@hono/zod-openapi";

import { ApiError } from "../shapes/failure.ts";

/** The JSON body of a request or response, for the OpenAPI document. */
export const json = <T extends z.ZodType>(schema: T, description: string) => ({
  description,
  content: { "application/json": { schema } },
});

/** A response header of the OpenAPI document. */
export const header = (
  type: "boolean" | "integer" | "string",
  description: string,
  required = true,
) => ({
  description,
  required,
  schema: { type, ...(type === "integer" && { format: "int64" }) },
});

/** Response headers of the OpenAPI document. */
export const HEADERS = {
  download: {
    "Content-Disposition": header("string", "The name of the file"),
    ETag: header("string", "The version of the content, for `If-None-Match`"),
  },
  dated: { "Last-Modified": header("string", "The time of the commit that is read") },
  etag: { ETag: header("string", "The version of the content, for `If-None-Match`", false) },
  incomplete: {
    "X-Gitea-Warning": header(
      "string",
      "The parts of the response that are incomplete, because computing them takes too much work",
      false,
    ),
  },
  invalidTemplates: {
    "X-Gitea-Warning": header(
      "string",
      "The number of invalid templates, which are left out",
      false,
    ),
  },
  blankIssue: {
    "X-Gitea-Warning": header(
      "string",
      "The configuration of the repository that asks for a template",
      false,
    ),
  },
  location: { Location: header("string", "The URL of the same request under the current name") },
  reason: {
    "X-Edgeforge-Reason": header("string", "What is not found, in a word"),
  },
  binding: {
    "X-Edgeforge-Reason": header(
      "string",
      "Which binding of the token refuses the request, in a word; absent for other refusals",
      false,
    ),
  },
  page: {
    "X-Total-Count": header("integer", "The number of items on all pages"),
    Link: header("string", "The URLs of the next, last, first and previous page", false),
  },
} as const;

/**
 * The response of a paginated list: `Link` has the URLs of other pages, `X-Total-Count` the total.
 */
export const page = <T extends z.ZodType>(schema: T, description: string) => ({
  ...json(schema, description),
  headers: HEADERS.page,
});

/** The response of a list of commits, with headers that describe its page. */
export const numberedPage = <T extends z.ZodType>(schema: T, description: string) => ({
  ...json(schema, description),
  headers: {
    ...HEADERS.page,
    "X-Total": header("integer", "The number of items on all pages"),
    "X-Page": header("integer", "The number of the page"),
    "X-PerPage": header("integer", "The number of items on a full page"),
    "X-PageCount": header("integer", "The number of pages"),
    "X-HasMore": header("boolean", "Whether there is a next page"),
  },
});

const refusal = (description: string) => json(ApiError, description);

/** Error responses of the OpenAPI document by status. */
export const REFUSALS = {
  400: refusal("The request is malformed"),
  401: refusal("Authentication is required, or the credential is invalid"),
  403: { ...refusal("The caller lacks permission"), headers: HEADERS.binding },
  404: { description: "Not found, or not visible to the caller" },
  405: refusal("Exists, but not for a thing of this kind"),
  409: refusal("The request conflicts with the current state"),
  410: refusal("What the request asks for is not kept any longer"),
  412: refusal("Something else must happen first, or the state does not exist"),
  413: refusal("The request or the result is too large"),
  422: refusal("The input is invalid"),
  423: refusal("The repository is archived, is being migrated, or follows another one"),
  429: {
    ...refusal("Too many wrong passwords, or too many passwords at once"),
    headers: { "Retry-After": header("integer", "When to try again, in seconds", false) },
  },
  500: refusal("A fault of the service; the message has the request's id"),
  507: refusal("The storage of the service is full"),
} as const;

/** The description of each 304. */
export const NOT_MODIFIED = "Not modified";
/** The description of each 412 of a read. */
export const OUTDATED =
  "Outdated; the content is not what `If-Match` or `If-Unmodified-Since` requires";

/** The error responses of a route. */
export function refusals<Status extends keyof typeof REFUSALS>(
  ...statuses: Status[]
): Pick<typeof REFUSALS, Status> {
  const picked = statuses.map((status) => [status, REFUSALS[status]]);
  return Object.fromEntries(picked) as Pick<typeof REFUSALS, Status>;
}

/** A response without a body. */
export const empty = (description: string) => ({ description });
