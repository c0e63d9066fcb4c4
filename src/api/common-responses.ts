import type { RouteConfig } from "@hono/zod-openapi";

import { HEADERS, NOT_MODIFIED, OUTDATED, refusals } from "./answers.ts";

type Responses = RouteConfig["responses"];
type HeadersObject = Readonly<Record<string, object>>;
type Response = Exclude<Responses[string], { $ref: string }>;

/** Reads below a repository get an `ETag`, since clients poll them. */
const IN_REPOSITORY = /^\/repos\/\{owner\}\/\{repo\}\//;

/**
 * Whether the responses of a route get an `ETag`, and 304 for a client that has the current
 * content, and 412 for one that requires another.
 */
export const isConditional = ({
  method,
  path,
  responses,
}: Pick<RouteConfig, "method" | "path" | "responses">): boolean =>
  method === "get" && IN_REPOSITORY.test(path) && responses[200] !== undefined;

/** Whether a route takes a JSON body. */
export const takesJson = ({ request }: Pick<RouteConfig, "request">): boolean =>
  request?.body?.content["application/json"] !== undefined;

/**
 * The responses of a route: its own, and those of what runs around its handler for every route,
 * which are the guard, the parser of JSON bodies, conditional requests and the renderer of
 * failures.
 */
export function describeResponses(route: RouteConfig): Responses {
  const common: Responses = {
    // 404 also where the path names nothing: for `Sudo` as a user who does not exist.
    ...refusals(401, 403, 404, 429, 500),
    ...(route.method !== "get" && refusals(507)),
    ...redirects(route),
    ...(takesJson(route) && refusals(413)),
    ...(isChange(route) && refusals(423)),
    ...((takesJson(route) || route.request?.query) && refusals(422)),
  };
  const responses = withReason({ ...common, ...route.responses });
  if (!isConditional(route)) return responses;
  const found = responses[200] as Response;
  const headers = {
    ...HEADERS.etag,
    ...HEADERS.incomplete,
    ...(found.headers as HeadersObject | undefined),
  };
  return {
    ...responses,
    200: { ...found, headers },
    304: { description: NOT_MODIFIED, headers },
    412: { description: OUTDATED, headers },
  };
}

/** Whether a route may change a repository, which one that is being migrated refuses. */
const isChange = ({ method, path }: RouteConfig): boolean =>
  method !== "get" && path.includes("/{owner}/{repo}");

/** Adds the header that names what is not found. */
function withReason(responses: Responses): Responses {
  const missing = responses[404] as Response | undefined;
  return missing ? { ...responses, 404: { ...missing, headers: HEADERS.reason } } : responses;
}

/** A renamed account or repository redirects to its new name. */
function redirects({ method, path }: RouteConfig): Responses {
  const moved = { description: "Renamed", headers: HEADERS.location };
  if (!path.includes("/{owner}/{repo}")) {
    return /\{(?:username|org)\}|^\/packages\/\{owner\}/.test(path) ? { 307: moved } : {};
  }
  // The owner, or the repository itself.
  return { 307: moved, ...(method === "get" ? { 301: moved } : { 308: moved }) };
}
