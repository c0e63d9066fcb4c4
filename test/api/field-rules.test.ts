import { describe, expect, it } from "vitest";

import { call } from "../support/call.ts";
import { resolveSchema, type Schema } from "../support/operations.ts";
import { byId, sampled, type SampledOperation } from "../support/samples/gather.ts";
import { requestIn, requestMaker } from "../support/samples/request.ts";
import { World } from "../support/samples/world.ts";

/**
 * The form of every message about a field: its name as it is sent, and the rule that valid values
 * obey.
 */
const MESSAGE =
  /^\[([\w.-]*)\]: (?:is required|must (?:not )?(?:be|have|name|consist|contain) .+|must not be empty)$/;

/** A value that breaks one rule of a field. */
interface Violation {
  path: string[];
  value: unknown;
  /** A part of the message: the limit, or the type. */
  named: string;
}

/** The fields that accept any string, by name, and why. */
const LENIENT: Readonly<Record<string, string>> = {
  trust_model: "an unknown model counts as the default one, as in Gitea",
};

/** The values that break the rules of a schema, one value for each rule. */
function violationsOf(schema: Schema, path: string[]): Violation[] {
  const broken = (value: unknown, named: string): Violation => ({ path, value, named });
  const { type, enum: values, format, maxLength, minLength, minimum, items } = schema;
  switch (type) {
    case "string":
      return [
        broken(7, "string"),
        ...(values && !((path.at(-1) as string) in LENIENT)
          ? [broken("no such value", String(values.at(-1)))]
          : []),
        ...(maxLength === undefined ? [] : [broken("x".repeat(maxLength + 1), String(maxLength))]),
        ...(minLength === 1 ? [broken("", "empty")] : []),
        ...(format === "date-time" ? [broken("yesterday", "RFC 3339")] : []),
      ].filter(({ value }) => !(values && value === 7));
    case "integer":
      return [
        broken("x", "integer"),
        broken(1.5, "integer"),
        ...(minimum === undefined ? [] : [broken(minimum - 1, String(minimum))]),
      ];
    case "boolean":
      return [broken("yes", "true or false")];
    case "array": {
      const { maxItems, minItems } = schema;
      const item = items && resolveSchema(items);
      return [
        broken("x", "list"),
        ...(minItems === 1 ? [broken([], "empty")] : []),
        ...(maxItems === undefined || !item
          ? []
          : [
              broken(
                Array.from({ length: maxItems + 1 }, () => minimalOf(item)),
                String(maxItems),
              ),
            ]),
        ...(item ? violationsOf(item, [...path, "0"]) : []),
      ];
    }
    case "object":
      return [broken("x", "object"), ...violationsIn(schema, path)];
    default:
      return [];
  }
}

/** The longest text of each field that has a bound, and as many items as a list may have. */
function largestOf(schema: Schema, path: string[] = []): Violation[] {
  const { type, enum: values, maxLength, maxItems, items, properties = {} } = schema;
  const item = items && resolveSchema(items);
  const own = (value: unknown, named: number): Violation => ({ path, value, named: `${named}` });
  if (type === "string" && maxLength !== undefined && !values) {
    return [own("x".repeat(maxLength), maxLength)];
  }
  if (type === "array" && item) {
    const full = Array.from({ length: maxItems ?? 0 }, () => minimalOf(item));
    const inItems = largestOf(item, [...path, "0"]);
    return maxItems === undefined ? inItems : [own(full, maxItems), ...inItems];
  }
  return Object.entries(properties).flatMap(([name, each]) =>
    largestOf(resolveSchema(each), [...path, name]),
  );
}

const violationsIn = ({ properties = {} }: Schema, path: string[] = []): Violation[] =>
  Object.entries(properties).flatMap(([name, each]) =>
    violationsOf(resolveSchema(each), [...path, name]),
  );

/** A value that passes a schema. */
function minimalOf(schema: Schema): unknown {
  const { type, enum: values, properties = {}, required = [], format } = schema;
  if (values) return values[0];
  if (format === "date-time") return "2026-01-31T08:15:00Z";
  switch (type) {
    case "string":
      return format === "byte" ? "YQ==" : "x";
    case "integer":
      return 1;
    case "boolean":
      return true;
    case "array":
      return [];
    default:
      return Object.fromEntries(
        Object.entries(properties)
          .filter(([name]) => required.includes(name))
          .map(([name, each]) => [name, minimalOf(resolveSchema(each))]),
      );
  }
}

