import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { repositoryInsights } from "../../../src/db/schema/index.ts";
import { findLicense } from "../../../src/domain/code/templates/licenses.ts";
import { MODE_EXECUTABLE, MODE_SUBMODULE, MODE_SYMLINK } from "../../../src/git/object/tree.ts";
import { disableCode } from "../../support/disable-code.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsOf } from "../../support/events.ts";
import { makeFiles, type TestFile } from "../../support/files.ts";
import { make, type TestRepo } from "../../support/make.ts";
import { push, pushCommands } from "../../support/push.ts";
import { logged } from "../../support/usage.ts";

const pathOf = ({ owner, name }: TestRepo, noun = "languages") => `/repos/${owner}/${name}/${noun}`;

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

/** The statistics of some files, in order. */
async function count(files: Record<string, TestFile>): Promise<[string, number][]> {
  const { repo } = await makePushed(files);
  const { status, body } = await call("GET", pathOf(repo));
  expect(status).toBe(200);
  return Object.entries(body as Record<string, number>);
}

/** A text of `bytes` bytes. */
const of = (bytes: number) => "x".repeat(bytes);
const program = (content: string) => ({ mode: MODE_EXECUTABLE, content });

describe("GET /repos/{owner}/{repo}/languages", () => {
  it("counts programming and markup languages, largest first, but neither data nor prose", async () => {
    const counted = await count({
      "src/main.go": of(50),
      "src/deep/other.GO": of(25),
      "src/a.py": of(80),
      "web/index.html": of(60),
      "web/page.scss": of(10),
      Makefile: of(5),
      Dockerfile: of(4),
      "a.json": of(900),
      "b.yml": of(900),
      "README.md": of(900),
      "notes.txt": of(900),
      unknown: of(900),
      "picture.png": of(900),
    });
    expect(counted).toEqual([
      ["Python", 80],
      ["Go", 75],
      ["HTML", 60],
      ["SCSS", 10],
      ["Makefile", 5],
      ["Dockerfile", 4],
    ]);
  });

  it("omits vendored and generated files, documentation, symbolic links and submodules", async () => {
    const link = { mode: MODE_SYMLINK, content: "main.go" };
    const linked = { mode: MODE_SUBMODULE, content: "1".repeat(40) };
    const left = ["node_modules/a/b.js", "vendor/x/y.go", "docs/conf.py", "jquery.js", "a.min.js"];
    const more = ["dist/bundle.js", "types/a.d.ts", "examples/a.c", "src/Documentation/a.c"];
    const files = [...left, ...more, "third_party/z/a.c", "a.designer.cs", "configure"];
    const counted = await count({
      ...Object.fromEntries(files.map((path) => [path, of(100)])),
      "main.go": of(7),
      "link.go": link,
      "linked.go": linked,
    });
    expect(counted).toEqual([["Go", 7]]);
  });

  it("applies .gitattributes at any depth", async () => {
    const counted = await count({
      ".gitattributes": [
        "vendor/own/** -linguist-vendored",
        "*.sql linguist-detectable",
        "made/* linguist-generated=true",
        "*.blob linguist-language=Rust",
        "*.view linguist-language=visual-basic-6.0",
        "*.none linguist-language=No-Such",
        "docs/** linguist-documentation=false",
        "hidden.go linguist-detectable=false",
        "[attr]theirs linguist-vendored",
        "borrowed/** theirs",
      ].join("\n"),
      "vendor/own/a.go": of(1),
      "vendor/theirs/a.go": of(1000),
      "schema.sql": of(2),
      "made/a.js": of(1000),
      "a.blob": of(3),
      "b.view": of(4),
      "c.none": of(1000),
      "docs/a.py": of(5),
      "hidden.go": of(1000),
      "borrowed/deep/a.go": of(1000),
      "sub/.gitattributes": "*.js linguist-language=TypeScript\n/deep/*.js !linguist-language",
      "sub/a.js": of(6),
      "sub/deep/b.js": of(7),
      "c.js": of(8),
    });
    expect(counted).toEqual([
      ["JavaScript", 15],
      ["TypeScript", 6],
      ["Python", 5],
      ["Visual Basic 6.0", 4],
      ["Rust", 3],
      ["SQL", 2],
      ["Go", 1],
    ]);
  });

  it("detects the language by the content where the name is ambiguous, or by the interpreter", async () => {
    const counted = await count({
      "a.h": "#include <vector>\nclass A {\npublic:\n};\n",
      "b.h": "int f(void);\n",
      "c.m": "#import <a.h>\n@interface A\n@end\n",
      "d.m": "% comment\nfunction y = f(x)\n",
      "e.pl": "use strict;\nmy $x = 1;\n",
      "f.ts": "export const a = 1;\n",
      "g.ts": "<TS version>",
      run: program("#!/usr/bin/env -S A=b python3 -u\nprint()\n"),
      build: program("#!/bin/bash -e\n"),
      gui: program('#!/bin/sh\n# \\\nexec wish "$0" -- "$@"\n'),
      plain: "#!/bin/bash\nno program\n",
      binary: program("\x7fELF"),
    });
    expect(Object.fromEntries(counted)).toEqual({
      "C++": 39,
      C: 13,
      "Objective-C": 32,
      MATLAB: 28,
      Perl: 23,
      TypeScript: 20,
      Python: 45,
      Shell: 15,
      Tcl: 37,
    });
  });

  it("classifies many files of one extension by the largest", async () => {
    const many = Array.from({ length: 90 }, (_, at) => [`src/${at}.h`, "int f(void);\n"]);
    const large = Array.from({ length: 40 }, (_, at) => [
      `lib/${at}.h`,
      "template <class T>\nclass A {};\n",
    ]);
    const counted = await count(Object.fromEntries([...many, ...large]));
    expect(Object.fromEntries(counted)).toEqual({ "C++": 40 * 31 + 66 * 13, C: 24 * 13 });
  });

  it("computes once for a commit, and updates the repository's row", async () => {
    const { owner, repo, made } = await makePushed({ "a.go": of(20), LICENSE: await mit("Ada") });
    const before = await eventsOf(repo);
    const cold = await logged(() => call("GET", pathOf(repo)));
    expect(cold.answer.body).toEqual({ Go: 20 });
    expect(cold.line).toMatchObject({ objectCalls: 1 });
    const record = () => call("GET", pathOf(repo, "").slice(0, -1));
    await expect
      .poll(async () => (await record()).body)
      .toMatchObject({ language: "Go", licenses: ["MIT"] });
    const warm = await logged(() => call("GET", pathOf(repo, "licenses")));
    expect(warm.answer.body).toEqual(["MIT"]);
    expect(warm.line).toMatchObject({ objectCalls: 1, r2Calls: 0 });
    expect(warm.line.d1Rounds).toBe(2);
    expect(await eventsOf(repo)).toEqual(before);

    const next = makeFiles({ "a.rs": "fn main() {}\n" }, { before: made });
    const ref = "refs/heads/main";
    await pushCommands(owner, repo, [{ ref, old: made.oid, new: next.oid }], { pack: next.pack });
    expect((await call("GET", pathOf(repo))).body).toEqual({ Rust: 13 });
    expect((await call("GET", pathOf(repo, "licenses"))).body).toEqual([]);
    await expect
      .poll(async () => (await record()).body)
      .toMatchObject({ language: "Rust", licenses: [] });

    await call("DELETE", pathOf(repo, "").slice(0, -1), { as: owner });
    expect(
      await db.select().from(repositoryInsights).where(eq(repositoryInsights.repoId, repo.id)),
    ).toEqual([]);
  });

  it("is empty without a commit, and requires read access to the code", async () => {
    const empty = await make.repo(await make.user());
    expect(await call("GET", pathOf(empty))).toMatchObject({ status: 200, body: {} });
    expect(await call("GET", pathOf(empty, "licenses"))).toMatchObject({ status: 200, body: [] });
    const { owner, repo } = await makePushed({ "a.go": "a" }, { isPrivate: true });
    const stranger = await make.user();
    const nouns = ["languages", "licenses"];
    for (const noun of nouns) {
      expect((await call("GET", pathOf(repo, noun))).status).toBe(404);
      expect((await call("GET", pathOf(repo, noun), { as: stranger })).status).toBe(404);
      expect((await call("GET", pathOf(repo, noun), { as: owner })).status).toBe(200);
    }
    await disableCode(repo);
    for (const noun of nouns) {
      expect((await call("GET", pathOf(repo, noun))).status).toBe(404);
      expect((await call("GET", pathOf(repo, noun), { as: owner })).status).toBe(200);
    }
  });
});

