import { describe, expect, it } from "vitest";

import { type Answer, call } from "../support/call.ts";
import type { Parameter } from "../support/operations.ts";
import { byId, isRead, sampled, type SampledOperation } from "../support/samples/gather.ts";
import { type ReadyRequest, requestIn } from "../support/samples/request.ts";
import { World } from "../support/samples/world.ts";

const world = new World();

const inQuery =
  (isMeant: (parameter: Parameter) => boolean) =>
  ({ parameters }: Pick<SampledOperation, "parameters">): Parameter[] =>
    parameters.filter((each) => each.in === "query" && isMeant(each));

const reads = sampled.filter(
  (operation) => isRead(operation) && operation.sample.refusal === undefined,
);
const having = (parametersOf: ReturnType<typeof inQuery>) =>
  reads.filter((operation) => parametersOf(operation).length > 0);

/** Integers that select nothing: the number of items of a page, and what comes first in a list. */
const SELECTING_NOTHING = new Set(["limit", "per_page", "priority_owner_id", "priority_repo_id"]);

const flagsOf = inQuery(({ schema }) => schema.type === "boolean");
// A cursor is no number to its reader: one that the service did not give is refused.
const integersOf = inQuery(({ name, schema }) => schema.type === "integer" && name !== "after");
const selectorsOf = inQuery(
  (each) => integersOf({ parameters: [each] }).length > 0 && !SELECTING_NOTHING.has(each.name),
);
const singlesOf = inQuery(({ schema }) => schema.type !== "array");

async function askWith(
  { method, path, caller, content }: ReadyRequest,
  name: string,
  ...values: string[]
): Promise<Answer> {
  const { pathname, searchParams } = new URL(path, "https://forge.example");
  searchParams.delete(name);
  for (const value of values) searchParams.append(name, value);
  return call(method, `${pathname}?${searchParams.toString()}`, { as: caller, ...content });
}

const outcomeOf = ({ status, body }: Answer) => ({ status, body: body as unknown });

/** The items of a list; those of some are below a field, beside others. */
const LIST_FIELDS = [
  "artifacts",
  "commits",
  "data",
  "entries",
  "jobs",
  "runners",
  "statuses",
  "topics",
  "tree",
  "workflow_runs",
  "workflows",
];
function itemsOf(body: unknown): unknown {
  if (Array.isArray(body)) return body;
  const fields = body as Readonly<Record<string, unknown>>;
  const name = LIST_FIELDS.find((each) => each in fields);
  if (name === undefined) throw new Error(`no list among ${Object.keys(fields).join()}`);
  return fields[name] ?? [];
}

describe("the query of each read", () => {
  it.each(byId(having(flagsOf)))(
    "takes all but the forms of true for false: %s",
    async (_, operation) => {
      const request = await requestIn(world, operation);
      for (const { name } of flagsOf(operation)) {
        const no = outcomeOf(await askWith(request, name, "false"));
        expect(no.status, name).toBeLessThan(300);
        for (const value of ["0", "no", "TrUe", "2", "null"]) {
          expect(outcomeOf(await askWith(request, name, value)), `${name}=${value}`).toEqual(no);
        }
        const yes = outcomeOf(await askWith(request, name, "true"));
        expect(outcomeOf(await askWith(request, name, "on")), name).toEqual(yes);
      }
    },
  );

  it.each(byId(having(integersOf)))("takes integers of 64 bits: %s", async (_, operation) => {
    const request = await requestIn(world, operation);
    for (const { name } of integersOf(operation)) {
      for (const value of ["9223372036854775807", "-9223372036854775808"]) {
        const { status } = await askWith(request, name, value);
        expect(status, `${name}=${value}`).toBeLessThan(300);
      }
    }
  });

  // Otherwise a filter by an id that nobody has would list everything.
  it.each(byId(having(selectorsOf)))(
    "finds nothing by the last integer of 64 bits: %s",
    async (_, operation) => {
      const request = await requestIn(world, operation);
      for (const { name } of selectorsOf(operation)) {
        const { body } = await askWith(request, name, "9223372036854775807");
        expect(itemsOf(body), name).toEqual([]);
      }
    },
  );

  it.each(byId(having(singlesOf)))(
    "takes the first of a parameter that is sent twice: %s",
    async (_, operation) => {
      const request = await requestIn(world, operation);
      const { searchParams } = new URL(request.path, "https://forge.example");
      for (const { name, schema } of singlesOf(operation)) {
        const value = searchParams.get(name) ?? (schema.type === "integer" ? "2" : "false");
        const other = schema.type === "integer" ? "1" : "true";
        const once = outcomeOf(await askWith(request, name, value));
        expect(outcomeOf(await askWith(request, name, value, other)), name).toEqual(once);
      }
    },
  );

  it("has parameters of each kind", () => {
    for (const kind of [flagsOf, integersOf, selectorsOf, singlesOf]) {
      expect(having(kind).length).toBeGreaterThan(5);
    }
  });
});
