import { OpenAPIHono, type RouteConfig, z } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";

import { invalid, malformed, notFound } from "../lib/failure.ts";
import { answerConditionally } from "./conditional.ts";
import { readJsonBody } from "./json-body.ts";
import type { Guard } from "./guards/guard.ts";
import { MountedRouter } from "./mounted-router.ts";

/** What a request carries on its way, set before any route. */
export interface ApiEnv {
  Variables: {
    requestId: string;
    rootUrl: string;
  };
}

/**
 * Marks a parameter that takes slashes too, as the name of a branch or a file has them:
 * `/branches/{branch*}`, `/commits/{ref*}/status`.
 */
const REST = /\{(\w+)\*\}/;

/** A parameter with one of a few suffixes: `/commits/{sha}.{diffType}`, which is an enumeration. */
const SUFFIXED = /\{(\w+)\}\.\{(\w+)\}$/;

/** What is read below a repository is tagged, since clients ask for it again and again. */
const IN_REPOSITORY = /^\/repos\/\{owner\}\/\{repo\}\//;
const UNCHANGED = { description: "What the caller has is what is there" };

/**
 * A noun's endpoints, to which `openapi()` adds one statement each.
 *
 * The first middleware of every statement is its guard: a route without one stops the start.
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
      security: guard.allowsAnonymous ? [{}, { token: [] }, { basic: [] }] : [{ token: [] }, { basic: [] }],
      "x-scopes": guard.scopes,
    };
    app.openAPIRegistry.registerPath(described);
    const routed = {
      ...described,
      hide: true,
      ...toRouting(route),
      // After the guard: whoever may not enter learns nothing of their body, nor of what is there.
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

/** The path that a route takes part in routing by, and how its parameters are read from it. */
function toRouting({ path, request }: Route): Route {
  const [, name = "", suffix = ""] = SUFFIXED.exec(path) ?? [];
  const params = request?.params as z.ZodObject<Record<string, z.ZodEnum>> | undefined;
  if (name === "" || !params)
    return { path: path.replace(REST, ":$1{.+}"), ...(request && { request }) };
  const words = params.shape[suffix]?.options.join("|");
  const split = (values: Record<string, string>): Record<string, string> => {
    const [, text = "", word = ""] = /^(.+)\.(\w+)$/s.exec(values[name] ?? "") ?? [];
    return { ...values, [name]: text, [suffix]: word };
  };
  return {
    path: path.replace(SUFFIXED, `:$1{.+\\.(?:${words})}`),
    request: { ...request, params: z.preprocess(split as never, params) as never },
  };
}

/** The first fault of an input, as clients of the field read it: `[Field]: Rule`. */
function refuse(target: string, error: z.ZodError): Error {
  // A path that can't name anything names nothing.
  if (target === "param") return notFound();
  const [issue] = error.issues;
  const field = issue?.path.join(".") ?? "";
  const message = `[${toFieldName(field)}]: ${issue?.message ?? "invalid"}`;
  return target === "header" ? malformed(message) : invalid(message);
}

/** `armored_public_key` → `ArmoredPublicKey`. */
const toFieldName = (name: string): string =>
  name.replaceAll(/(?:^|[_.])([a-z])/g, (_, letter: string) => letter.toUpperCase());
