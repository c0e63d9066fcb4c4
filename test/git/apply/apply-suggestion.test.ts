import { describe, expect, it } from "vitest";
import { applySuggestion } from "../../../src/git/apply/apply-suggestion.ts";
import { decodeText, encodeUtf8, readByteText } from "../../../src/git/byte-text.ts";
import { makeRandom } from "../support/random.ts";

function apply(text: string, startLine: number, endLine: number, replacement: string) {
  const applied = applySuggestion(encodeUtf8(text), startLine, endLine, replacement);
  return applied && decodeText(readByteText(applied));
}

describe("a suggestion", () => {
  it("replaces lines by any number of lines", () => {
    expect(apply("a\nb\nc\n", 2, 2, "B\n")).toBe("a\nB\nc\n");
    expect(apply("a\nb\nc\n", 1, 2, "x\ny\nz")).toBe("x\ny\nz\nc\n");
    expect(apply("a\nb\nc\n", 1, 3, "only\n")).toBe("only\n");
    expect(apply("ä\nb\n", 2, 2, "ß\n")).toBe("ä\nß\n");
  });

  it("removes lines if it is empty, and keeps blank lines", () => {
    expect(apply("a\nb\nc\n", 2, 2, "")).toBe("a\nc\n");
    expect(apply("a\n", 1, 1, "")).toBe("");
    expect(apply("a\nb\n", 2, 2, "\n")).toBe("a\n\n");
    expect(apply("a\nb\n", 2, 2, "\n\n")).toBe("a\n\n\n");
  });

  it("ends lines as the file does", () => {
    expect(apply("a\r\nb\r\nc\r\n", 2, 2, "x\ny\n")).toBe("a\r\nx\r\ny\r\nc\r\n");
    expect(apply("a\nb\n", 2, 2, "x\r\ny\r\n")).toBe("a\nx\ny\n");
    expect(apply("a\nb", 2, 2, "x\ny\n")).toBe("a\nx\ny");
    expect(apply("a\r\nb", 2, 2, "x\ny\n")).toBe("a\r\nx\ny");
    expect(apply("a\r\nb", 1, 2, "x\ny\n")).toBe("x\r\ny");
    expect(apply("a\nb", 1, 1, "x\n")).toBe("x\nb");
    expect(apply("a\nb", 2, 2, "")).toBe("a\n");
  });

  it("applies only to lines that are there", () => {
    for (const [start, end] of [
      [0, 1],
      [2, 1],
      [3, 3],
      [1, 3],
      [-1, -1],
      [Number.NaN, 1],
      [1, Number.NaN],
      [1.5, 2],
    ] as const) {
      expect(apply("a\nb\n", start, end, "x\n"), `${start}-${end}`).toBeUndefined();
    }
    expect(apply("", 1, 1, "x\n")).toBeUndefined();
  });

  it("leaves all other bytes as they are", () => {
    const text = Uint8Array.of(0xff, 0x0a, 0x61, 0x0a, 0xfe, 0x0d);
    expect([...(applySuggestion(text, 2, 2, "b\n") ?? [])]).toEqual([
      0xff, 0x0a, 0x62, 0x0a, 0xfe, 0x0d,
    ]);
  });

  it("does the same as replacing elements of an array of lines", () => {
    const random = makeRandom(8);
    for (let round = 0; round < 300; round++) {
      const lines = Array.from({ length: 1 + random.below(8) }, () => `${random.below(99)}\n`);
      const fresh = Array.from({ length: random.below(4) }, () => `new ${random.below(9)}\n`);
      const start = 1 + random.below(lines.length);
      const end = start + random.below(lines.length - start + 1);
      const expected = lines.toSpliced(start - 1, end - start + 1, ...fresh).join("");
      expect(apply(lines.join(""), start, end, fresh.join(""))).toBe(expected);
    }
  });
});
