import { describeApi } from "../../src/api/document.ts";

/** A schema of the interface description, as far as tests look into it. */
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

/** One operation of the API, as its description tells it. */
export interface Operation {
  id: string;
  method: string;
  /** Below `/api/v1`, with its parameters in braces. */
  path: string;
  /** Undefined where the description declares none. */
  scopes: readonly string[] | undefined;
  /** Whether anonymous callers may enter. */
  allowsAnonymous: boolean;
  parameters: readonly Parameter[];
  /** The fields of its JSON body, where it takes one. */
  body: Readonly<Record<string, Schema>> | undefined;
}

interface Described {
  operationId: string;
  "x-scopes"?: string[];
  security?: object[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

/** The interface description as it would be published. */
export const description = describeApi();

/** Every operation of the API, in the order of their registration. */
export const operations: readonly Operation[] = Object.entries(description.paths ?? {}).flatMap(
  ([path, methods]) =>
    Object.entries(methods as Record<string, Described>).map(([method, described]) => ({
      id: described.operationId,
      method: method.toUpperCase(),
      path,
      scopes: described["x-scopes"],
      allowsAnonymous: described.security?.some((way) => Object.keys(way).length === 0) ?? false,
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

/** The path of an operation with values for its parameters; each must have one. */
export function fillPath(path: string, values: Readonly<Record<string, string | number>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`no value for {${name}} of ${path}`);
    return encodeURIComponent(value);
  });
}
