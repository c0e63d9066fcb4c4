import { SourceMap } from "node:module";

import { describe, expect, it } from "vitest";

import { countBusy, countByPart, partOfFile, PUSH_PARTS } from "../../../bench/profile/parts.ts";
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

describe("the parts of a push", () => {
  it.each([
    ["wasm://wasm/d5c5b21e", "kernel: wasm/"],
    ["node-internal:crypto_hash", "hashing and zlib of the platform"],
    ["../src/git/object/hash-object.ts", "hashing and zlib of the platform"],
    ["../src/git/object/check-tree.ts", "checks: src/git/object"],
    ["../src/git/pack/pack-scanner.ts", "passes: src/git/pack, zlib, hash"],
    ["../src/storage/bucket.ts", "storage: src/storage"],
  ])("know the part of %s", (file, part) => {
    expect(partOfFile(file, PUSH_PARTS)).toBe(part);
  });

  it("count another isolate while it is not idle", () => {
    const nodes = [node(1, "(root)", -1, [2, 3]), node(2, "(program)", -1), node(3, "(idle)", -1)];
    expect(countBusy({ nodes, samples: [2, 3, 2, 1], timeDeltas: [] })).toBe(3);
  });
});

describe("the time of a sample", () => {
  it("leaves out the gaps in which the isolate did not run", () => {
    const timeDeltas = [500, 700, 600, 90_000, 600];
    expect(sampleMs({ nodes: [], samples: [], timeDeltas })).toBe(0.6);
  });
});
