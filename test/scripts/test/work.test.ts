import { describe, expect, it } from "vitest";

import { recordedWorks } from "../../../scripts/test/work.ts";

const known = { "a.test.ts": { one: { urls: 1 }, gone: { urls: 2 } }, "b.test.ts": { two: {} } };
const works = { "a.test.ts": { one: { urls: 3 } } };

describe("recordedWorks", () => {
  it("replaces what is known of a file, and keeps that of others", () => {
    expect(recordedWorks(known, { works, failedFiles: [] })).toEqual({
      "a.test.ts": { one: { urls: 3 } },
      "b.test.ts": { two: {} },
    });
  });

  it("keeps what is known of a file that failed", () => {
    expect(recordedWorks(known, { works, failedFiles: ["a.test.ts"] })).toEqual(known);
  });
});
