import { describeApi } from "../../src/api/document.ts";

/** The parts of an OpenAPI schema that tests read. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: readonly unknown[];
  items?: Schema;
  properties?: Record<string, Schema>;
}

/** A parameter of an operation's path or query. */
export interface Parameter {
  name: string;
  in: string;
  schema: Schema;
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
}

interface Described {
  operationId: string;
  "x-scopes"?: string[];
  security?: object[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
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
      parameters: described.parameters ?? [],
      body: fieldsOf(described.requestBody?.content["application/json"]?.schema),
    })),
);

function fieldsOf(schema: Schema | undefined): Record<string, Schema> | undefined {
  const name = schema?.$ref?.split("/").at(-1);
  if (name === undefined) return schema && (schema.properties ?? {});
  const components = description.components?.schemas as Record<string, Schema> | undefined;
  return fieldsOf(components?.[name]);
}

/** Fills in the parameters of an operation's path. @throws if a value is missing. */
export function fillPath(path: string, values: Readonly<Record<string, string | number>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`no value for {${name}} of ${path}`);
    return encodeURIComponent(value);
  });
}
