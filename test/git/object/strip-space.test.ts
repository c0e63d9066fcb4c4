import { describe, expect, it } from "vitest";

import { trimBlanks } from "../../../src/git/object/strip-space.ts";

describe("trimBlanks", () => {
  it("removes what git defines as white space, only at the end", () => {
    expect(trimBlanks(" a b \t\r\n")).toBe(" a b");
    expect(trimBlanks("a\v")).toBe("a\v");
    expect(trimBlanks("a\f")).toBe("a\f");
  });

  // A regular expression takes a minute for this text, which any account can commit.
  it("takes linear time for blanks that are not at the end", () => {
    const text = `${" ".repeat(500_000)}x`;
    expect(trimBlanks(text)).toBe(text);
  }, 5000);
});
