import { createRequire } from "node:module";

import { type Paths, sharePaths } from "../../src/api/shared-components.ts";

/** A value of a JSON document. */
type Json = null | boolean | number | string | readonly Json[] | JsonObject;
type JsonObject = { readonly [name: string]: Json };

/**
 * The converter alone: the package's index also loads the readers of other formats, which are not
 * installed.
 */
const Converter = createRequire(import.meta.url)(
  "api-spec-converter/lib/converters/openapi3_to_swagger2.js",
) as new (source: { spec: JsonObject }) => { convert(): JsonObject };

/**
 * Converts the interface description to Swagger 2.0, for older generators.
 *
 * Swagger 2.0 has no null, so that a nullable value has the extension `x-nullable`, and no
 * alternatives: a schema with `anyOf` accepts anything. An operation has one list of media types
 * for all its responses.
 *
 * @param document The description in OpenAPI 3.1.
 */
export function toSwagger(document: JsonObject): JsonObject {
  const spec = lower(document) as JsonObject;
  const { "x-components": _, webhooks: __, ...swagger } = new Converter({ spec }).convert();
  // The converter replaces references to responses and parameters by what they refer to.
  return { ...swagger, ...sharePaths(swagger["paths"] as Paths, "#/") };
}

/**
 * Replaces what Swagger 2.0 does not have and the converter leaves: the type null, and required
 * headers.
 */
function lower(value: Json): Json {
  if (isArray(value)) return value.map(lower);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([name]) => name !== "required" || !isHeader(value));
  const lowered = Object.fromEntries(entries.map(([name, each]) => [name, lower(each)]));
  const { type, oneOf, ...rest } = value;
  if (isArray(oneOf) && oneOf.some(isNull)) {
    const { oneOf: _, ...schema } = lowered;
    return { ...schema, allOf: oneOf.filter((each) => !isNull(each)), "x-nullable": true };
  }
  if (isNull(value)) return { ...rest, "x-nullable": true };
  if (!isArray(type) || !type.includes("null")) return lowered;
  return { ...lowered, type: type.find((each) => each !== "null") ?? "", "x-nullable": true };
}

const isArray = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

/** A header has no `in`, unlike a parameter. */
const isHeader = (value: JsonObject): boolean => "schema" in value && !("in" in value);

const isNull = (schema: Json): boolean =>
  typeof schema === "object" && schema !== null && "type" in schema && schema["type"] === "null";
