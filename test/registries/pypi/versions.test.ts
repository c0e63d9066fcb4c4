import { describe, expect, it } from "vitest";

import {
  comparePythonVersions,
  formatPythonVersion,
  keyOfPythonVersion,
  parsePythonVersion,
  type PythonVersion,
} from "../../../src/registries/pypi/versions.ts";

const parse = (text: string): PythonVersion => {
  const version = parsePythonVersion(text);
  if (!version) throw new Error(`${text} is no version`);
  return version;
};

describe("a Python version", () => {
  it.each([
    ["1.0", "1.0"],
    ["v1.0", "1.0"],
    [" 1.0\n", "1.0"],
    ["01.002", "1.2"],
    ["1.0-ALPHA.1", "1.0a1"],
    ["1.0beta", "1.0b0"],
    ["1.0_c2", "1.0rc2"],
    ["1.0preview3", "1.0rc3"],
    ["1.0-1", "1.0.post1"],
    ["1.0.rev", "1.0.post0"],
    ["1.0a1.post2.dev3", "1.0a1.post2.dev3"],
    ["1.0DEV", "1.0.dev0"],
    ["2!1.0", "2!1.0"],
    ["1.0+Ubuntu-1_a.01", "1.0+ubuntu.1.a.1"],
    ["1.0+1e5", "1.0+1e5"],
    ["2023.12.25", "2023.12.25"],
  ])("%j has the normal form %s", (text, normal) => {
    expect(formatPythonVersion(parse(text))).toBe(normal);
    expect(formatPythonVersion(parse(normal))).toBe(normal);
  });

  it.each([
    "",
    "x",
    "a b",
    "1.0.x",
    "1.0+",
    "1.0+a..b",
    "1..0",
    "-1",
    "1.0/2",
    "1".repeat(16),
    `1.0+${"a".repeat(200)}`,
  ])("%j is none", (text) => {
    expect(parsePythonVersion(text)).toBeUndefined();
  });

  it("is equal to another with more zeros", () => {
    expect(keyOfPythonVersion(parse("1.0.0"))).toBe(keyOfPythonVersion(parse("1")));
    expect(keyOfPythonVersion(parse("0.0"))).toBe(keyOfPythonVersion(parse("0")));
    expect(keyOfPythonVersion(parse("1.0.1"))).not.toBe(keyOfPythonVersion(parse("1.1")));
    expect(comparePythonVersions(parse("1.0.0"), parse("1"))).toBe(0);
  });

  // The order is that of the packaging specifications, with its own examples.
  it("is ordered as installers order it", () => {
    const sorted = [
      "1.0.dev456",
      "1.0a1",
      "1.0a2.dev456",
      "1.0a12.dev456",
      "1.0a12",
      "1.0b1.dev456",
      "1.0b2",
      "1.0b2.post345.dev456",
      "1.0b2.post345",
      "1.0rc1.dev456",
      "1.0rc1",
      "1.0",
      "1.0+abc.5",
      "1.0+abc.7",
      "1.0+5",
      "1.0+5.1",
      "1.0.post456.dev34",
      "1.0.post456",
      "1.0.15",
      "1.1.dev1",
      "1.10",
      "1!0.5",
    ];
    for (const [at, text] of sorted.entries()) {
      for (const [other, against] of sorted.entries()) {
        const found = Math.sign(comparePythonVersions(parse(text), parse(against)));
        expect(`${text} ${found} ${against}`).toBe(`${text} ${Math.sign(at - other)} ${against}`);
      }
    }
  });
});
