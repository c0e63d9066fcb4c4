import { describe, expect, it } from "vitest";

import {
  findFolderCycles,
  findCycleFaults,
  readImports,
} from "../../../scripts/check/folder-cycles.ts";
import { makeDirectory } from "../support/temporary.ts";

/** The imports of files with these contents. */
function importsOf(files: Record<string, string>) {
  return readImports(makeDirectory(files), "src");
}

const cyclesOf = (files: Record<string, string>) =>
  findFolderCycles(importsOf(files)).map(
    ({ folder, members }) => `${folder}: ${members.join(" ")}`,
  );

describe("cycles of folders", () => {
  it("are found between siblings even if no file is in a cycle", () => {
    const files = {
      "src/a/one.ts": 'import { two } from "../b/two.ts";',
      "src/b/two.ts": "export const two = 2;",
      "src/b/three.ts": 'import { four } from "../a/four.ts";',
      "src/a/four.ts": "export const four = 4;",
    };
    expect(cyclesOf(files)).toEqual(["src: a/ b/"]);
  });

  it("are found through type imports, dynamic imports and imports over several lines", () => {
    const files = {
      "src/a/one.ts": 'import type {\n  Two,\n} from "../b/two.ts";',
      "src/b/two.ts": 'export const load = () => import("../c/three.ts");',
      "src/c/three.ts": 'export * from "../a/four.ts";',
      "src/a/four.ts": "",
    };
    expect(cyclesOf(files)).toEqual(["src: a/ b/ c/"]);
  });

  it("are found between folders whose importing files are nested deeply", () => {
    const files = {
      "src/a/x/one.ts": 'import "../../b/two.ts";',
      "src/b/y/z/three.ts": 'import "../../../a/four.ts";',
      "src/b/two.ts": "",
      "src/a/four.ts": "",
    };
    expect(cyclesOf(files)).toEqual(["src: a/ b/"]);
  });

  it("are not found if each file of a folder is either above or below its subfolders", () => {
    const files = {
      "src/a/index.ts": 'import "./x/one.ts";',
      "src/a/x/one.ts": 'import "../env.ts";',
      "src/a/env.ts": "",
    };
    expect(cyclesOf(files)).toEqual([]);
  });

  it("are found if one file of a folder is both above and below a subfolder", () => {
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

  it("lists the imports of the shortest cycle", () => {
    expect(findCycleFaults(importsOf(files), [])).toEqual([
      [
        "src: a/ b/ c/ import one another; the shortest cycle:",
        "  src/a/one.ts:2 imports src/b/two.ts",
        "  src/b/five.ts:1 imports src/a/four.ts",
      ].join("\n"),
    ]);
  });

  it("accepts a known cycle only if its members match exactly", () => {
    expect(findCycleFaults(importsOf(files), ["src: a/ b/ c/"])).toEqual([]);
    expect(findCycleFaults(importsOf(files), ["src: a/ b/ c/ d/"])).toEqual([
      expect.stringMatching(/^src: a\/ b\/ c\/ import one another/),
      "no longer a cycle, remove it from the list: src: a/ b/ c/ d/",
    ]);
  });
});
