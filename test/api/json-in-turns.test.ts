import { describe, expect, it } from "vitest";

import { writeList } from "../../src/api/json-in-turns.ts";
import { SLICE_STEPS } from "../../src/lib/time-slice.ts";
import { expectPauses } from "../support/slices.ts";

describe("a list that is written in turns", () => {
  it.each([[[]], [["a"]], [["a", 'b"', "\u2028"]]])("is JSON of its items: %j", async (names) => {
    const text = await writeList(names, (name) => ({ name }), 1);
    expect(JSON.parse(text)).toEqual(names.map((name) => ({ name })));
  });

  it("gives way between its items", async () => {
    const items = Array.from({ length: 40 }, (_, at) => at);
    const write = () => writeList(items, (at) => ({ at }), SLICE_STEPS / 4);
    expect(JSON.parse(await expectPauses(9, write))).toHaveLength(40);
  });
});
