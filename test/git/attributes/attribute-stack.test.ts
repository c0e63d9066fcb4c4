import { expect, it } from "vitest";
import { AttributeStack } from "../../../src/git/attributes/attribute-stack.ts";
import type { AttributeValue } from "../../../src/git/attributes/parse-rules.ts";
import { type ByteText, readByteText } from "../../../src/git/byte-text.ts";
import { git, gitBytes, makeRepository } from "../support/git.ts";
import { makeRandom, type Random } from "../support/random.ts";

/** Parts of random patterns: all special sequences, and parts of names. */
const PARTS = [
  ..."a a b / * * ? \\ [ ] - ! ^ .".split(" "),
  " ",
  "**/",
  "/**",
  "/**/",
  "***",
  "[a-c]",
  "[!a]",
  "[^/]",
  "[]a]",
  "[a\\-b]",
  "[[:alpha:]]",
  "[[:alpha:]",
  "[[:nothing:]]",
  "[[:upper:]-b]",
  "[b-a]",
  "\\*",
  "\xc3\xa4",
  "ab",
];
const NAMES = [
  "a",
  "b",
  "ab",
  "aab",
  "A",
  "a-b",
  "*",
  "[a]",
  "\\",
  "a b",
  "\xc3\xa4",
  ".",
  "^",
  "!",
];

const makePattern = (random: Random): string =>
  Array.from({ length: 1 + random.below(7) }, () => random.pick(PARTS)).join("");

const makePath = (random: Random): string =>
  Array.from({ length: 1 + random.below(4) }, () =>
    random.pick(NAMES.filter((n) => n !== ".")),
  ).join("/") + (random.below(3) === 0 ? "/" : "");

/** Formats a pattern for a line: in quotes if it contains a space or quote. */
const quote = (pattern: string): string =>
  /[ "]/.test(pattern) ? `"${pattern.replaceAll(/["\\]/g, "\\$&")}"` : pattern;

function formatValue(value: AttributeValue | undefined): string {
  if (value === undefined || value === "unspecified") return "unspecified";
  if (typeof value === "boolean") return value ? "set" : "unset";
  return value.text;
}

/** Makes a repository with `.gitattributes` files in its index, by their directories. */
function storeAttributes(files: Readonly<Record<string, string>>): string {
  const repository = makeRepository();
  for (const [directory, text] of Object.entries(files)) {
    const input = Buffer.from(text, "latin1");
    const oid = git(repository, ["hash-object", "-w", "--stdin"], { input });
    const path = directory === "" ? ".gitattributes" : `${directory}/.gitattributes`;
    git(repository, ["update-index", "--add", "--cacheinfo", `100644,${oid},${path}`]);
  }
  return repository;
}

it("patterns match the same paths as in git", () => {
  const random = makeRandom(3);
  let matchCount = 0;
  const faults: string[] = [];
  for (let round = 0; round < 25; round++) {
    const patterns = Array.from({ length: 25 }, () => makePattern(random));
    const paths = Array.from({ length: 40 }, () => makePath(random));
    const names = patterns.map((_, at) => `p${at}`);
    const lines = patterns.map((pattern, at) => `${quote(pattern)} p${at}`).join("\n");
    const below = patterns.map((pattern, at) => `${quote(pattern)} p${at}=below`).join("\n");
    const repository = storeAttributes({ "": `${lines}\n`, a: below });
    const input = Buffer.from(paths.map((path) => `${path}\0`).join(""), "latin1");
    const args = ["check-attr", "--cached", "-z", "--stdin", ...names];
    const output = gitBytes(repository, args, { input }).toString("latin1").split("\0");

    const root = AttributeStack.root(lines as ByteText, names);
    const inner = root.enter("a" as ByteText, below as ByteText);
    for (let at = 0; at + 2 < output.length; at += 3) {
      const [path = "", name = "", theirs] = output.slice(at, at + 3);
      const stack = path.startsWith("a/") && path !== "a/" ? inner : root;
      const ours = formatValue(stack.find(path as ByteText).get(name));
      if (theirs !== "unspecified") matchCount++;
      const pattern = patterns[Number(name.slice(1))];
      if (ours !== theirs) faults.push(`${pattern} for ${path}: ${ours}, not ${theirs}`);
    }
  }
  expect(faults).toEqual([]);
  expect(matchCount).toBeGreaterThan(800);
});

// SECURITY: users control both the patterns and the paths: in exponential time, this does not end.
it("a pattern with very many possible matches is matched", () => {
  const pattern = `${"*a".repeat(500)}b`;
  const path = "a".repeat(4000) as ByteText;
  const stack = AttributeStack.root(`${pattern} x\n${"**/".repeat(300)}b x\n` as ByteText, ["x"]);
  expect(stack.find(path).get("x")).toBe(undefined);
  expect(stack.find("a/".repeat(2000) as ByteText).get("x")).toBe(undefined);
});

it("lines are parsed as by git", () => {
  const text = [
    "[attr]m x y=1",
    "[attr]m x -y",
    "a m",
    "b m !x",
    "c x",
    "c !m -y",
    " \td\tx=1\r",
    '"e\\tf" x',
    '"e x',
    "g x -bad~ y",
    "h x",
    "h",
    "i x\0 j x",
    "k x",
  ].join("\n");
  const repository = storeAttributes({ "": text });
  const stack = AttributeStack.root(text as ByteText, ["x", "y", "m"]);
  for (const path of ["a", "b", "c", "d", "e\tf", '"e', "g", "h", "i", "j", "k"]) {
    const output = gitBytes(repository, [
      "check-attr",
      "--cached",
      "-z",
      "x",
      "y",
      "m",
      "--",
      path,
    ]);
    const theirs = readByteText(output)
      .split("\0")
      .filter((_, at) => at % 3 === 2);
    const found = stack.find(path as ByteText);
    expect([path, ...["x", "y", "m"].map((name) => formatValue(found.get(name)))]).toEqual([
      path,
      ...theirs,
    ]);
  }
});
