import { TrieRouter } from "hono/router/trie-router";

import { describeApi } from "../../src/api/document.ts";
import { api } from "../../src/api/index.ts";
import { requestPath } from "../../src/lib/request-path.ts";

/** The parts of an OpenAPI schema that tests read. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: readonly unknown[];
  /** A reference, and what is added to it. */
  allOf?: readonly Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: readonly string[];
  format?: string;
  minimum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
}

/** A parameter of an operation's path or query. */
export interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema: Schema;
}

/** One response of an operation. */
export interface DescribedResponse {
  headers?: Readonly<Record<string, { required?: boolean; schema: Schema }>>;
  content?: Readonly<Record<string, { schema: Schema }>>;
}

/** One operation of the API, from the interface description. */
export interface Operation {
  id: string;
  method: string;
  /** Path below `/api/v1`, with parameters in braces. */
  path: string;
  /** Undefined if the description declares none. */
  scopes: readonly string[] | undefined;
  /** Whether the operation accepts anonymous callers. */
  allowsAnonymous: boolean;
  parameters: readonly Parameter[];
  /** The fields of its JSON body; undefined if it takes none. */
  body: Readonly<Record<string, Schema>> | undefined;
  /** The schema of its JSON body. */
  bodySchema: Schema | undefined;
  /** Its responses by status. */
  responses: Readonly<Record<string, DescribedResponse>>;
}

interface Described {
  operationId: string;
  "x-scopes"?: string[];
  security?: object[];
  parameters?: (Parameter | Reference)[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, DescribedResponse | Reference>;
}

/** A reference to a component, as `#/components/responses/NotFound`. */
interface Reference {
  $ref: string;
}

/** The interface description as it is published. */
export const description = describeApi();

/** Every operation of the API, in order of registration. */
export const operations: readonly Operation[] = Object.entries(description.paths ?? {}).flatMap(
  ([path, methods]) =>
    Object.entries(methods as Record<string, Described>).map(([method, described]) => ({
      id: described.operationId,
      method: method.toUpperCase(),
      path,
      scopes: described["x-scopes"],
      allowsAnonymous:
        described.security?.some((requirement) => Object.keys(requirement).length === 0) ?? false,
      parameters: (described.parameters ?? []).map(resolveComponent),
      body: bodyOf(described) && (bodyOf(described)?.properties ?? {}),
      bodySchema: bodyOf(described),
      responses: Object.fromEntries(
        Object.entries(described.responses).map(([status, each]) => [
          status,
          resolveComponent(each),
        ]),
      ),
    })),
);

function bodyOf({ requestBody }: Described): Schema | undefined {
  const schema = requestBody?.content["application/json"]?.schema;
  return schema && resolveSchema(schema);
}

/** The component that a reference refers to; a component that is no reference, itself. */
function resolveComponent<Component extends object>(component: Component | Reference): Component {
  if (!("$ref" in component)) return component;
  const [, , kind = "", name = ""] = component.$ref.split("/");
  const components = description.components as Record<string, Record<string, Component>>;
  const found = components[kind]?.[name];
  if (!found) throw new Error(`${component.$ref} is not described`);
  return found;
}

/** The schema that a reference refers to; a schema that is no reference, itself. */
export function resolveSchema(schema: Schema): Schema {
  const { $ref, allOf: [extended] = [] } = schema;
  if (extended) return { ...schema, ...resolveSchema(extended) };
  const name = $ref?.split("/").at(-1);
  const components = description.components?.schemas as Record<string, Schema> | undefined;
  return name === undefined ? schema : (components?.[name] ?? {});
}

/** Fills in the parameters of an operation's path. @throws if a value is missing. */
export function fillPath(path: string, values: Readonly<Record<string, string | number>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`no value for {${name}} of ${path}`);
    return encodeURIComponent(value);
  });
}

const byRoute = new Map(operations.map((each) => [`${each.method} ${each.path}`, each]));

const router = new TrieRouter<string>();
for (const route of api.routes) {
  if (route.path !== "/*") router.add(route.method, route.path, route.path);
}

/**
 * The operation that answers a request, by the service's own order of routes.
 *
 * @param path Path below `/api/v1`, with or without a query.
 */
export function findOperation(method: string, path: string): Operation | undefined {
  const [[first]] = router.match(method, requestPath(`https://forge.example${path}`));
  return first && byRoute.get(`${method} ${inBraces(first[0])}`);
}

/** A route's pattern in the notation of the interface description. */
export function inBraces(pattern: string): string {
  return pattern
    .replace(/:(\w+)\{\.\+\\\.\(.*\)\}$/, "{$1}.{diffType}")
    .replaceAll(/:(\w+)(?:\{\.\+\}\??)?/g, "{$1}");
}
