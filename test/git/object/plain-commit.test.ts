import { describe, expect, it } from "vitest";
import { checkCommit } from "../../../src/git/object/check-commit.ts";
import { parseCommit } from "../../../src/git/object/commit.ts";
import { PlainCommit } from "../../../src/git/object/plain-commit.ts";
import { makeRandom } from "../support/random.ts";
import { STRICT_SEVERITIES } from "../support/severities.ts";

const TREE_OID = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const PARENT_OID = "0123456789abcdef0123456789abcdef01234567";
const IDENTITY = "Jos\xc3\xa9 <j@example.com> 1700000000 -0330";

const latin1 = (text: string): Uint8Array => Buffer.from(text, "latin1");

/** The text of a commit, of these lines. */
const commit = (...lines: string[]): string =>
  [`tree ${TREE_OID}`, ...lines, "", "A message\n"].join("\n");

const PLAIN: [string, string][] = [
  ["a first commit", commit(`author ${IDENTITY}`, `committer ${IDENTITY}`)],
  [
    "a merge",
    commit(
      `parent ${PARENT_OID}`,
      `parent ${TREE_OID}`,
      `author ${IDENTITY}`,
      `committer ${IDENTITY}`,
    ),
  ],
  [
    "a signed commit",
    commit(
      `parent ${PARENT_OID}`,
      `author ${IDENTITY}`,
      `committer ${IDENTITY}`,
      "gpgsig -----BEGIN",
      "  a line",
      " -----END",
    ),
  ],
  ["one of the year 1970", commit(`author A <a> 0 +0000`, `committer A <a> 0 +0000`)],
  ["an empty name and address", commit(`author  <> 1 +0000`, `committer  <> 1 +0000`)],
  ["an empty message", `tree ${TREE_OID}\nauthor ${IDENTITY}\ncommitter ${IDENTITY}\n\n`],
];

/** What the check and the parser say of a commit; undefined if there is a finding. */
function byParser(content: Uint8Array): object | undefined {
  if (checkCommit(content, STRICT_SEVERITIES).length > 0) return undefined;
  const { treeOid, parentOids, committer } = parseCommit(content);
  return { treeOid, parentOids, timeSeconds: committer.timeSeconds };
}

/** The reader's result; undefined if the commit is not plain. */
function byReader(content: Uint8Array, reader = new PlainCommit()): object | undefined {
  if (!reader.read(content)) return undefined;
  const oidAt = (offset: number): string =>
    Buffer.from(content.subarray(offset, offset + 40)).toString("latin1");
  const { treeOffset, parentOffsets, timeSeconds } = reader;
  return { treeOid: oidAt(treeOffset), parentOids: parentOffsets.map(oidAt), timeSeconds };
}

describe("plain commits", () => {
  it.each(PLAIN)("has the links of %s", (_name, text) => {
    const content = latin1(text);
    expect(byReader(content)).toEqual(byParser(content));
    expect(byReader(content)).toBeDefined();
  });

  it.each([
    ["an author who continues on the next line", `author A\n <a> 1 +0000`, `committer ${IDENTITY}`],
    ["a committer who does", `author ${IDENTITY}`, `committer ${IDENTITY}\n > 5 +0000`],
    ["two authors", `author ${IDENTITY}\nauthor ${IDENTITY}`, `committer ${IDENTITY}`],
    ["a time that is no exact number", `author ${IDENTITY}`, `committer A <a> ${2 ** 60} +0000`],
    [
      "a parent in capitals",
      `parent ${"A".repeat(40)}\nauthor ${IDENTITY}`,
      `committer ${IDENTITY}`,
    ],
    ["no space before the address", `author A<a> 1 +0000`, `committer ${IDENTITY}`],
    ["two brackets", `author A <<a> 1 +0000`, `committer ${IDENTITY}`],
    ["a padded time", `author ${IDENTITY}`, `committer A <a> 01 +0000`],
    ["a zone of five digits", `author ${IDENTITY}`, `committer A <a> 1 +00000`],
    ["no committer", `author ${IDENTITY}`, "x y"],
  ])("leaves %s to the parser", (_name, author, committer) => {
    expect(byReader(latin1(commit(author, committer)))).toBeUndefined();
  });

  it("leaves a NUL to the parser, wherever it is", () => {
    const content = latin1(PLAIN[2]?.[1] ?? "");
    for (let at = 0; at < content.length; at++) {
      const damaged = content.slice();
      damaged[at] = 0;
      expect(byReader(damaged), `NUL at ${at}`).toBeUndefined();
    }
  });

  // What the reader takes is stored without any other check.
  it("reads no commit otherwise than the check and the parser, however it is damaged", () => {
    const random = makeRandom(7);
    const reader = new PlainCommit();
    const bytes = [...latin1("\n\0 <>+-09afAFg")];
    let plain = 0;
    for (let round = 0; round < 20_000; round++) {
      let content = latin1(random.pick(PLAIN)[1]);
      for (let edits = random.below(3); edits >= 0; edits--) {
        const at = random.below(content.length);
        const inserted = random.below(4) === 0 ? [] : [random.pick(bytes)];
        const removed = random.below(3);
        content = Buffer.concat([
          content.subarray(0, at),
          Uint8Array.from(inserted),
          content.subarray(at + removed),
        ]);
      }
      const read = byReader(content, reader);
      if (!read) continue;
      plain++;
      expect(read, JSON.stringify(Buffer.from(content).toString("latin1"))).toEqual(
        byParser(content),
      );
    }
    expect(plain).toBeGreaterThan(1000);
  });
});
