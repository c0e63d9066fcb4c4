import { describe, expect, it } from "vitest";

import { findReadme } from "../../../src/domain/contents/find-readme.ts";
import { MODE_SYMLINK } from "../../../src/git/object/tree.ts";
import { makeFiles, type TestFile } from "../../support/files.ts";
import { git } from "../../support/git.ts";
import { make } from "../../support/make.ts";
import { storePush } from "../../support/push.ts";

const link = (content: string): TestFile => ({ mode: MODE_SYMLINK, content });

/** The path of the README that is found, and that of the file that it is. */
async function find(files: Record<string, TestFile>, directory: string[] = []) {
  const repo = await make.repo(await make.user());
  const made = makeFiles(files);
  await storePush(repo, "refs/heads/main", made.oid, made.pack);
  const stored = git.repository(repo);
  const repository = await stored.open(await stored.snapshot());
  const root = repository.catalog.find(made.treeOid);
  const found = root && (await findReadme(repository, root, directory));
  if (!found) return undefined;
  const [held] = Object.entries(made.oids).find(([, oid]) => oid === found.entry.oid) ?? [];
  return [found.path, held];
}

describe("the README of a repository", () => {
  it.each([
    [["README", "readme.txt", "ReadMe.MD", "README.rst"], "ReadMe.MD"],
    [["README", "readme.txt", "README.rst"], "readme.txt"],
    [["README", "README.rst"], "README"],
    [["Readme.rst", "readmes.md", "READM"], "Readme.rst"],
    [[".github/README.md", ".gitea/readme", "docs/README.txt"], "docs/README.txt"],
    [[".github/README.md", ".gitea/readme"], ".gitea/readme"],
    [[".github/README.md", "README/a"], ".github/README.md"],
  ])("of %j is %s", async (paths, wanted) => {
    const files = Object.fromEntries(paths.map((path) => [path, path]));
    expect(await find(files)).toEqual([wanted, wanted]);
  });

  it("is none where nothing is called so, and of a directory its own", async () => {
    expect(await find({ "src/README.md": "a", "readme.md/a": "b" })).toBeUndefined();
    expect(await find({ "src/README.md": "a", "README.md": "b" }, ["src"])).toEqual([
      "src/README.md",
      "src/README.md",
    ]);
    expect(await find({ "src/a": "a", "docs/README.md": "b" }, ["src"])).toBeUndefined();
    expect(await find({ a: "a" }, ["a"])).toBeUndefined();
  });

  it("may be a link to what is in the tree", async () => {
    const files = { "docs/read.md": "text", "docs/again": link("./read.md") };
    for (const target of ["docs/read.md", "./docs/../docs//read.md", "docs/again"]) {
      expect(await find({ ...files, "README.md": link(target) })).toEqual([
        "README.md",
        "docs/read.md",
      ]);
    }
    expect(await find({ ...files, "docs/README.md": link("../docs/read.md") })).toEqual([
      "docs/README.md",
      "docs/read.md",
    ]);
  });

  // SECURITY: a link leads nowhere else.
  it.each(["/docs/a", "../docs/a", "docs", "none", "README.md", "docs/../../docs/a", "", "a\0b"])(
    "is no link to %j",
    async (target) => {
      expect(await find({ "docs/a": "text", "README.md": link(target) })).toBeUndefined();
      const beside = { "docs/a": "text", "README.md": link(target), "readme.txt": "plain" };
      expect(await find(beside)).toEqual(["readme.txt", "readme.txt"]);
    },
  );
});
