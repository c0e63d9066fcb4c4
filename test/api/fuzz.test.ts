import { describe, expect, it } from "vitest";

import { call } from "../support/call.ts";
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
const paths = (fields: Readonly<Record<string, Schema>>): string[][] =>
  Object.entries(fields).flatMap(([name, schema]) => [
    [name],
    ...paths(schema.properties ?? {}).map((rest) => [name, ...rest]),
  ]);

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
      for (const field of fields) {
        for (const value of WRONG) {
          const answer = await call(operation.method, path, {
            as: caller,
            json: replaced(json ?? {}, field, value),
          });
          const sent = `${field.join(".")} = ${JSON.stringify(value)?.slice(0, 40)}`;
          expect(answer.status, sent).toBeLessThan(500);
          if (answer.status >= 400 && answer.status !== 404) {
            expect(answer.body, sent).toEqual({
              message: expect.any(String),
              url: "https://forge.example/api/swagger",
            });
          }
        }
      }
    },
    60_000,
  );
});
