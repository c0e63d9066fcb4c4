import { describe, expect, it } from "vitest";

import {
  compareGemVersions,
  gemVersionKey,
  isGemVersion,
  isPrerelease,
} from "../../../src/registries/rubygems/gem-version.ts";
import { formatMarshal, type MarshalValue } from "../../../src/registries/rubygems/marshal.ts";
import { parseSlug } from "../../../src/registries/rubygems/names.ts";
import { formatPlatform, parsePlatform } from "../../../src/registries/rubygems/platform.ts";

// The expected bytes, orders and platforms are those of Ruby 3.1 with RubyGems 3.3.

describe("Ruby's Marshal format", () => {
  it.each<[MarshalValue, string]>([
    [null, "0"],
    [true, "T"],
    [false, "F"],
    [0, "i\0"],
    [1, "i\x06"],
    [122, "i\x7f"],
    [123, "i\x01{"],
    [255, "i\x01\xff"],
    [256, "i\x02\0\x01"],
    [65_536, "i\x03\0\0\x01"],
    [-1, "i\xfa"],
    [-123, "i\x80"],
    [-124, "i\xff\x84"],
    [-256, "i\xff\0"],
    [-257, "i\xfe\xff\xfe"],
    [2 ** 30 - 1, "i\x04\xff\xff\xff?"],
    [-(2 ** 30), "i\xfc\0\0\0\xc0"],
    ["ä", 'I"\x07\xc3\xa4\x06:\x06ET'],
    [["a", "b"], '[\x07I"\x06a\x06:\x06ETI"\x06b\x06;\0T'],
    [new Map([["a", 1]]), '{\x06I"\x06a\x06:\x06ETi\x06'],
    [{ kind: "symbol", name: "runtime" }, ":\x0cruntime"],
    [
      { kind: "dumped", className: "Gem::Version", value: ["1.0"] },
      'U:\x11Gem::Version[\x06I"\x081.0\x06:\x06ET',
    ],
  ])("of %j", (value, expected) => {
    expect(formatMarshal(value)).toBe(`\x04\x08${expected}`);
  });

  it.each([2 ** 30, -(2 ** 30) - 1, 1.5, Number.NaN])("has no number %s in place", (number) => {
    expect(() => formatMarshal(number)).toThrow(RangeError);
  });
});

describe("a version of a gem", () => {
  it("is in RubyGems' order", () => {
    const sorted = [
      "0.9",
      "1.a",
      "1.0.a",
      "1.0.a.2",
      "1.0.b1",
      "1.0.rc",
      "1",
      "1.0.1",
      "1.2",
      "1.10",
    ];
    const order = sorted.toReversed().toSorted(compareGemVersions);
    expect(order.map(gemVersionKey)).toEqual(sorted.map(gemVersionKey));
  });

  it.each([
    ["1.0", "1"],
    ["01.2", "1.2"],
    ["1.0.a.0", "1.a"],
    ["0.0", "0"],
    ["1.0.0.b1", "1.b.1"],
  ])("%s has the key %s", (version, key) => {
    expect(gemVersionKey(version)).toBe(key);
  });

  it("compares numbers of any length", () => {
    expect(compareGemVersions("1.99999999999999999998", "1.99999999999999999999")).toBeLessThan(0);
  });

  it.each(["", "a", "1..2", "1.", "1-a", "1 ", "1\n", "1/2", "1".repeat(200)])(
    "is not %j",
    (text) => {
      expect(isGemVersion(text)).toBe(false);
    },
  );

  it.each([
    ["1.0", false],
    ["1.0.pre", true],
    ["2.0.0.RC1", true],
  ])("%s is a prerelease: %s", (version, expected) => {
    expect(isPrerelease(version)).toBe(expected);
  });
});

describe("a platform", () => {
  it.each([
    ["ruby", "ruby"],
    ["", "ruby"],
    ["i686-linux", "x86-linux"],
    ["x86_64-linux-gnu", "x86_64-linux"],
    ["x86_64-linux-musl", "x86_64-linux-musl"],
    ["arm64-darwin-22", "arm64-darwin-22"],
    ["x64-mingw-ucrt", "x64-mingw-ucrt"],
    ["jruby", "java"],
    ["mswin32", "x86-mswin32"],
    ["x64-mswin64_140", "x64-mswin64-140"],
    ["foo", "unknown"],
  ])("%s is %s", (text, expected) => {
    expect(formatPlatform(parsePlatform(text))).toBe(expected);
  });
});

describe("the name of a file", () => {
  it("is read in every way that it may be meant", () => {
    expect(parseSlug("a-1-2.0-java")).toEqual([
      { name: "a", number: "1", platform: "2.0-java" },
      { name: "a-1", number: "2.0", platform: "java" },
    ]);
    expect(parseSlug("nothing")).toEqual([]);
  });
});
