import { describe, expect, it } from "vitest";
import { encodeUtf8 } from "../../../src/git/byte-text.ts";
import { hunkAround } from "../../../src/git/diff/hunk-around.ts";
import { diffLines } from "../../../src/git/diff/line-diff.ts";
import { formatHunk, makeHunks } from "../../../src/git/diff/unified.ts";
import { makeRandom } from "../support/random.ts";

const diffOf = (old: string, fresh: string) => diffLines(encodeUtf8(old), encodeUtf8(fresh));

describe("a hunk around a line", () => {
  it("ends with the line, under the header of the whole hunk", async () => {
    const diff = await diffOf("", "one\ntwo\nthree\n");
    expect(hunkAround(diff, "new", 1)).toBe("@@ -0,0 +1,3 @@\n+one");
    expect(hunkAround(diff, "new", 2)).toBe("@@ -0,0 +1,3 @@\n+one\n+two");
    expect(hunkAround(diff, "new", 3)).toBe("@@ -0,0 +1,3 @@\n+one\n+two\n+three");
  });

  it("shows the last four lines of more, with a header of their own", async () => {
    const fresh = await diffOf("", "1\n2\n3\n4\n5\n6\n");
    expect(hunkAround(fresh, "new", 4)).toBe("@@ -0,0 +1,6 @@\n+1\n+2\n+3\n+4");
    expect(hunkAround(fresh, "new", 6)).toBe("@@ -0,0 +3,4 @@\n+3\n+4\n+5\n+6");

    const changed = await diffOf("f()\na\nb\nc\nold\nd\n", "f()\na\nb\nc\nnew\nadded\nd\n");
    expect(hunkAround(changed, "new", 5)).toBe("@@ -3,3 +3,3 @@\n b\n c\n-old\n+new");
    expect(hunkAround(changed, "new", 6)).toBe("@@ -4,2 +4,3 @@\n c\n-old\n+new\n+added");
    expect(hunkAround(changed, "old", 5)).toBe("@@ -2,5 +2,6 @@ f()\n a\n b\n c\n-old");
    expect(hunkAround(changed, "old", 6)).toBe("@@ -5,2 +5,3 @@\n-old\n+new\n+added\n d");
    expect(hunkAround(changed, "new", 6, 1)).toBe("@@ -5,0 +6 @@\n+added");
  });

  it("is empty for a line that the diff does not show", async () => {
    const text = Array.from({ length: 40 }, (_, at) => `${at}\n`).join("");
    const diff = await diffOf(text, text.replace("20\n", "x\n"));
    expect(hunkAround(diff, "new", 17)).toBe("");
    expect(hunkAround(diff, "new", 18)).toContain("@@");
    expect(hunkAround(diff, "new", 24)).toContain("@@");
    for (const line of [25, 41, 0, -1, Number.NaN]) expect(hunkAround(diff, "new", line)).toBe("");
  });

  it("does not mistake the text of a line for a remark", async () => {
    const remark = "\\ No newline at end of file";
    const diff = await diffOf("a", `a\n${remark}`);
    expect(hunkAround(diff, "new", 2)).toBe(`@@ -1 +1,2 @@\n-a\n${remark}\n+a\n+${remark}`);
    expect(hunkAround(diff, "old", 1)).toBe("@@ -1 +1,2 @@\n-a");
  });

  it("has a header that counts its lines, and names lines by their true numbers", async () => {
    const random = makeRandom(15);
    let shown = 0;
    for (let round = 0; round < 200; round++) {
      const make = () => Array.from({ length: random.below(30) }, () => `${random.below(6)}\n`);
      const [old, fresh] = [make(), make()];
      const diff = await diffOf(old.join(""), fresh.join(""));
      const whole = makeHunks(diff).map(formatHunk).join("");
      for (const side of ["old", "new"] as const) {
        const lines = side === "old" ? old : fresh;
        for (const [at, line] of lines.entries()) {
          const [header = "", ...rest] = hunkAround(diff, side, at + 1).split("\n");
          if (header === "") continue;
          shown++;
          expect(whole).toContain(`${rest.join("\n")}\n`);
          expect(rest.at(-1)).toBe(`${rest.at(-1)?.[0]}${line.trimEnd()}`);
          expect(rest.at(-1)?.[0]).not.toBe(side === "old" ? "+" : "-");
          if (whole.includes(header)) continue;
          const [, a = "", b = "1", c = "", d = "1"] =
            /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@$/.exec(header) ?? [];
          const count = (other: string) => rest.filter((each) => !each.startsWith(other)).length;
          expect([Number(b), Number(d)], header).toEqual([count("+"), count("-")]);
          const [start, lineCount] = side === "old" ? [a, b] : [c, d];
          expect(Number(start) + Number(lineCount) - 1, header).toBe(at + 1);
        }
      }
    }
    expect(shown).toBeGreaterThan(2000);
  });
});
