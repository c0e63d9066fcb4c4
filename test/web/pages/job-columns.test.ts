import { describe, expect, it } from "vitest";

import { toJobColumns } from "../../../src/web/pages/actions/job-columns.ts";

const columnsOf = (needs: Readonly<Record<string, readonly string[]>>) =>
  toJobColumns(Object.entries(needs).map(([jobId, each]) => ({ jobId, needs: each }))).map(
    (column) => column.map(({ jobId }) => jobId),
  );

describe("the columns of jobs", () => {
  it("stand right of what they need, in the order of the file", () => {
    expect(columnsOf({ c: ["a", "b"], a: [], b: ["a"], d: [], e: ["d"] })).toEqual([
      ["a", "d"],
      ["b", "e"],
      ["c"],
    ]);
  });

  it("hold jobs that need each other, or what is not there", () => {
    expect(
      columnsOf({ a: ["b"], b: ["a"], c: ["x"] })
        .flat()
        .toSorted(),
    ).toEqual(["a", "b", "c"]);
    expect(columnsOf({})).toEqual([]);
  });
});
