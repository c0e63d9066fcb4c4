import { describe, expect, it } from "vitest";

import { parseYaml, readYaml, YamlTooLong } from "../../src/lib/yaml.ts";
import { expectPauses } from "../support/slices.ts";

describe("a YAML text", () => {
  it("is read by its schema", async () => {
    expect(await readYaml("a: 1\nb: [x, ~]", "core", 10)).toEqual({ a: 1, b: ["x", null] });
    expect(await readYaml("a: 1", "failsafe", 10)).toEqual({ a: "1" });
    expect(await readYaml("", "core", 10)).toBeNull();
  });

  it.each([
    ["a: [", /expected flow sequence to end|Flow sequence/i],
    ["a: 1\na: 2", /unique/],
    ["a:\n  b: 1\n  b: 2", /unique/],
    ["a\n---\nb", /more than one document/],
  ])("%j is refused", async (text, message) => {
    await expect(readYaml(text, "core", 10)).rejects.toThrow(message);
  });

  it("expands few aliases", async () => {
    const text = `a: &a [1, 1]\nb: [${"*a,".repeat(11)}]`;
    await expect(readYaml(text, "core", 10)).rejects.toThrow(/alias/);
    expect(await readYaml(text, "core", 20)).toMatchObject({ a: [1, 1] });
  });

  it("has several documents", async () => {
    const documents = await parseYaml("a\n---\nb\n", "core");
    expect(documents.map((document) => document.toJS() as unknown)).toEqual(["a", "b"]);
  });

  it("of many parts lets other requests run, and is refused beyond their limit", async () => {
    const lines = (count: number): string =>
      Array.from({ length: count }, (_, at) => `k${at}: v\n`).join("");
    const value = await expectPauses(4, () => readYaml(lines(4000), "core", 10));
    expect(Object.keys(value as object)).toHaveLength(4000);
    await expect(readYaml(lines(8000), "core", 10)).rejects.toThrow(YamlTooLong);
  });

  // The library reads a scalar at once, line by line.
  it.each([
    ["a quoted text", (count: number) => `a: "${"b\n\n ".repeat(count / 2)}"`],
    ["a plain text", (count: number) => `a: b\n${"  b\n".repeat(count)}`],
    ["a block", (count: number) => `a: |\n${" \t\n".repeat(count)}`],
  ])("counts the lines of %s as parts", async (_, textOf) => {
    await expectPauses(1, () => readYaml(textOf(10_000), "core", 10));
    await expect(readYaml(textOf(41_000), "core", 10)).rejects.toThrow(YamlTooLong);
  });

  it("counts a long line as parts", async () => {
    const long = (chars: number) => `a: "${"b".repeat(chars)}"`;
    expect(await readYaml(long(1_000_000), "core", 10)).toHaveProperty("a");
    await expect(readYaml(long(2_100_000), "core", 10)).rejects.toThrow(YamlTooLong);
  });
});
