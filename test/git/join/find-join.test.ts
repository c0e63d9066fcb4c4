import { describe, expect, it } from "vitest";

import { findJoin } from "../../../src/git/join/find-join.ts";
import { findMerge } from "../../../src/git/pack/find-merge.ts";

const GB = 2 ** 30;
const sized = (packBytes: number, objectCount: number) => ({ packBytes, objectCount });

describe("findJoin", () => {
  it("takes packs of which no two can be merged, but not the newest, which may grow still", () => {
    const packs = [sized(GB, 300_000), sized(GB, 300_000), sized(GB, 300_000)];
    expect(findMerge(packs)).toBeUndefined();
    expect(findJoin(packs)).toEqual({ from: 0, to: 2 });
  });

  it("takes packs of more than 4 GiB, of however few objects", () => {
    const packs = [sized(5 * GB, 900), sized(4 * GB, 800), sized(100, 3)];
    expect(findJoin(packs)).toEqual({ from: 0, to: 2 });
  });

  it("leaves packs that a merge takes", () => {
    expect(findJoin([sized(GB, 1000), sized(GB, 1000), sized(GB, 1000)])).toBeUndefined();
    expect(findJoin([])).toBeUndefined();
    expect(findJoin([sized(9 * GB, 5_000_000)])).toBeUndefined();
  });

  it("leaves a pack that is twice as large as the newer ones together", () => {
    const newer = [sized(GB, 400_000), sized(GB, 400_000), sized(GB, 400_000)];
    expect(findJoin([sized(9 * GB, 3_000_000), ...newer])).toEqual({ from: 1, to: 3 });
    expect(findJoin([sized(3 * GB, 3_000_000), ...newer])).toEqual({ from: 0, to: 3 });
  });

  it("makes no pack beyond the limits of a job", () => {
    const packs = [sized(10 * GB, 300_000), sized(10 * GB, 300_000), sized(1, 1)];
    expect(findJoin(packs)).toBeUndefined();
    const many = [sized(GB, 4_000_000), sized(GB, 4_000_000), sized(1, 1)];
    expect(findJoin(many)).toBeUndefined();
  });

  it("writes each byte a few times while a repository grows", () => {
    const packs: { packBytes: number; objectCount: number }[] = [];
    let [written, pushed] = [0, 0];
    for (let push = 0; push < 400; push++) {
      packs.push(sized(GB / 32, 10_000));
      pushed += 10_000;
      for (;;) {
        const first = findMerge(packs);
        const chosen = first === undefined ? findJoin(packs) : { from: first, to: packs.length };
        if (!chosen) break;
        const some = packs.slice(chosen.from, chosen.to);
        const sum = (of: "packBytes" | "objectCount") =>
          some.reduce((all, each) => all + each[of], 0);
        written += sum("objectCount");
        const made = sized(sum("packBytes"), sum("objectCount"));
        packs.splice(chosen.from, chosen.to - chosen.from, made);
      }
      expect(packs.length).toBeLessThan(14);
    }
    expect(written / pushed).toBeLessThan(10);
  });
});
