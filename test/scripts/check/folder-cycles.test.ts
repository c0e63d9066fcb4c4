import { describe, expect, it } from "vitest";

import {
  findFolderCycles,
  judgeFolders,
  readImports,
} from "../../../scripts/check/folder-cycles.ts";
import { makeDirectory } from "../support/temporary.ts";

/** The imports of files whose texts are these. */
function importsOf(files: Record<string, string>) {
  return readImports(makeDirectory(files), "src");
}

const cyclesOf = (files: Record<string, string>) =>
  findFolderCycles(importsOf(files)).map(
    ({ folder, members }) => `${folder}: ${members.join(" ")}`,
  );

describe("cycles of folders", () => {
  it("are found between siblings though no file is in a cycle", () => {
    const files = {
      "src/a/one.ts": 'import { two } from "../b/two.ts";',
      "src/b/two.ts": "export const two = 2;",
      "src/b/three.ts": 'import { four } from "../a/four.ts";',
      "src/a/four.ts": "export const four = 4;",
    };
    expect(cyclesOf(files)).toEqual(["src: a/ b/"]);
  });

  it("are found where only types are imported, lazily or over several lines", () => {
    const files = {
      "src/a/one.ts": 'import type {\n  Two,\n} from "../b/two.ts";',
      "src/b/two.ts": 'export const load = () => import("../c/three.ts");',
      "src/c/three.ts": 'export * from "../a/four.ts";',
      "src/a/four.ts": "",
    };
    expect(cyclesOf(files)).toEqual(["src: a/ b/ c/"]);
  });

  it("are found between folders that the importing files lie deep in", () => {
    const files = {
      "src/a/x/one.ts": 'import "../../b/two.ts";',
      "src/b/y/z/three.ts": 'import "../../../a/four.ts";',
      "src/b/two.ts": "",
      "src/a/four.ts": "",
    };
    expect(cyclesOf(files)).toEqual(["src: a/ b/"]);
  });

  it("are not where a folder's files stand above or below what is in it", () => {
    const files = {
      "src/a/index.ts": 'import "./x/one.ts";',
      "src/a/x/one.ts": 'import "../env.ts";',
      "src/a/env.ts": "",
    };
    expect(cyclesOf(files)).toEqual([]);
  });

  it("are where one file of a folder stands both above and below what is in it", () => {
    const files = {
      "src/a/index.ts": 'import "./x/one.ts";',
      "src/a/x/two.ts": 'import "../index.ts";',
      "src/a/x/one.ts": "",
    };
    expect(cyclesOf(files)).toEqual(["src/a: index.ts x/"]);
  });
});

describe("the check of folders", () => {
  const files = {
    "src/a/one.ts": '// The first line.\nimport { two } from "../b/two.ts";',
    "src/b/two.ts": 'import "../c/three.ts";',
    "src/b/five.ts": 'import "../a/four.ts";',
    "src/c/three.ts": 'import "../a/four.ts";',
    "src/a/four.ts": "",
  };

  it("says the lines of the shortest way round", () => {
    expect(judgeFolders(importsOf(files), [])).toEqual([
      [
        "src: a/ b/ c/ import one another; the shortest way round:",
        "  src/a/one.ts:2 imports src/b/two.ts",
        "  src/b/five.ts:1 imports src/a/four.ts",
      ].join("\n"),
    ]);
  });

  it("lets pass what is known, as long as it is exactly that", () => {
    expect(judgeFolders(importsOf(files), ["src: a/ b/ c/"])).toEqual([]);
    expect(judgeFolders(importsOf(files), ["src: a/ b/ c/ d/"])).toEqual([
      expect.stringMatching(/^src: a\/ b\/ c\/ import one another/),
      "no longer a cycle, remove it from the list: src: a/ b/ c/ d/",
    ]);
  });
});
