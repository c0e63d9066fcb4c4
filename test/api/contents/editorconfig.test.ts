import { describe, expect, it } from "vitest";

import { parseSectionGlob } from "../../../src/domain/code/editorconfig/section-glob.ts";
import { matchGlob } from "../../../src/git/glob/match-glob.ts";
import { MODE_SYMLINK } from "../../../src/git/object/tree.ts";
import { disableCode } from "../../support/disable-code.ts";
import { call } from "../../support/call.ts";
import { makeFiles, type TestFile } from "../../support/files.ts";
import { make, type TestRepo } from "../../support/make.ts";
import { push, pushCommands } from "../../support/push.ts";
import { logged } from "../../support/usage.ts";

const pathOf = ({ owner, name }: TestRepo, path: string) =>
  `/repos/${owner}/${name}/editorconfig/${path}`;

async function makePushed(
  files: Record<string, TestFile>,
  fields: Parameters<typeof make.repo>[1] = {},
) {
  const owner = await make.user();
  const repo = await make.repo(owner, fields);
  const made = makeFiles(files);
  await push(owner, repo, made.oid, made.pack);
  return { owner, repo, made };
}

const TOP = `; the top
root = true
[*]
indent_style = space
INDENT_SIZE = 4
end_of_line = LF
charset = UTF-8   # for all
[*.go]
indent_style = Tab
[*.{md,txt}]
trim_trailing_whitespace = False
indent_size = unset
[/only.top]
own : Value
[Makefile]
indent_style = tab
tab_width = 8
indent_size = tab
`;

describe("GET /repos/{owner}/{repo}/editorconfig/{filepath}", () => {
  it("merges the files from the root to the nearest one", async () => {
    const { repo } = await makePushed({
      ".editorconfig": TOP,
      "lib/.editorconfig": "[*.go]\ntab_width=2\n[deep/**.md]\nindent_size=3\n",
      "lib/own/.editorconfig": "\uFEFFroot=TRUE\r\n\r\n[**]\r\nindent_style=tab\r\n",
      "lib/own/a.go": "a",
    });
    const all = { end_of_line: "lf", charset: "utf-8" };
    const cases: [string, object][] = [
      ["a.c", { ...all, indent_style: "space", indent_size: "4", tab_width: "4" }],
      ["a.go", { ...all, indent_style: "tab", indent_size: "4", tab_width: "4" }],
      ["lib/x/a.go", { ...all, indent_style: "tab", indent_size: "4", tab_width: "2" }],
      ["lib/own/x/a.go", { indent_style: "tab", indent_size: "tab" }],
      ["a/Makefile", { ...all, indent_style: "tab", indent_size: "8", tab_width: "8" }],
    ];
    for (const [path, definition] of cases) {
      const { status, body } = await call("GET", pathOf(repo, path));
      expect([status, body], path).toEqual([200, definition]);
    }
    expect((await call("GET", pathOf(repo, "only.top"))).body.own).toBe("Value");
    expect((await call("GET", pathOf(repo, "lib/only.top"))).body).not.toHaveProperty("own");
    expect((await call("GET", pathOf(repo, "lib%2Fdeep%2Fx%2Fa.md"))).body).toMatchObject({
      indent_size: "3",
      trim_trailing_whitespace: "false",
    });
    expect((await call("GET", pathOf(repo, "b.txt"))).body).toMatchObject({
      indent_size: "unset",
      tab_width: "unset",
    });
    const { line } = await logged(() => call("GET", pathOf(repo, "lib/a.go")));
    expect(line).toMatchObject({ objectCalls: 1, r2Calls: 0, d1Rounds: 1 });
  });

  it("reads at a branch, tag or commit", async () => {
    const { owner, repo, made } = await makePushed({ ".editorconfig": "[*]\na=1\n" });
    const next = makeFiles({ ".editorconfig": "[*.x]\na=2\n" }, { before: made });
    const ref = "refs/heads/main";
    await pushCommands(owner, repo, [{ ref, old: made.oid, new: next.oid }], { pack: next.pack });
    expect((await call("GET", pathOf(repo, "f"))).body).toEqual({});
    expect((await call("GET", pathOf(repo, `f?ref=${made.oid}`))).body).toEqual({ a: "1" });
    expect((await call("GET", pathOf(repo, "f?ref=none"))).status).toBe(404);
  });

  it("answers 404 without an applicable file, and for invalid paths", async () => {
    const { repo } = await makePushed({
      ".editorconfig": { mode: MODE_SYMLINK, content: "rules" },
      rules: "[*]\na=1\n",
      "lib/.editorconfig": "[*]\na=1\n",
    });
    const dots = ["lib%2f..%2fa", "lib/%2e%2e/b", "..%2fa", "lib%2f.%2fa"];
    const wrong = ["f", "%00", "lib%2f%00", "%ff", "x".repeat(5000), "a/".repeat(2500)];
    for (const path of [...dots, ...wrong, `lib/${"x".repeat(2000)}`]) {
      const { status, body } = await call("GET", pathOf(repo, path));
      expect([status, body], path.slice(0, 50)).toEqual([404, ""]);
    }
    const { repo: none } = await makePushed({ a: "a" });
    expect((await call("GET", pathOf(none, "a"))).status).toBe(404);
    const empty = await make.repo(await make.user());
    expect((await call("GET", pathOf(empty, "a"))).status).toBe(404);
  });

  it("requires read access to the code", async () => {
    const { owner, repo } = await makePushed(
      { ".editorconfig": "[*]\na=1\n" },
      { isPrivate: true },
    );
    const stranger = await make.user();
    expect((await call("GET", pathOf(repo, "f"))).status).toBe(404);
    expect((await call("GET", pathOf(repo, "f"), { as: stranger })).status).toBe(404);
    expect((await call("GET", pathOf(repo, "f"), { as: owner })).status).toBe(200);
    await disableCode(repo);
    expect((await call("GET", pathOf(repo, "f"))).status).toBe(404);
    expect((await call("GET", pathOf(repo, "f"), { as: owner })).status).toBe(200);
  });
});

