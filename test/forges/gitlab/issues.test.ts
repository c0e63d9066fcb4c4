import { describe, expect, it } from "vitest";

import {
  ALL,
  openSample,
  origin,
  readAll,
  readPages,
  requestsOf,
} from "../../support/forges/gitlab-reader.ts";
import { SAMPLE_PATH, UPLOAD } from "../../support/forges/gitlab-sample.ts";

const issueOf = async (number: number) =>
  (await readAll("issues")).find((issue) => issue.number === number);

describe("issues", () => {
  it("are read with all fields of GitLab", async () => {
    expect(await issueOf(1)).toEqual({
      kind: "issue",
      foreignId: "issue/5001",
      number: 1,
      poster: { id: 101, name: "ada" },
      title: "Ünïcode 🌱",
      body: [
        "Grüße 👋 from @bo.li, see #2, #49 and #49, not other/group!4.",
        "",
        `![plan](${origin}/${SAMPLE_PATH}${UPLOAD}) and \`!4 ${UPLOAD}\``,
        "",
        "~~~",
        "!4",
        "~~~",
        "",
      ].join("\n"),
      ref: "",
      labelIds: ["1", "2"],
      milestoneId: "33",
      assignees: [
        { id: 102, name: "bo.li" },
        { id: 103, name: "çelik" },
      ],
      reactions: [
        { user: { id: 102, name: "bo.li" }, content: "+1" },
        { user: { id: 103, name: "çelik" }, content: "hooray" },
        { user: { id: 0, name: "ghost" }, content: "eyes" },
      ],
      isLocked: false,
      isClosed: false,
      closedAt: null,
      deadlineAt: Date.UTC(2024, 4, 1, 23, 59, 59),
      createdAt: Date.UTC(2024, 0, 2, 10, 0, 0, 101),
      updatedAt: Date.UTC(2024, 0, 2, 10, 0, 0, 101),
    });
  });

  it("may be closed, locked, and written by a deleted account", async () => {
    expect(await issueOf(2)).toMatchObject({
      poster: { id: 0, name: "ghost" },
      body: "",
      isClosed: true,
      closedAt: Date.UTC(2024, 1, 3, 4, 5, 6, 789),
      isLocked: true,
    });
    expect(await issueOf(3)).toMatchObject({ poster: { id: 0, name: "ghost" } });
  });

  it("have all their reactions, of several pages too", async () => {
    expect((await issueOf(2))?.reactions).toHaveLength(130);
  });

  it("come once each, oldest first, more than a page of them within a millisecond too", async () => {
    const issues = await readAll("issues");
    const numbers = issues.map(({ number }) => number).toSorted((a, b) => a - b);
    const expected = Array.from({ length: 45 }, (_, index) => index + 1);
    expect(numbers).toEqual(expected.filter((number) => number !== 4 && number !== 5));
    const times = issues.map(({ createdAt }) => createdAt);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  // SECURITY: nothing here hides an issue from the readers of its repository.
  it("are left out if they are confidential, which is noted", async () => {
    const pages = await readPages("issues");
    expect(pages.flatMap(({ leftOut = [] }) => leftOut)).toEqual(["The issue #5 is confidential."]);
    const comments = await readAll("comments");
    expect(comments.filter(({ number }) => number === 5)).toEqual([]);
  });

  it("have their total at the start", async () => {
    const pages = await readPages("issues");
    expect(pages.length).toBeGreaterThan(2);
    expect(pages.map(({ total }) => total)).toEqual([44, ...pages.slice(1).map(() => undefined)]);
  });

  it("are limited to those that changed since a time", async () => {
    const since = Date.UTC(2024, 1, 10);
    const all = await readAll("issues");
    const changed = await readAll("issues", { ...ALL, since });
    const numbers = (list: typeof all) => list.map(({ number }) => number);
    expect(numbers(changed)).toEqual(numbers(all.filter(({ updatedAt }) => updatedAt >= since)));
    expect(changed.length).toBeGreaterThan(0);
    expect(changed.length).toBeLessThan(all.length);
  });

  it("take some 20 requests a page", async () => {
    const { reader, token } = openSample({ numbering: "45.11" });
    const { items } = await reader.readPage("issues", undefined, ALL);
    expect(items).toHaveLength(19);
    // The list, reactions of 19 issues, and a second page of one's.
    expect(await requestsOf(token)).toHaveLength(21);
  });

  it("are read without a token from what everybody sees", async () => {
    const options = { path: "garden/open", password: "" };
    const issues = await readAll("issues", ALL, options);
    expect(issues).toHaveLength(43);
    expect(
      await readAll("comments", { includesIssues: true, includesPulls: false }, options),
    ).toHaveLength(48);
  });

  it("refuse a cursor that is none", async () => {
    const read = openSample().reader.readPage("issues", "x", ALL);
    await expect(read).rejects.toThrow(SyntaxError);
  });
});
