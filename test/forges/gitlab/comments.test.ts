import { describe, expect, it } from "vitest";

import {
  ALL,
  openSample,
  readAll,
  readPages,
  requestsOf,
} from "../../support/forges/gitlab-reader.ts";

const idsOf = (list: readonly { foreignId: string }[]) => list.map(({ foreignId }) => foreignId);
const range = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => `${from + index}`);

describe("comments", () => {
  it("are read with all fields of GitLab", async () => {
    const comments = await readAll("comments");
    expect(comments.find(({ foreignId }) => foreignId === "901")).toEqual({
      kind: "comment",
      foreignId: "901",
      number: 1,
      poster: { id: 102, name: "bo.li" },
      body: "As #50 says: `!5`",
      reactions: [{ user: { id: 101, name: "ada" }, content: "laugh" }],
      createdAt: Date.UTC(2024, 2, 1, 8, 1),
      updatedAt: Date.UTC(2024, 2, 1, 8, 1),
    });
  });

  // SECURITY: internal notes, which only members see, are among those that are left out.
  it("come in order, without the service's own, internal ones and those on code", async () => {
    const comments = await readAll("comments");
    expect(idsOf(comments)).toEqual([
      "901",
      "904",
      "905",
      ...range(1000, 45),
      "2008",
      "2009",
      "2010",
    ]);
    expect(new Set(comments.slice(-3).map(({ number }) => number))).toEqual(new Set([46]));
  });

  it("may be written by a deleted account", async () => {
    const comments = await readAll("comments");
    const found = comments.find(({ foreignId }) => foreignId === "904");
    expect(found).toMatchObject({ poster: { id: 0, name: "ghost" } });
  });

  it.each([
    ["issues", { includesIssues: true, includesPulls: false }, 48],
    ["merge requests", { includesIssues: false, includesPulls: true }, 3],
    ["neither", { includesIssues: false, includesPulls: false }, 0],
  ])("are read of %s alone if the import includes only them", async (_, filter, count) => {
    expect(await readAll("comments", filter)).toHaveLength(count);
  });

  it("are limited to those that changed since a time", async () => {
    // The issue changed before: it is listed by its own time.
    expect(await readAll("comments", { ...ALL, since: Date.UTC(2024, 2, 15) })).toEqual([]);
    const comments = await readAll("comments", { ...ALL, since: Date.UTC(2024, 0, 2) });
    expect(comments).toHaveLength(51);
  });

  it("are asked for of issues that have some, within the requests of a page", async () => {
    const { reader, token } = openSample({ numbering: "45.11" });
    const { items, next } = await reader.readPage("comments", undefined, ALL);
    expect(items.length).toBeGreaterThan(10);
    expect(next).toBeDefined();
    const asked = await requestsOf(token);
    expect(asked.length).toBeLessThanOrEqual(30);
    const listed = asked.filter((path) => /\/notes\?/.test(path));
    expect(listed.map((path) => /issues\/(\d+)/.exec(path)?.[1])).toEqual(["1", "2", "3"]);
  });

  it("go on inside an issue where a page ended", async () => {
    const pages = await readPages("comments");
    expect(pages.length).toBeGreaterThan(2);
    const ids = pages.flatMap(({ items }) => idsOf(items));
    expect(new Set(ids).size).toBe(ids.length);
  });
});
