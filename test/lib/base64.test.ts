import { describe, expect, it } from "vitest";

import {
  formatBase64,
  formatBase64Url,
  parseBase64,
  parseBase64Url,
  parseCanonicalBase64,
} from "../../src/lib/base64.ts";

const bytes = Uint8Array.of(0xfb, 0xff, 0xfe, 0x01);

describe("base64", () => {
  it("encodes a view of a buffer as base64 and base64url", () => {
    const part = Uint8Array.of(0, ...bytes, 0).subarray(1, 5);
    expect([formatBase64(part), formatBase64Url(part)]).toEqual(["+//+AQ==", "-__-AQ"]);
  });

  it.each([
    ["+//+AQ==", true, true, true],
    ["+//+\r\nAQ==", true, false, false],
    ["+//+AQ", false, false, true],
    ["-__-AQ", false, false, true],
    // The last digit has unused bits that are set.
    ["+//+AR==", true, false, true],
    ["+//+A", false, false, false],
    ["+//+AQ= =", false, false, false],
    ["+/ /+AQ==", false, false, false],
  ])(
    "%j is accepted by parseBase64: %j, parseCanonicalBase64: %j, parseBase64Url: %j",
    (text, ...expected) => {
      const parsed = [parseBase64, parseCanonicalBase64, parseBase64Url].map((parse) =>
        parse(text),
      );
      expect(parsed.map((each) => each !== undefined)).toEqual(expected);
      expect(parsed.filter((each) => each !== undefined)).toEqual(
        expected.filter(Boolean).map(() => bytes),
      );
    },
  );
});
