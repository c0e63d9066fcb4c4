import { describe, expect, it } from "vitest";

import { parseQuery } from "../../../../src/domain/issues/lists/parse-query.ts";

const EMPTY = parseQuery("");

describe("a typed query", () => {
  it.each<[string, Partial<typeof EMPTY>]>([
    ["", {}],
    ["   ", {}],
    ["apple pie", { words: ["apple", "pie"] }],
    ['"apple pie"', { words: ["apple pie"] }],
    ['"apple pie', { words: ["apple pie"] }],
    ["-word", { words: ["word"] }],
    ["label:bug", { requiredLabels: ["bug"] }],
    ["LABEL:Bug", { requiredLabels: ["Bug"] }],
    ['label:"good first issue" rest', { requiredLabels: ["good first issue"], words: ["rest"] }],
    ["label:kind/bug,x", { requiredLabels: ["kind/bug,x"] }],
    ['-label:"a b" -label:c', { excludedLabels: ["a b", "c"] }],
    ["label:", { words: ["label:"] }],
    ['label:""', { words: ["label:  "] }],
    ["milestone:v1.0", { requiredMilestones: ["v1.0"] }],
    ["-milestone:v1", { words: ["-milestone:v1"] }],
    ["author:ada", { people: [{ role: "poster", name: "ada" }] }],
    ["author:@ada", { people: [{ role: "poster", name: "ada" }] }],
    ["assignee:@me", { people: [{ role: "assignee", name: "caller" }] }],
    ["mentions:me", { people: [{ role: "mentioned", name: "me" }] }],
    ["is:open", { state: "open" }],
    ["is:closed is:open", { state: "open" }],
    ["state:all", { state: "all" }],
    ["is:issue", { isPull: false }],
    ["is:PR", { isPull: true }],
    ["type:pulls", { isPull: true }],
    ["is:constructor", { words: ["is:constructor"] }],
    ["constructor:x", { words: ["constructor:x"] }],
    ["in:title apple", { parts: ["title"], words: ["apple"] }],
    ["in:title,comments x", { parts: ["title", "comment"], words: ["x"] }],
    ["in:toString x", { words: ["in:toString", "x"] }],
    ["no:label no:assignee", { without: ["label", "assignee"] }],
    ["no:thing", { words: ["no:thing"] }],
    ["sort:oldest", { sort: "oldest" }],
    ["sort:random", { words: ["sort:random"] }],
    ["https://example.org/a", { words: ["https://example.org/a"] }],
    ["std::vector", { words: ["std::vector"] }],
    ["#12", { words: ["#12"] }],
    ["!!!", { isUnfindable: true }],
    ["!!! apple", { words: ["apple"] }],
    ["is:open ???", { state: "open", isUnfindable: true }],
    ["日本語", { words: ["日本語"] }],
    ['a"b', { words: ['a"b'] }],
    ['"', { isUnfindable: true }],
  ])("%s", (text, expected) => {
    expect(parseQuery(text, "caller")).toEqual({ ...EMPTY, ...expected });
  });

  it("names nobody by @me for an anonymous caller", () => {
    expect(parseQuery("author:@me").people).toEqual([{ role: "poster", name: "" }]);
  });

  it("reads a bounded number of terms, in linear time", () => {
    expect(parseQuery("a ".repeat(5000)).words).toHaveLength(32);
    expect(parseQuery(`${'"'.repeat(5000)}x`).words.length).toBeLessThan(3);
  });
});
