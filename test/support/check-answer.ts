import { dereference, validate, type Schema as JsonSchema } from "@cfworker/json-schema";

import {
  description,
  findOperation,
  operations,
  type DescribedResponse,
  type Operation,
} from "./operations.ts";

/** A response, read to its end. */
export interface ReadResponse {
  status: number;
  headers: Headers;
  text: string;
}

/** Headers that any response may have; the description states them once, not for each operation. */
const COMMON_HEADERS = new Set([
  "access-control-allow-origin",
  "access-control-expose-headers",
  "cache-control",
  "content-length",
  "content-security-policy",
  "content-type",
  "etag",
  "vary",
  "x-content-type-options",
  "x-d1-bookmark",
  "x-frame-options",
  "x-gitea-warning",
  "x-request-id",
]);

/**
 * Checks a response of the API against the interface description: status, content type, headers and
 * body.
 *
 * Bodies are validated by a JSON Schema library, and an object may have no property that its schema
 * does not name. A request that no operation answers is not checked.
 *
 * @param path Path of the request below `/api/v1`, with or without a query.
 * @throws an error that names the operation, the place and the reason.
 */
export function checkAnswer(method: string, path: string, response: ReadResponse): void {
  const operation = findOperation(method === "HEAD" ? "GET" : method, path);
  if (!operation) return;
  const faults = faultsOf(operation, response, method === "HEAD");
  if (faults.length === 0) return;
  throw new Error(
    `the interface description of ${operation.id} does not allow this answer to ` +
      `${method} ${path}:\n${faults.join("\n")}\n${response.text.slice(0, 500)}`,
  );
}

function faultsOf(operation: Operation, response: ReadResponse, isHead: boolean): string[] {
  const described = operation.responses[response.status];
  // To whoever sends the tag of an answer to anonymous readers.
  if (!described && response.status === 304) return headerFaults({}, response.headers);
  if (!described) return [`status ${response.status} is not described`];
  const headers = headerFaults(described, response.headers);
  return isHead ? headers : headers.concat(bodyFaults(operation, described, response));
}

function headerFaults(
  { headers = {} }: Pick<DescribedResponse, "headers">,
  sent: Headers,
): string[] {
  const declared = new Map(
    Object.entries(headers).map(([name, each]) => [name.toLowerCase(), each]),
  );
  const faults: string[] = [];
  for (const [name, value] of sent) {
    const header = declared.get(name);
    if (!header && !COMMON_HEADERS.has(name)) faults.push(`header ${name} is not described`);
    if (header && !matchesType(value, header.schema.type)) {
      faults.push(`header ${name} is ${value}, not of type ${String(header.schema.type)}`);
    }
  }
  for (const [name, { required }] of declared) {
    if (required && !sent.has(name)) faults.push(`header ${name} is missing`);
  }
  return faults;
}

const matchesType = (value: string, type: string | string[] | undefined): boolean =>
  type === "integer"
    ? /^-?\d+$/.test(value)
    : type === "boolean"
      ? /^(true|false)$/.test(value)
      : true;

function bodyFaults(
  operation: Operation,
  { content }: DescribedResponse,
  { status, headers, text }: ReadResponse,
): string[] {
  const type = headers.get("Content-Type")?.split(";")[0];
  if (!content) return text === "" && !type ? [] : [`no body is described; it is of type ${type}`];
  const described = content[type ?? ""] ?? content["*/*"];
  if (!described) return [`content type ${type} is not described`];
  if (type !== "application/json") return [];
  const value: unknown = JSON.parse(text);
  const schema = schemas.$defs[keyOf(operation.id, status)] as JsonSchema;
  const { errors } = validate(value, schema, DRAFT, lookup);
  // The errors of a value follow those of the values around it, which say no more than that.
  const reasons = errors.filter(({ keyword }) => !ENCLOSING.has(keyword));
  return reasons.slice(0, 1).map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`);
}

/** Keywords whose errors only say that a part of the value is wrong. */
const ENCLOSING = new Set(["$ref", "properties", "items", "allOf", "anyOf", "oneOf"]);

/** The draft of JSON Schema that OpenAPI 3.1 uses. */
const DRAFT = "2020-12";

const keyOf = (operationId: string, status: number | string): string => `${operationId}-${status}`;

/** The schema of each JSON response, and the components to which they refer. */
const schemas = { $defs: collectSchemas() };
const lookup = dereference(schemas);

function collectSchemas(): Record<string, JsonSchema | boolean> {
  const components = Object.entries(description.components?.schemas ?? {});
  const responses = operations.flatMap(({ id, responses: described }) =>
    Object.entries(described).flatMap(([status, { content }]) => {
      const schema = content?.["application/json"]?.schema;
      return schema ? [[keyOf(id, status), closed(schema as JsonSchema)] as const] : [];
    }),
  );
  return Object.fromEntries([
    ...components.map(([name, schema]) => [name, closed(schema as JsonSchema, true)]),
    ...responses,
  ]);
}

/**
 * A schema that refuses properties that it does not name.
 *
 * A schema that others extend by `allOf` stays open: the schema around it is closed instead.
 */
function closed(schema: JsonSchema, isExtended = false): JsonSchema {
  const { $ref, properties, items, allOf, anyOf, oneOf, additionalProperties } = schema;
  const isObject = $ref !== undefined || properties !== undefined || allOf !== undefined;
  return {
    ...schema,
    ...($ref && { $ref: $ref.replace("#/components/schemas/", "#/$defs/") }),
    ...(properties && { properties: mapValues(properties, (each) => closed(each)) }),
    ...(items && { items: closed(items as JsonSchema) }),
    ...(allOf && { allOf: allOf.map((each) => closed(each, true)) }),
    ...(anyOf && { anyOf: anyOf.map((each) => closed(each)) }),
    ...(oneOf && { oneOf: oneOf.map((each) => closed(each)) }),
    ...(isObject && !isExtended && !additionalProperties && { unevaluatedProperties: false }),
  };
}

function mapValues(
  map: Record<string, JsonSchema | boolean>,
  change: (each: JsonSchema) => JsonSchema,
): Record<string, JsonSchema> {
  const changed = Object.entries(map).map(([key, each]) => [key, change(each as JsonSchema)]);
  return Object.fromEntries(changed) as Record<string, JsonSchema>;
}
