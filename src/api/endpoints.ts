import { OpenAPIHono, type RouteConfig, z } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";

import { invalid, malformed, notFound } from "../lib/failure.ts";
import { answerConditionally } from "./conditional.ts";
import { readJsonBody } from "./json-body.ts";
import type { Guard } from "./guards/guard.ts";
import { MountedRouter } from "./mounted-router.ts";

/** Variables of a request, set before any route runs. */
export interface ApiEnv {
  Variables: {
    requestId: string;
    rootUrl: string;
  };
}

/**
 * Marks a parameter that matches slashes too, for names of branches and files: `/branches/{branch*}`,
 * `/commits/{ref*}/status`.
 */
const REST = /\{(\w+)\*\}/;

/** A parameter with a suffix from an enumeration: `/commits/{sha}.{diffType}`. */
const SUFFIXED = /\{(\w+)\}\.\{(\w+)\}$/;

/** Reads below a repository get an `ETag`, since clients poll them. */
const IN_REPOSITORY = /^\/repos\/\{owner\}\/\{repo\}\//;
const UNCHANGED = { description: "Not modified" };

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
    const takesJson = route.request?.body?.content["application/json"] !== undefined;
    const isConditional = route.method === "get" && IN_REPOSITORY.test(route.path);
    const described = {
      ...operation,
      ...(isConditional && { responses: { ...operation.responses, 304: UNCHANGED } }),
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
      // After the guard: a refused caller learns nothing about the body's validity or the current content.
      middleware: [
        ...middleware,
        ...(takesJson ? [readJsonBody] : []),
        ...(isConditional ? [answerConditionally] : []),
      ],
    };
    return (register as (...args: unknown[]) => unknown)(routed, ...rest);
  }) as typeof app.openapi;
  return app;
}

type Route = Pick<RouteConfig, "path" | "request">;

/** The path pattern that Hono routes by, and the request schema that reads its parameters. */
function toRouting({ path, request }: Route): Route {
  const [, name = "", suffix = ""] = SUFFIXED.exec(path) ?? [];
  const params = request?.params as z.ZodObject<Record<string, z.ZodEnum>> | undefined;
  if (name === "" || !params)
    return { path: path.replace(REST, ":$1{.+}"), ...(request && { request }) };
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

/** The first validation error of an input, in Gitea's format: `[Field]: Rule`. */
function refuse(target: string, error: z.ZodError): Error {
  // An invalid path parameter names nothing that exists.
  if (target === "param") return notFound();
  const [issue] = error.issues;
  const field = issue?.path.join(".") ?? "";
  const message = `[${toFieldName(field)}]: ${issue?.message ?? "invalid"}`;
  return target === "header" ? malformed(message) : invalid(message);
}

/** `armored_public_key` → `ArmoredPublicKey`. */
const toFieldName = (name: string): string =>
  name.replaceAll(/(?:^|[_.])([a-z])/g, (_, letter: string) => letter.toUpperCase());
