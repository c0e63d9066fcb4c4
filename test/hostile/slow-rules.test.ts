import { describe, expect, it } from "vitest";

import { exportContent } from "../../src/git/archive/export-content.ts";
import { byteTextBytes, encodeText, encodeUtf8 } from "../../src/git/byte-text.ts";
import { matchGlob } from "../../src/git/glob/match-glob.ts";
import { parseCommit } from "../../src/git/object/commit.ts";
import { EMPTY_TREE_OID } from "../../src/git/oid.ts";
import { parseSectionGlob } from "../../src/domain/code/editorconfig/section-glob.ts";
import { RESULT_STEPS_MAX } from "../../src/storage/result-cache.ts";
import { call, visit } from "../support/call.ts";
import { History } from "../support/commits.ts";
import { make } from "../support/make.ts";
import { pushCommands } from "../support/push.ts";
import { logged } from "../support/usage.ts";

/** A public repository whose attributes take 100 billion comparisons for its 100 files. */
async function makeRepo(attribute: string) {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const history = new History();
  const rules = `${"*a".repeat(50)}*b ${attribute}\n`.repeat(500);
  const names = Array.from({ length: 100 }, (_, at) => `${"a".repeat(200)}${at}b`);
  const files = Object.fromEntries(names.map((name) => [name, "x"]));
  const head = history.commit({ files: { ".gitattributes": rules, ...files } });
  const pack = history.build();
  await pushCommands(owner, repo, [{ ref: "refs/heads/main", new: head }], { pack });
  return { path: `/${repo.owner}/${repo.name}`, head };
}

describe("attributes that match slowly", () => {
  it("end an archive", async () => {
    const { path } = await makeRepo("export-ignore=x");
    await expect(visit("GET", `${path}/archive/main.tar.gz`)).rejects.toThrow("too much work");
  });

  it("leave files out of the languages of a repository", async () => {
    const { path } = await makeRepo("linguist-language=C");
    const { answer, line } = await logged(() => call("GET", `/repos${path}/languages`));
    expect(answer.status).toBe(200);
    expect(line.steps).toBeGreaterThan(RESULT_STEPS_MAX);
    expect(line.steps).toBeLessThan(1.2 * RESULT_STEPS_MAX);
  });
});

/** Exports a file of a commit with placeholders expanded. */
function expand(content: string, message: string): string {
  const who = "A <a@example.com> 1700000000 +0000";
  const head = `tree ${EMPTY_TREE_OID}\nauthor ${who}\ncommitter ${who}\n\n`;
  const rules = {
    isIgnored: false,
    lineEnds: undefined,
    hasIdent: false,
    isSubstituted: true,
    isBinary: undefined,
  };
  const commit = {
    oid: EMPTY_TREE_OID,
    commit: parseCommit(byteTextBytes(encodeText(head + message))),
    decorations: [],
    abbreviate: (oid: string) => oid,
  };
  return new TextDecoder().decode(
    exportContent(encodeUtf8(content), EMPTY_TREE_OID, rules, commit),
  );
}

describe("placeholders in an archived file", () => {
  // By a pattern that ends in `$`, each of the dots and dashes was tried as the start of the end:
  // hours.
  it("make a file name of a subject of a million dots and dashes", () => {
    const line = `a${".-".repeat(500_000)}`;
    expect(expand("$Format:%f$", `${line}b\n`)).toBe(`${line}b`);
    expect(expand("$Format:%f$", `${line}\n`)).toBe("a");
  });

  it("stay as they are once they have grown to 16 MB", () => {
    const content = `$Format:${"%B".repeat(100_000)}$ $Format:%B%n$`;
    const text = expand(content, "m".repeat(1_000_000));
    expect(text.lastIndexOf("m")).toBe(16_000_000 - 1);
    expect(text.slice(16_000_000)).toBe(`${"%B".repeat(99_984)} %B\n`);
  });
});

describe("a set in a section of .editorconfig", () => {
  it("has ranges of any size", () => {
    const glob = parseSectionGlob("[Ā-\u{10ffff}]");
    expect(["Ā", "\u{5000}", "\u{1f48e}", "a"].map((name) => matchGlob(glob, `/${name}`))).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  // Each bracket read the rest of the header, and collected the characters of its ranges.
  it("that is not closed is literal", () => {
    const header = "[Ā-\u{ffff}".repeat(200);
    expect(matchGlob(parseSectionGlob(header), `/${header}`)).toBe(true);
  });
});
