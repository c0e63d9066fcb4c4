import { describe, expect, it } from "vitest";

import { trimBlanks } from "../../../src/git/object/strip-space.ts";

describe("trimBlanks", () => {
  it("takes away what git takes for white space, at the end alone", () => {
    expect(trimBlanks(" a b \t\r\n")).toBe(" a b");
    expect(trimBlanks("a\v")).toBe("a\v");
    expect(trimBlanks("a\f")).toBe("a\f");
  });

  // A pattern takes a minute for this, and anybody may commit it.
  it("takes no longer for blanks that are not at the end", () => {
    const text = `${" ".repeat(500_000)}x`;
    expect(trimBlanks(text)).toBe(text);
  }, 5000);
});
