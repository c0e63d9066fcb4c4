import { describe, expect, it } from "vitest";

import { formatBase85, parseBase85 } from "../../src/git/base85.ts";
import type { ByteText } from "../../src/git/byte-text.ts";
import { makeRandom } from "./support/random.ts";

describe("base 85", () => {
  it("round-trips bytes of any length", () => {
    const random = makeRandom(1);
    for (let length = 0; length <= 60; length++) {
      const bytes = random.bytes(length);
      expect(parseBase85(formatBase85(bytes), length)).toEqual(bytes);
    }
    expect(formatBase85(Uint8Array.of(255, 255, 255, 255))).toBe("|NsC0");
  });

  it.each([
    ["|NsC1", 4],
    ["~~~~~", 4],
    ["0000", 3],
    ["00000", 5],
    ["00 00", 4],
    ['0000"', 4],
    ["0000\xff", 4],
  ])("rejects %j as an encoding of %i bytes", (text, length) => {
    expect(parseBase85(text as ByteText, length)).toBeUndefined();
  });
});