describe("a section header", () => {
  // Expectations are those of the `editorconfig` program of the C core.
  it.each([
    ["*", "a d/a", ""],
    ["a*", "ab", "a/b"],
    ["a**b", "ab a/c/b", "b"],
    ["a/**/b", "a/b a/c/b a/c/d/b", "c/a/b ab"],
    ["**/x", "x d/x", "dx"],
    ["/a", "a", "d/a"],
    ["d/b", "d/b", "e/d/b"],
    ["?", "b", "bb"],
    ["[a-c]x", "ax cx", "dx x"],
    ["[!a]", "b", "a"],
    ["[^ab]", "a", "c"],
    ["[ab", "[ab", "a"],
    ["a[/]b", "a[/]b", "a/b"],
    ["*.{js,}", "x.js x.", "x.ts"],
    ["{a,b{c,d}e}", "a bce bde", "bc be"],
    ["{a}", "{a}", "a"],
    ["{a", "{a", "a"],
    ["{a,b}}", "{a,b}}", "a a}"],
    ["*.{a,b", "c.{a,b", "c.a"],
    ["{}", "{}", "x"],
    ["{3..120}", "3 60 120 +5", "2 121 060 3.0 -3"],
    ["{-3..3}", "-2 2 -0", "4 -4 00"],
    ["{5..1}", "", "3"],
    ["{1..}", "{1..}", "1"],
    ["a{1..3,x}", "a1..3 ax", "a2"],
    ["a\\*b", "a*b", "axb"],
  ])("matches as in editorconfig: %s", (header, matching, others) => {
    const glob = parseSectionGlob(header);
    const split = (text: string) => text.split(" ").filter((path) => path !== "");
    const isMatch = (path: string) => matchGlob(glob, `/${path}`);
    expect(split(matching).filter((path) => !isMatch(path))).toEqual([]);
    expect(split(others).filter(isMatch)).toEqual([]);
  });

  // SECURITY: a backtracking matcher takes exponential time for these headers.
  it("matches in bounded time", () => {
    const path = `/${"a".repeat(1000)}b`;
    for (const header of ["*a".repeat(500), "**a".repeat(330), "{a,aa,a*}".repeat(110)]) {
      // The end matches, so that the matcher examines everything before it.
      expect(matchGlob(parseSectionGlob(`${header}c*b`), path)).toBe(false);
    }
    const nested = `${"{a,".repeat(250)}b${"}".repeat(250)}*c*b`;
    expect(matchGlob(parseSectionGlob(nested), path)).toBe(false);
  });
});