async function mit(holder: string): Promise<string> {
  const template = await findLicense("MIT");
  return (template?.text ?? "").replace("<copyright holders>", holder).replace("<year>", "2024");
}

const detect = async (files: Record<string, TestFile>): Promise<string[]> => {
  const { repo } = await makePushed(files);
  return (await call("GET", pathOf(repo, "licenses"))).body;
};

const textOf = async (id: string): Promise<string> => (await findLicense(id))?.text ?? "";

describe("GET /repos/{owner}/{repo}/licenses", () => {
  it("detects a license by its words, whatever its layout and copyright holder", async () => {
    const text = await mit("A. Person and others");
    const reflowed = text.replaceAll(/(\S)\n(?=\S)/g, "$1 ").replaceAll(/(.{40}\S*) /g, "$1\n  ");
    expect(await detect({ "license.md": `# The MIT License\n\n${reflowed}` })).toEqual(["MIT"]);
    const bsd = (await textOf("BSD-3-Clause"))
      .replace(/the copyright holder nor/i, "The Grand University, Nowhere, nor")
      .replaceAll(/copyright holders?/gi, "GRAND UNIVERSITY");
    expect(await detect({ COPYING: bsd })).toEqual(["BSD-3-Clause"]);
    const lesser = (await textOf("LGPL-3.0-only")).split(/^\s*GNU GENERAL PUBLIC LICENSE$/m);
    expect(await detect({ "COPYING.LESSER": lesser[0] ?? "" })).toEqual(["LGPL-3.0-only"]);
    const apache = (await textOf("Apache-2.0")).split("APPENDIX")[0] ?? "";
    expect(await detect({ "LICENSE.txt": apache })).toEqual(["Apache-2.0"]);
  });

  it.each(["ISC", "0BSD", "MIT-0", "GPL-2.0-only", "AGPL-3.0-only", "Unlicense", "BSD-2-Clause"])(
    "distinguishes %s from similar licenses",
    async (id) => {
      expect(await detect({ LICENSE: await textOf(id) })).toEqual([id]);
    },
  );

  it("lists several licenses, in order", async () => {
    const both = { "LICENSE-MIT": await mit("A"), "LICENSE-APACHE": await textOf("Apache-2.0") };
    expect(await detect({ ...both, UNLICENSE: await textOf("Unlicense") })).toEqual([
      "Apache-2.0",
      "MIT",
      "Unlicense",
    ]);
    expect(await detect({ ...both, COPYING: await mit("B") })).toEqual(["Apache-2.0", "MIT"]);
  });

  it("does not detect a license in another text, nor in one with additions", async () => {
    const text = await mit("A");
    const harmless = text.replace(
      "THE SOFTWARE IS",
      "The Software shall be used for Good, not Evil.\n\nTHE SOFTWARE IS",
    );
    expect(harmless).not.toBe(text);
    const link = { mode: MODE_SYMLINK, content: "doc" };
    const files = { "src/LICENSE": text, "license.d": link, doc: text, "README.md": text };
    expect(await detect({ ...files, LICENSE: harmless, COPYING: "All mine.\n" })).toEqual([]);
    const large = `${text}${"more and more ".repeat(20_000)}`;
    expect(await detect({ LICENSE: large, "LICENSE.bin": new Uint8Array(100) })).toEqual([]);
    expect(
      await detect({ LICENSE: "", COPYING: { mode: MODE_SUBMODULE, content: "1".repeat(40) } }),
    ).toEqual([]);
  });
});
