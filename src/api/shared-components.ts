import { NOT_MODIFIED, OUTDATED, REFUSALS } from "./answers.ts";

/** A value of a JSON document. */
type Json = null | boolean | number | string | readonly Json[] | JsonObject;
type JsonObject = { readonly [name: string]: Json };

type Response = JsonObject & { description: string; headers?: JsonObject };
type Parameter = JsonObject & { name: string; in: string; description?: string };
type Operation = JsonObject & {
  responses: Readonly<Record<string, Response>>;
  parameters?: readonly Parameter[];
};
/** The paths of a document. */
export type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** The paths of a document, with the responses and the parameters to which they refer. */
interface SharedPaths {
  paths: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
  responses: Readonly<Record<string, Response>>;
  parameters: Readonly<Record<string, Parameter>>;
}

/** Shares the responses and the parameters of an OpenAPI 3 document. */
export function shareComponents<Document extends { paths?: object; components?: object }>(
  document: Document,
): Document {
  const { paths, ...components } = sharePaths(document.paths as Paths, "#/components/");
  return { ...document, components: { ...document.components, ...components }, paths };
}

/**
 * Replaces each response and each parameter that several operations have by a reference. Without
 * references, they are four fifths of a document.
 *
 * @param prefix The place of the components in the document: `#/components/` in OpenAPI 3, `#/` in
 *   Swagger 2.0.
 * @throws Error if two different components have the same name; another description tells them
 *   apart.
 */
export function sharePaths(paths: Paths, prefix: string): SharedPaths {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const responses = nameResponses(operations.flatMap((each) => Object.values(each.responses)));
  const parameters = nameParameters(operations.flatMap((each) => each.parameters ?? []));
  const refer = (kind: string, names: Map<string, string>, value: JsonObject): JsonObject => {
    const name = names.get(JSON.stringify(value));
    return name === undefined ? value : { $ref: `${prefix}${kind}/${name}` };
  };
  return {
    paths: mapValues(paths, (methods) =>
      mapValues(methods, (operation) => ({
        ...operation,
        ...(operation.parameters && {
          parameters: operation.parameters.map((each) => refer("parameters", parameters, each)),
        }),
        responses: mapValues(operation.responses, (each) => refer("responses", responses, each)),
      })),
    ),
    responses: toComponents(responses),
    parameters: toComponents(parameters),
  };
}

/** The names of errors; other responses are named by their descriptions. */
const REFUSAL_NAMES: Readonly<Record<keyof typeof REFUSALS, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  409: "Conflict",
  410: "Gone",
  412: "PreconditionFailed",
  413: "TooLarge",
  422: "ValidationFailed",
  423: "Locked",
  429: "TooManyRequests",
  500: "InternalError",
  507: "InsufficientStorage",
};
const NAMES = new Map(
  Object.entries(REFUSAL_NAMES).map(([status, name]) => [
    REFUSALS[Number(status) as keyof typeof REFUSALS].description,
    name,
  ]),
);

/**
 * The words for a 304 and a 412, whose variants differ in their headers alone; the first header
 * counts.
 */
const CONDITIONAL = {
  "X-Page": "NumberedPage",
  "X-Total-Count": "Page",
  "Accept-Ranges": "File",
  "Content-Disposition": "Download",
};

function nameResponses(responses: readonly Response[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const { value, text } of repeatedIn(responses)) {
    const { description, headers = {} } = value;
    const isConditional = description === NOT_MODIFIED || description === OUTDATED;
    const variant = isConditional && Object.entries(CONDITIONAL).find(([name]) => name in headers);
    const suffix = variant ? variant[1] : "";
    add(names, text, NAMES.get(description) ?? `${pascalCase(description)}${suffix}`);
  }
  return names;
}

/**
 * The most frequent parameter of a name has it alone, the others are named by their descriptions.
 */
function nameParameters(parameters: readonly Parameter[]): Map<string, string> {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  // In Swagger 2.0, the body is a parameter, too: each operation has its own.
  const named = parameters.filter(({ in: place }) => place === "path" || place === "query");
  for (const { value, text } of repeatedIn(named)) {
    const name = pascalCase(value.name);
    add(names, text, taken.has(name) ? pascalCase(value.description ?? value.name) : name);
    taken.add(name);
  }
  return names;
}

/** The values that occur more than once, the most frequent first. */
function repeatedIn<Value>(values: readonly Value[]): { value: Value; text: string }[] {
  const found = new Map<string, { value: Value; text: string; count: number }>();
  for (const value of values) {
    const text = JSON.stringify(value);
    const { count } = found.get(text) ?? { count: 0 };
    found.set(text, { value, text, count: count + 1 });
  }
  return [...found.values()].filter(({ count }) => count > 1).toSorted((a, b) => b.count - a.count);
}

function add(names: Map<string, string>, text: string, name: string): void {
  for (const [other, taken] of names) {
    if (taken === name) {
      throw new Error(`two components are named ${name}; change a description:\n${other}\n${text}`);
    }
  }
  names.set(text, name);
}

/** The words up to a semicolon, without an article at the start: "The new key" becomes `NewKey`. */
function pascalCase(text: string): string {
  const [part = ""] = text.replace(/^(?:The|An?) /, "").split(";");
  const words = part.replaceAll(/['’]/g, "").match(/[A-Za-z0-9]+/g) ?? [];
  return words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join("");
}

/** The components by name. */
function toComponents<Value>(names: Map<string, string>): Readonly<Record<string, Value>> {
  const entries = [...names].map(([text, name]) => [name, JSON.parse(text) as Value] as const);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

const mapValues = <Value, Mapped>(
  object: Readonly<Record<string, Value>>,
  map: (value: Value) => Mapped,
): Readonly<Record<string, Mapped>> =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value)]));
