import { OpenAPIHono, type RouteConfig, z } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";

import { invalidField, notFound } from "../lib/failure.ts";
import { describeResponses, isConditional, takesJson } from "./common-responses.ts";
import { answerConditionally } from "./conditional.ts";
import { wordValidation } from "./field-rules.ts";
import { readJsonBody } from "./json-body.ts";
import type { Guard } from "./guards/guard.ts";
import { MountedRouter } from "./mounted-router.ts";
import { isList } from "./query-words.ts";

wordValidation();

/** Variables of a request, set before any route runs. */
export interface ApiEnv {
  Variables: {
    requestId: string;
    rootUrl: string;
  };
}

/**
 * Marks a parameter that matches slashes too, for names of branches and files:
 * `/branches/{branch*}`, `/commits/{ref*}/status`. With a question mark the path may also end
 * before it, and the parameter is empty: `/contents-ext/{filepath*?}`.
 */
const REST = /\{(\w+)\*(\??)\}/;

/** A parameter with a suffix from an enumeration: `/commits/{sha}.{diffType}`. */
const SUFFIXED = /\{(\w+)\}\.\{(\w+)\}$/;

/**
 * Creates the app for the endpoints of one noun; each is added by one call of `openapi()`.
 *
 * The first middleware of each route is its guard: a route without a guard fails at startup.
 */
export function endpoints(): OpenAPIHono<ApiEnv> {
  const app = new OpenAPIHono<ApiEnv>({
    router: new MountedRouter(),
    defaultHook: (result) => {
      if (!result.success) throw refuse(result.target, result.error);
    },
  });
  const register = app.openapi.bind(app);
  app.openapi = ((route: Parameters<typeof register>[0], ...rest: unknown[]) => {
    const { middleware: own, ...operation } = route;
    const middleware = [own ?? []].flat() as MiddlewareHandler[];
    const guard = middleware[0] as Guard | undefined;
    if (!guard?.scopes) {
      throw new Error(`${route.method} ${route.path} has no guard as its first middleware`);
    }
    const described = {
      ...operation,
      responses: describeResponses(route),
      path: route.path.replace(REST, "{$1}"),
      security: guard.allowsAnonymous
        ? [{}, { token: [] }, { basic: [] }]
        : [{ token: [] }, { basic: [] }],
      "x-scopes": guard.scopes,
    };
    app.openAPIRegistry.registerPath(described);
    const routed = {
      ...described,
      hide: true,
      ...toRouting(route),
      // After the guard: a refused caller learns nothing about the body's validity or the current
      // content.
      middleware: [
        ...middleware,
        ...(takesJson(route) ? [readJsonBody] : []),
        ...(isConditional(route) ? [answerConditionally] : []),
      ],
    };
    return (register as (...args: unknown[]) => unknown)(routed, ...rest);
  }) as typeof app.openapi;
  return app;
}

type Route = Pick<RouteConfig, "path" | "request">;

/** The path pattern that Hono routes by, and the request schema that reads its parameters. */
function toRouting({ path, request: described }: Route): Route {
  const request = described && {
    ...described,
    // A validator would read a form into memory: its handler streams it.
    ...(described.body?.content["multipart/form-data"] && { body: undefined as never }),
    ...(described.query && {
      query: z.preprocess(takeFirst(described.query) as never, described.query) as never,
    }),
  };
  const [, name = "", suffix = ""] = SUFFIXED.exec(path) ?? [];
  const params = request?.params as z.ZodObject<Record<string, z.ZodEnum>> | undefined;
  if (name === "" || !params) {
    const [, rest = "", optional] = REST.exec(path) ?? [];
    const fill = (values: object): object => ({ [rest]: "", ...values });
    return {
      path: path.replace(REST, ":$1{.+}$2"),
      request: {
        ...request,
        ...(optional && params && { params: z.preprocess(fill as never, params) as never }),
      },
    };
  }
  const suffixes = params.shape[suffix]?.options.join("|");
  const split = (values: Record<string, string>): Record<string, string> => {
    const [, value = "", end = ""] = /^(.+)\.(\w+)$/s.exec(values[name] ?? "") ?? [];
    return { ...values, [name]: value, [suffix]: end };
  };
  return {
    path: path.replace(SUFFIXED, `:$1{.+\\.(?:${suffixes})}`),
    request: { ...request, params: z.preprocess(split as never, params) as never },
  };
}

/**
 * The first value of each parameter of a query that is no list: one that is sent twice is a
 * client's slip.
 */
const takeFirst =
  (schema: z.ZodType) =>
  (query: Record<string, string | string[]>): Record<string, string | string[] | undefined> => {
    const shape = schema instanceof z.ZodObject ? (schema.shape as Record<string, z.ZodType>) : {};
    const entries = Object.entries(query).map(([name, value]) => [
      name,
      isList(shape[name]) ? value : [value].flat()[0],
    ]);
    return Object.fromEntries(entries) as Record<string, string | string[] | undefined>;
  };

/** The first validation error of an input. */
function refuse(target: string, { issues }: z.ZodError): Error {
  // An invalid path parameter names nothing that exists.
  if (target === "param") return notFound();
  const [{ path, message } = { path: [], message: "is invalid" }] = issues;
  return invalidField(path.join("."), message);
}
