import { describe, expect, it } from "vitest";

import { call, type Answer } from "../support/call.ts";
import type { Schema } from "../support/operations.ts";
import { sampled, type SampledOperation } from "../support/samples/gather.ts";
import { chunksOf, matrixOf } from "../support/samples/matrix.ts";
import { requestIn, type ReadyRequest } from "../support/samples/request.ts";
import { World } from "../support/samples/world.ts";

const LONG = "x".repeat(5000);

/** Wrong values for a field, accidental or hostile. */
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

/** The fields of a body, by their path: `a`, `b` for the field `b` of an object `a`. */
const fieldsBelow = (
  fields: Readonly<Record<string, Schema>>,
  parentPath: string[] = [],
): { path: string[]; schema: Schema }[] =>
  Object.entries(fields).flatMap(([name, schema]) => {
    const path = parentPath.concat(name);
    return [{ path, schema }].concat(fieldsBelow(schema.properties ?? {}, path));
  });

/** Whether a response is a success, an empty 404, or a client error in the API's form. */
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

const bodies = sampled.filter(({ body }) => body !== undefined);
const valuesFor = matrixOf(WRONG);

/** The values for each operation, in tests of about a hundred requests. */
const cases = bodies.flatMap((operation) => {
  const fields = fieldsBelow(operation.body ?? {});
  const sent = fields.flatMap(({ path, schema }) =>
    valuesFor({ name: path.at(-1) ?? "", schema }).map((value) => ({ path, value })),
  );
  return chunksOf(sent).map((requests, at) => [`${operation.id} ${at + 1}`, operation, requests]);
}) as [string, SampledOperation, { path: string[]; value: unknown }[]][];

/** One valid request per operation; each case replaces one field of its body. */
const requests = new Map<string, Promise<ReadyRequest>>();
function requestOf(operation: SampledOperation): Promise<ReadyRequest> {
  const request = requests.get(operation.id) ?? requestIn(new World(), operation);
  requests.set(operation.id, request);
  return request;
}

describe("each field of each JSON body", () => {
  it("is covered by a case", () => {
    const uncovered = bodies.filter(
      ({ id }) => !cases.some(([, operation]) => operation.id === id),
    );
    expect(uncovered.map(({ id }) => id)).toEqual([]);
    expect(bodies.length).toBeGreaterThan(40);
  });

  it.each(cases)(
    "never causes a server error, whatever its value: %s",
    async (_, operation, variations) => {
      const { method, path, caller, content } = await requestOf(operation);
      const faults: string[] = [];
      for (const { path: field, value } of variations) {
        const sent = replaced(content.json ?? {}, field, value);
        const answer = await call(method, path, { as: caller, json: sent });
        const assignment = `${field.join(".")} = ${JSON.stringify(value).slice(0, 40)}`;
        if (!isWellFormed(answer)) faults.push(`${answer.status} for ${assignment}`);
      }
      expect(variations.length).toBeGreaterThan(0);
      expect(faults).toEqual([]);
    },
  );
});
