import { SourceMap } from "node:module";

import { describe, expect, it } from "vitest";

import { countByPart, partOfFile } from "../../../bench/profile/parts.ts";
import { sampleMs } from "../../../bench/profile/inspector.ts";

/** A bundle of one line: the log from column 0, a guard from column 10. */
const map = new SourceMap({
  file: "worker.js",
  version: 3,
  sources: ["../src/lib/log.ts", "../src/entrance/authenticate.ts"],
  sourcesContent: [],
  names: [],
  mappings: "AAAA,UCAA",
  sourceRoot: "",
});

const node = (id: number, functionName: string, columnNumber: number, children: number[] = []) => ({
  id,
  callFrame: {
    functionName,
    url: columnNumber < 0 ? "" : "worker.js",
    lineNumber: 0,
    columnNumber,
  },
  children,
});

describe("the parts of a profile", () => {
  it("count what the runtime does for the function that called it", () => {
    const nodes = [
      node(1, "(root)", -1, [2, 4, 6, 7]),
      node(2, "log", 0, [3]),
      node(3, "console.log", -1),
      node(4, "authenticate", 12, [5]),
      node(5, "digest", -1),
      node(6, "(garbage collector)", -1),
      node(7, "(idle)", -1),
    ];
    const samples = [2, 3, 3, 4, 5, 6, 7, 1];
    const counts = countByPart({ nodes, samples, timeDeltas: [] }, map);
    expect(Object.fromEntries(counts)).toEqual({
      "log line": 3,
      "guards: src/entrance, src/auth": 2,
      "garbage collection": 1,
      "the runtime, within the isolate": 1,
    });
  });

  it.each([
    ["../src/app.ts", "frame: src/app.ts, src/context.ts"],
    ["../src/lib/hex.ts", "leaves: src/lib"],
    ["../node_modules/hono/dist/hono.js", "router and middleware: Hono"],
    ["../node_modules/drizzle-orm/d1/session.js", "SQL and rows: Drizzle, src/db"],
    ["../node_modules/src/sql/sql.ts", "SQL and rows: Drizzle, src/db"],
    ["../node_modules/marked/lib/marked.js", "other libraries"],
  ])("know the part of %s", (file, part) => {
    expect(partOfFile(file)).toBe(part);
  });
});

describe("the time of a sample", () => {
  it("leaves out the gaps in which the isolate did not run", () => {
    const timeDeltas = [500, 700, 600, 90_000, 600];
    expect(sampleMs({ nodes: [], samples: [], timeDeltas })).toBe(0.6);
  });
});
