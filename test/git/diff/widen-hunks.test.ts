import { describe, expect, it } from "vitest";

import { encodeUtf8 } from "../../../src/git/byte-text.ts";
import { diffLines } from "../../../src/git/diff/line-diff.ts";
import { formatHunk, makeHunks } from "../../../src/git/diff/unified.ts";
import { type LineRange, widenHunks } from "../../../src/git/diff/widen-hunks.ts";

const OLD = Array.from({ length: 60 }, (_, at) => `${at + 1}\n`);

/** The lines of a text in which line 20 is two others, and line 40 is not. */
const NEW = OLD.flatMap((line) => (line === "20\n" ? ["a\n", "b\n"] : line === "40\n" ? [] : line));

async function widen(...ranges: LineRange[]): Promise<string[]> {
  const diff = await diffLines(encodeUtf8(OLD.join("")), encodeUtf8(NEW.join("")));
  return widenHunks(makeHunks(diff), diff, ranges).map((hunk) => String(formatHunk(hunk)));
}

/** Headers of hunks, without what stands above them. */
const headersOf = (hunks: readonly string[]) => hunks.map((hunk) => /^@@ [^@]+ @@/.exec(hunk)?.[0]);

describe("wider hunks", () => {
  it("are the same without ranges, and with ranges that adjoin none", async () => {
    const plain = ["@@ -17,7 +17,8 @@", "@@ -37,7 +38,6 @@"];
    expect(headersOf(await widen())).toEqual(plain);
    expect(headersOf(await widen({ first: 1, last: 15 }))).toEqual(plain);
    expect(headersOf(await widen({ first: 30, last: 31 }))).toEqual(plain);
    expect(headersOf(await widen({ first: 100, last: 900 }))).toEqual(plain);
  });

  it("have lines above and below, up to the ends of the text", async () => {
    const hunks = await widen({ first: 1, last: 16 }, { first: 25, last: 27 });
    expect(headersOf(hunks)).toEqual(["@@ -1,26 +1,27 @@", "@@ -37,7 +38,6 @@"]);
    expect(hunks[0]?.split("\n").slice(1, 4)).toEqual([" 1", " 2", " 3"]);
    expect(hunks[0]).toMatch(/\n 24\n 25\n 26\n$/);
    const below = await widen({ first: 40, last: 99 });
    expect(headersOf(below)).toEqual(["@@ -17,7 +17,8 @@", "@@ -37,24 +38,23 @@"]);
    expect(below[1]).toMatch(/ 59\n 60\n$/);
  });

  it("grow by several ranges, and become one where they meet", async () => {
    const near = await widen(
      { first: 25, last: 28 },
      { first: 29, last: 30 },
      { first: 35, last: 37 },
    );
    expect(headersOf(near)).toEqual(["@@ -17,13 +17,14 @@", "@@ -34,10 +35,9 @@"]);
    const met = await widen({ first: 31, last: 37 }, { first: 25, last: 30 });
    expect(headersOf(met)).toEqual(["@@ -17,27 +17,27 @@"]);
    expect(met[0]?.split("\n").slice(1, -1)).toEqual(
      [
        [" 17", " 18", " 19", "-20", "+a", "+b"],
        Array.from({ length: 19 }, (_, at) => ` ${at + 21}`),
        ["-40", " 41", " 42", " 43"],
      ].flat(),
    );
  });

  it("have a bounded number of lines", async () => {
    const lines = Array.from({ length: 9000 }, (_, at) => `${at}\n`);
    const fresh = lines.with(4500, "x\n");
    const diff = await diffLines(encodeUtf8(lines.join("")), encodeUtf8(fresh.join("")));
    const [hunk] = widenHunks(makeHunks(diff), diff, [{ first: 1, last: 9000 }]);
    expect(hunk?.lines.length).toBeGreaterThan(1000);
    expect(hunk?.lines.length).toBeLessThan(2100);
  });
});
