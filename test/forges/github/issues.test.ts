import { describe, expect, it } from "vitest";

import type { ForeignIssue } from "../../../src/forges/forge.ts";
import { ALL, openSample, readAll, readPages } from "../../support/forges/github-reader.ts";

const ada = { id: 1001, name: "ada" };
const brian = { id: 1002, name: "Brian-K" };
const ghost = { id: 0, name: "ghost" };

const CONTENTS = ["+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"];

const plain: Omit<ForeignIssue, "foreignId" | "number" | "title" | "createdAt" | "updatedAt"> = {
  kind: "issue",
  poster: ada,
  body: "",
  ref: "",
  labelIds: [],
  milestoneId: null,
  assignees: [],
  reactions: [],
  isLocked: false,
  isClosed: false,
  closedAt: null,
  deadlineAt: null,
};

describe("issues", () => {
  it("are read on three pages, oldest first and without pull requests", async () => {
    const { reader, requests } = await openSample();
    const pages = await readPages(reader, "issues");
    const numbers = pages.flatMap(({ items }) => items.map(({ number }) => number));
    expect(pages.map(({ items }) => items.length)).toEqual([94, 100, 25]);
    expect(numbers).toEqual([1, 2, 3, 4, ...Array.from({ length: 215 }, (_, at) => 14 + at)]);
    const asked = (await requests()).filter(({ path }) => /\/issues\?/.test(path));
    expect(asked).toHaveLength(3);
    for (const { path } of asked) {
      const query = Object.fromEntries(new URL(path, "http://x").searchParams);
      expect(query).toMatchObject({
        per_page: "100",
        state: "all",
        sort: "created",
        direction: "asc",
      });
    }
  });

  it("have all their fields", async () => {
    const { reader } = await openSample();
    const { items } = await reader.readPage("issues", undefined, ALL);
    expect(items[0]).toEqual({
      ...plain,
      foreignId: "100001",
      number: 1,
      title: "Crash with “ünïcode” 🎉 and <b>tags</b>",
      body: "It breaks, see #2 and octo/other#3.\r\n\r\ncc @Brian-K",
      labelIds: ["501", "503"],
      milestoneId: "601",
      assignees: [ada, brian],
      reactions: CONTENTS.map((content, index) => ({
        user: index === 2 ? ghost : index % 2 === 0 ? ada : brian,
        content,
      })),
      createdAt: Date.UTC(2024, 0, 1, 12),
      updatedAt: Date.UTC(2024, 0, 1, 18),
    });
    expect(items[1]).toEqual({
      ...plain,
      foreignId: "100002",
      number: 2,
      title: "Asked by somebody who left",
      poster: ghost,
      labelIds: ["504"],
      milestoneId: "602",
      isClosed: true,
      closedAt: Date.UTC(2024, 0, 8, 12),
      createdAt: Date.UTC(2024, 0, 2, 12),
      updatedAt: Date.UTC(2024, 0, 8, 12),
    });
    expect(items[2]).toMatchObject({ number: 3, isLocked: true, poster: ghost });
    expect(items[3]).toMatchObject({ poster: { id: 49_699_333, name: "dependabot[bot]" } });
  });

  it("have reactions from all pages, and cause no requests without any", async () => {
    const { reader, requests } = await openSample();
    const { items } = await reader.readPage("issues", undefined, ALL);
    const names = items[2]?.reactions.map(({ user: { name } }) => name);
    expect(names).toEqual(Array.from({ length: 205 }, (_, index) => `fan${index}`));
    const paths = (await requests()).map(({ path }) => path.replace(/^\/[^/]+\/[^/]+/, ""));
    expect(paths.filter((path) => path.includes("reactions"))).toEqual([
      "/app/issues/1/reactions?per_page=100",
      "/app/issues/3/reactions?per_page=100",
      "/app/issues/3/reactions?per_page=100&page=2",
      "/app/issues/3/reactions?per_page=100&page=3",
    ]);
  });

  it("are read if they have changed since a time, on all pages", async () => {
    const { reader } = await openSample();
    const since = Date.UTC(2024, 0, 20, 18);
    const items = await readAll(reader, "issues", { ...ALL, since });
    expect(items.map(({ number }) => number)).toEqual(
      Array.from({ length: 209 }, (_, at) => 20 + at),
    );
  });

  // GitHub refuses numbers of pages in long lists.
  it("are read by the cursors of long lists", async () => {
    const { reader } = await openSample({ behaviour: { hasCursors: true } });
    const pages = await readPages(reader, "issues");
    expect(pages.map(({ items }) => items.length)).toEqual([94, 100, 25]);
  });
});

/** Issues as the list has them, each with reactions. */
const reacted = (numbers: readonly number[], reactionCount = 1): object[] =>
  numbers.map((number) => ({
    id: 100_000 + number,
    number,
    title: `Issue ${number}`,
    labels: [],
    user: null,
    locked: false,
    state: "open",
    created_at: "2024-01-01T00:00:00Z",
    updated_at: "2024-01-01T00:00:00Z",
    reactions: { total_count: reactionCount },
  }));

describe("a page with more reactions than a step may ask for", () => {
  const numbers = Array.from({ length: 70 }, (_, at) => 14 + at);

  it("is read in parts, each of a bounded number of requests and without repeats", async () => {
    const { reader, requests } = await openSample({
      behaviour: { answers: { issues: reacted(numbers) } },
    });
    const pages = await readPages(reader, "issues");
    expect(pages.map(({ items }) => items.length)).toEqual([28, 28, 14]);
    expect(pages.flatMap(({ items }) => items.map(({ number }) => number))).toEqual(numbers);
    expect(await requests()).toHaveLength(70 + 3);
  });

  it("is read again as a whole if its last item is gone", async () => {
    const { reader } = await openSample({ behaviour: { answers: { issues: reacted(numbers) } } });
    const { next = "" } = await reader.readPage("issues", undefined, ALL);
    const { reader: later } = await openSample({
      behaviour: { answers: { issues: reacted(numbers.filter((number) => number !== 41)) } },
    });
    const { items } = await later.readPage("issues", next, ALL);
    expect(items[0]?.number).toBe(14);
  });

  it("counts at most ten requests for one issue", async () => {
    const { reader, requests } = await openSample({
      behaviour: { answers: { issues: reacted([14, 15, 16, 17], 90_000) } },
    });
    const pages = await readPages(reader, "issues");
    expect(pages.map(({ items }) => items.map(({ number }) => number))).toEqual([
      [14, 15],
      [16, 17],
    ]);
    // The stand-in has none: a list ends where it says so.
    expect(await requests()).toHaveLength(2 + 4);
  });
});

it("leaves out reactions to what was deleted since, and reactions that are unknown", async () => {
  const gone = reacted([9999, 14]);
  const { reader } = await openSample({
    behaviour: {
      answers: {
        issues: gone,
        "issues/14/reactions": [
          { id: 1, user: null, content: "tada" },
          { id: 2, user: null, content: "heart" },
        ],
      },
    },
  });
  const items = await readAll(reader, "issues");
  expect(items.map(({ number, reactions }) => [number, reactions])).toEqual([
    [9999, []],
    [14, [{ user: ghost, content: "heart" }]],
  ]);
});
