import { describe, expect, it } from "vitest";
import { z } from "zod";

import { boundedList, boundedRecord } from "../../src/lib/bounded.ts";

const Item = z.object({ a: z.string(), b: z.int().default(1) });

/** The faults of a value, each with its path. */
const faultsOf = (schema: z.ZodType, value: unknown): string[] =>
  schema
    .safeParse(value)
    .error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`) ?? [];

/** A schema that counts how often it is asked. */
function counted() {
  const seen = { count: 0 };
  const schema = z.unknown().refine(() => {
    seen.count++;
    return false;
  }, "no");
  return { seen, schema };
}

describe("a bounded list", () => {
  it("has the items as their schema makes them, and may be optional", () => {
    const schema = z.object({ list: boundedList(Item, 2).default([]) });
    expect(schema.parse({ list: [{ a: "x", more: true }] })).toEqual({ list: [{ a: "x", b: 1 }] });
    expect(schema.parse({})).toEqual({ list: [] });
    expect(boundedList(Item, 2).nullish().parse(null)).toBeNull();
  });

  it.each([
    [undefined, "list: must be a list"],
    [{}, "list: must be a list"],
    [[{ a: "x" }, { a: "x", b: "y" }], /^list\.1\.b: /],
    [[{ a: "x" }, {}, {}], /^list\.1\.a: /],
    [[1, 2, 3, 4], "list: must have at most 3 items"],
  ])("reports the first fault of %j alone", (list, fault) => {
    const [found, ...others] = faultsOf(z.object({ list: boundedList(Item, 3) }), { list });
    expect(found).toMatch(fault);
    expect(others).toEqual([]);
  });

  it("is counted before an item is read, and left at the first fault", () => {
    const { seen, schema } = counted();
    const numbers = Array.from({ length: 10 }, (_, at) => at);
    expect(faultsOf(boundedList(schema, 9), numbers)).toHaveLength(1);
    expect(seen.count).toBe(0);
    expect(faultsOf(boundedList(schema, 10), numbers)).toEqual(["0: no"]);
    expect(seen.count).toBe(1);
  });
});

describe("a bounded record", () => {
  it("has the values as their schema makes them", () => {
    const schema = boundedRecord(Item, 2);
    expect(schema.parse({ x: { a: "1" } })).toEqual({ x: { a: "1", b: 1 } });
    // SECURITY: a key of this name is no prototype.
    const given: unknown = JSON.parse('{"__proto__": {"a": "1"}}');
    expect(Object.getPrototypeOf(schema.parse(given))).toBe(Object.prototype);
  });

  it.each([
    [[], "must be an object"],
    [null, "must be an object"],
    [{ x: {} }, /^x\.a: /],
    [{ a: {}, b: {}, c: {} }, "must have at most 2 keys"],
    [{ toolong: { a: "1" } }, /^toolong: /],
  ])("reports the first fault of %j alone", (given, fault) => {
    const [found, ...others] = faultsOf(boundedRecord(Item, 2, z.string().max(3)), given);
    expect(found).toEqual(expect.stringMatching(fault));
    expect(others).toEqual([]);
  });

  it("is counted before a value is read, and left at the first fault", () => {
    const { seen, schema } = counted();
    expect(faultsOf(boundedRecord(schema, 1), { a: 1, b: 2 })).toHaveLength(1);
    expect(seen.count).toBe(0);
    expect(faultsOf(boundedRecord(schema, 2), { a: 1, b: 2 })).toEqual(["a: no"]);
    expect(seen.count).toBe(1);
  });
});
