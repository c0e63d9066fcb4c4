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

describe("the size of a text as JSON", () => {
  it.each(TEXTS)("is never less than it takes: %j", (text) => {
    expect(jsonBytes(text)).toBeGreaterThanOrEqual(sizeOf(text.toWellFormed()));
    expect(jsonBytes(text)).toBeLessThanOrEqual(2 + 6 * text.length);
  });

  it("is what it takes, for plain text", () => {
    expect(jsonBytes('say "a"')).toBe(sizeOf('say "a"'));
  });

  it.each(TEXTS)("bounds what is cut: %j", (text) => {
    const whole = text.repeat(50);
    for (let max = 2; max < 200; max++) {
      const cut = cutForJson(whole, max);
      expect(sizeOf(cut)).toBeLessThanOrEqual(max);
      expect(whole.toWellFormed().startsWith(cut)).toBe(true);
      expect(cut.isWellFormed()).toBe(true);
    }
    expect(cutForJson(text, jsonBytes(text))).toBe(text.toWellFormed());
  });
});
