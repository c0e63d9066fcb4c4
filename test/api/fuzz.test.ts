import { describe, expect, it } from "vitest";

import { call, type Answer } from "../support/call.ts";
import { operations, type Schema } from "../support/operations.ts";
import { makeWorld } from "../support/world.ts";

const LONG = "x".repeat(5000);

/** Values that a field may be sent by mistake or on purpose. */
const WRONG: readonly unknown[] = [
  null,
  "",
  " ",
  LONG,
  "\u0000",
  "a\u0000b",
  "\uD800",
  "\u{202E}abc",
  "'; drop table users; --",
  0,
  -1,
  1.5,
  1e308,
  Number.MAX_SAFE_INTEGER,
  true,
  [],
  {},
  [null],
  [{}],
  [LONG],
  [["a"]],
  { a: { b: [] } },
];

/** The names below a body's fields, `a.b` for a field of an object. */
const paths = (fields: Readonly<Record<string, Schema>>, above: string[] = []): string[][] =>
  Object.entries(fields).flatMap(([name, { properties = {} }]) => {
    const path = above.concat(name);
    return [path].concat(paths(properties, path));
  });

/** Whether an answer is one that a client may get for what it sent. */
const isWellFormed = ({ status, body }: Answer): boolean =>
  status < 400 ||
  (status === 404 && body === "") ||
  (status < 500 &&
    typeof body.message === "string" &&
    body.url === "https://forge.example/api/swagger");

/** `json` with one field replaced. */
const replaced = (json: object, [name = "", ...rest]: string[], value: unknown): object => ({
  ...json,
  [name]: rest.length === 0 ? value : replaced({}, rest, value),
});

describe("each field of each JSON body", () => {
  const bodies = operations.filter(({ body }) => body !== undefined);

  it.each(bodies.map((operation) => [operation.id, operation] as const))(
    "never makes the service fail, whatever is sent for it: %s",
    async (_, operation) => {
      const { caller, path, json } = await makeWorld(operation);
      const fields = paths(operation.body ?? {});
      expect(fields.length).toBeGreaterThan(0);
      const faults: string[] = [];
      for (const field of fields) {
        for (const value of WRONG) {
          const sent = replaced(json ?? {}, field, value);
          const answer = await call(operation.method, path, { as: caller, json: sent });
          const what = `${field.join(".")} = ${JSON.stringify(value).slice(0, 40)}`;
          if (!isWellFormed(answer)) faults.push(`${answer.status} for ${what}`);
        }
      }
      expect(faults).toEqual([]);
    },
    60_000,
  );
});
