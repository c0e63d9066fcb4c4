import { describe, expect, it } from "vitest";

import { operations } from "../support/operations.ts";
import { byId, findSample, sampleEntries, sampleFileOf } from "../support/samples/gather.ts";

describe("the sample of each operation", () => {
  it.each(byId(operations))(
    "is declared once, next to the test of its noun: %s",
    (id, operation) => {
      const file = sampleFileOf(operation);
      const files = sampleEntries.filter((entry) => entry.id === id).map((entry) => entry.file);
      expect(files, `${id} needs one sample, in ${file}`).toEqual([file]);
      const needed = operation.method === "GET" ? [] : ["announces"];
      const declared = Object.keys(findSample(id) ?? {});
      expect(declared, `what the sample of ${id} in ${file} declares`).toEqual(
        expect.arrayContaining(needed),
      );
    },
  );

  it("belongs to an operation that exists", () => {
    const ids = new Set(operations.map(({ id }) => id));
    const others = sampleEntries.filter(({ id }) => !ids.has(id));
    const hint = "samples of operations whose noun no index.ts of src/api lists";
    expect(
      others.map(({ id, file }) => `${id} in ${file}`),
      hint,
    ).toEqual([]);
  });

  it("undoes a write by an operation that exists", () => {
    const ids = new Set(operations.map(({ id }) => id));
    const undos = sampleEntries.flatMap(({ sample }) => sample.announces?.undoneBy ?? []);
    expect(undos.filter((id) => !ids.has(id))).toEqual([]);
    expect(undos.length).toBeGreaterThan(0);
  });
});
