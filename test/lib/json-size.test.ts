import { describe, expect, it } from "vitest";

import { cutForJson, jsonBytes } from "../../src/lib/json-size.ts";

const sizeOf = (text: string): number => new TextEncoder().encode(JSON.stringify(text)).length;

const TEXTS = [
  "",
  "plain",
  '"\\',
  "\n\t\u0000\u001f\u007f",
  "\u00e9\u07ff",
  "\u20ac\u2028",
  "a\u{1f600}b",
  "\ud800x",
];

describe("jsonBytes and cutForJson", () => {
  it.each(TEXTS)("never underestimates the size: %j", (text) => {
    expect(jsonBytes(text)).toBeGreaterThanOrEqual(sizeOf(text.toWellFormed()));
    expect(jsonBytes(text)).toBeLessThanOrEqual(2 + 6 * text.length);
  });

  it("is exact for plain text", () => {
    expect(jsonBytes('say "a"')).toBe(sizeOf('say "a"'));
  });

  it.each(TEXTS)("cuts to the given size, at a character boundary: %j", (text) => {
    const long = text.repeat(50);
    for (let max = 2; max < 200; max++) {
      const cut = cutForJson(long, max);
      expect(sizeOf(cut)).toBeLessThanOrEqual(max);
      expect(long.toWellFormed().startsWith(cut)).toBe(true);
      expect(cut.isWellFormed()).toBe(true);
    }
    expect(cutForJson(text, jsonBytes(text))).toBe(text.toWellFormed());
  });
});
