import { describe, expect, it } from "vitest";

import { ProgressMeter } from "../../../src/git/wire/progress.ts";

/** A meter with a fake clock, and the lines it has written. */
function makeMeter(total: number) {
  const lines: string[] = [];
  let now = 0;
  const write = (text: string): void => void lines.push(text);
  const meter = new ProgressMeter("Resolving deltas", total, write, () => now);
  const at = (time: number, done: number): void => {
    now = time;
    meter.update(done);
  };
  return { lines, meter, at };
}

describe("ProgressMeter", () => {
  it("updates its line at most twice a second and ends it when done", () => {
    const { lines, meter, at } = makeMeter(200);
    for (let done = 1; done <= 200; done++) at(done * 10, done);
    meter.finish();
    expect(lines).toEqual([
      "Resolving deltas:  25% (50/200)\r",
      "Resolving deltas:  50% (100/200)\r",
      "Resolving deltas:  75% (150/200)\r",
      "Resolving deltas: 100% (200/200)\r",
      "Resolving deltas: 100% (200/200), done.\n",
    ]);
  });

  it("writes nothing while the percentage is unchanged, except for the last line", () => {
    const { lines, meter, at } = makeMeter(100_000);
    at(1000, 1);
    at(2000, 2);
    at(3000, 999);
    meter.finish("completed with 2 local objects.");
    expect(lines).toEqual([
      "Resolving deltas:   0% (1/100000)\r",
      "Resolving deltas: 100% (100000/100000), completed with 2 local objects.\n",
    ]);
  });
});
