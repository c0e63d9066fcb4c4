import { describe, expect, it } from "vitest";

import { parseJson } from "../../src/lib/json.ts";
import { expectPauses } from "../support/slices.ts";

/** White space that makes a text too long for the platform's parser to take it at once. */
const LONG = " ".repeat(300_000);

const platform = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return "refused";
  }
};
const own = async (text: string): Promise<unknown> => {
  try {
    return await parseJson(text);
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError);
    return "refused";
  }
};

// What is read is written again, by functions that recurse.
it.each([
  [200, "", ""],
  [200, LONG, LONG],
])("a text may be nested in %d levels, and no deeper", async (depth, before, after) => {
  const nested = (levels: number) => `${before}${"[".repeat(levels)}1${"]".repeat(levels)}${after}`;
  expect(await parseJson(nested(depth))).toEqual(JSON.parse(nested(depth)));
  await expect(parseJson(nested(depth + 1))).rejects.toThrow(SyntaxError);
});

describe("a long JSON text", () => {
  it.each([
    "1",
    '"a"',
    "null",
    "[]",
    "{ }",
    "[[], {}, [1, -2.5e3, true, false, null]]",
    '{"a": {"b": [{"c": "d"}]}, "a": 2}',
    '{"__proto__": {"x": 1}, "constructor": 2}',
    String.raw`["\"", "\\", "\\\"", "\u00e9\n", "é", "]"]`,
    "",
    "[1,]",
    "[,1]",
    "[1 2]",
    '{"a":1,}',
    '{"a" 1}',
    "{1:2}",
    "[1}",
    '{"a":1]',
    "[",
    '{"a":',
    '"a',
    String.raw`"\x"`,
    '"\n"',
    "01",
    "1.",
    "+1",
    "tru",
    "nullx",
    "1 2",
    "[] []",
    "\u00a01",
  ])("%j is parsed or refused as the platform does", async (text) => {
    expect(await own(LONG + text)).toEqual(platform(text));
    expect(await own(text + LONG)).toEqual(platform(text));
  });

  it("has no prototype by the key __proto__", async () => {
    const value = (await parseJson(`${LONG}{"__proto__": {"x": 1}}`)) as { x?: number };
    expect(value.x).toBeUndefined();
    expect(Object.keys(value)).toEqual(["__proto__"]);
  });

  it.each([
    ["lists", "[".repeat(1_000_000)],
    ["objects", '{"a":'.repeat(1_000_000)],
    ["lists that end", "[".repeat(500_000) + "]".repeat(500_000)],
  ])("that is nested deeply is refused at once: %s", async (_, text) => {
    await expect(expectPauses(0, () => parseJson(text))).rejects.toThrow(SyntaxError);
  });

  it("of more values than memory has room for is refused", async () => {
    await expect(parseJson(`[${"1,".repeat(600_000)}1]`)).rejects.toThrow(SyntaxError);
  });

  it("of many values lets other requests run", async () => {
    const text = `[${"[],".repeat(100_000)}[]]`;
    expect(await expectPauses(2, () => parseJson(text))).toHaveLength(100_001);
  });
});