/**
 * `holder` with the value at a path below it replaced; objects and lists on the way are made where
 * they lack.
 */
function replaced(
  schema: Schema,
  holder: unknown,
  [name, ...rest]: string[],
  value: unknown,
): unknown {
  if (name === undefined) return value;
  const inner = resolveSchema(
    (schema.type === "array" ? schema.items : schema.properties?.[name]) ?? {},
  );
  if (schema.type === "array") return [replaced(inner, minimalOf(inner), rest, value)];
  const fields = holder as Record<string, unknown>;
  return { ...fields, [name]: replaced(inner, fields[name] ?? minimalOf(inner), rest, value) };
}

const makeRequest = requestMaker();

/** Statuses other than 422, as Gitea answers. */
const STATUSES: Readonly<Record<string, number>> = { last_read_at: 400 };

async function faultsIn(
  violations: readonly Violation[],
  send: (violation: Violation) => ReturnType<typeof call>,
): Promise<string[]> {
  const faults: string[] = [];
  for (const violation of violations) {
    const { status, body } = await send(violation);
    const field = MESSAGE.exec(body.message ?? "")?.[1];
    const isAsExpected =
      status === (STATUSES[field ?? ""] ?? 422) &&
      field === violation.path.join(".") &&
      String(body.message).includes(violation.named);
    if (!isAsExpected) {
      const sent = JSON.stringify(violation.value).slice(0, 40);
      faults.push(`${violation.path.join(".")} = ${sent}: ${status} ${body.message ?? ""}`);
    }
  }
  return faults;
}

const withBody = sampled.filter(({ body }) => body !== undefined);

const withBounds = withBody.filter(
  ({ bodySchema }) => bodySchema && largestOf(bodySchema).length > 0,
);

const queryViolations = ({ parameters }: SampledOperation): Violation[] =>
  parameters
    .filter((each) => each.in === "query" && each.schema.type === "string")
    .flatMap(({ name, schema }) => violationsOf(schema, [name]))
    .filter(({ value }) => typeof value === "string" && value !== "");

const withQuery = sampled.filter((operation) => queryViolations(operation).length > 0);

describe("a message about a field that breaks its rule", () => {
  it.each(byId(withBody))("names field and rule, in the body: %s", async (_, operation) => {
    const { bodySchema: schema } = operation;
    const { method, path, caller, content } = await requestIn(new World(), operation);
    const violations = violationsIn(schema ?? {});
    expect(violations.length).toBeGreaterThan(0);
    const faults = await faultsIn(violations, (each) =>
      call(method, path, {
        as: caller,
        json: replaced(schema ?? {}, content.json ?? {}, each.path, each.value),
      }),
    );
    expect(faults).toEqual([]);
  });

  // Another rule may still refuse the value, such as that of a name's characters.
  it.each(byId(withBounds))("names no bound that a value just meets: %s", async (_, operation) => {
    const { bodySchema: schema = {} } = operation;
    const faults: string[] = [];
    for (const { path: field, value, named } of largestOf(schema)) {
      const { method, path, caller, content } = await requestIn(new World(), operation);
      const json = replaced(schema, content.json ?? {}, field, value);
      const { status, body } = await call(method, path, { as: caller, json });
      const message = String(body.message ?? "");
      const isOverBound = message.startsWith(`[${field.join(".")}]`) && message.includes(named);
      if (status >= 500 || isOverBound) faults.push(`${field.join(".")}: ${status} ${message}`);
    }
    expect(faults).toEqual([]);
  });

  it.each(byId(withQuery))("names field and rule, in the query: %s", async (_, operation) => {
    const { method, path, caller, content } = await makeRequest(operation);
    const faults = await faultsIn(queryViolations(operation), ({ path: [name = ""], value }) => {
      const { pathname, searchParams } = new URL(path, "https://forge.example");
      searchParams.set(name, String(value));
      return call(method, `${pathname}?${searchParams.toString()}`, { as: caller, ...content });
    });
    expect(faults).toEqual([]);
  });

  it("is looked at in many operations", () => {
    expect(withBody.length).toBeGreaterThan(40);
    expect(withQuery.length).toBeGreaterThan(5);
    expect(withBounds.length).toBeGreaterThan(40);
  });
});
