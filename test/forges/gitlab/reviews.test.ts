import { describe, expect, it } from "vitest";

import {
  ALL,
  openSample,
  readAll,
  readPages,
  requestsOf,
} from "../../support/forges/gitlab-reader.ts";

const reviewsOf = async (number: number) =>
  (await readAll("reviews")).filter((review) => review.number === number);

const commentOf = async (id: string) =>
  (await reviewsOf(46)).find(({ foreignId }) => foreignId === `note/${id}`)?.comments[0];

describe("reviews", () => {
  it("have the approvers, and the time if GitLab states it", async () => {
    const [first] = await reviewsOf(46);
    expect(first).toEqual({
      foreignId: "approved/5001/101",
      number: 46,
      reviewer: { id: 101, name: "ada" },
      state: "approved",
      isDismissed: false,
      isOfficial: true,
      body: "",
      commitOid: "",
      createdAt: Date.UTC(2024, 1, 9),
      comments: [],
    });
    const [approval] = await reviewsOf(49);
    // The last change of the merge request.
    expect(approval).toMatchObject({ state: "approved", createdAt: Date.UTC(2024, 1, 4, 9) });
  });

  it("have requests for changes and unanswered review requests", async () => {
    const approvals = (await reviewsOf(49)).filter(({ comments }) => comments.length === 0);
    expect(approvals.map(({ reviewer, state }) => [reviewer.name, state])).toEqual([
      ["bo.li", "approved"],
      ["ada", "request_changes"],
      ["çelik", "request_review"],
    ]);
  });

  // GitLab shows approvals to accounts only, and all else of a public project to everybody.
  it("leave out approvals without a token", async () => {
    const statesOf = async (password?: string) => {
      const options = { path: "garden/visible", ...(password !== undefined && { password }) };
      const reviews = await readAll("reviews", ALL, options);
      return [...new Set(reviews.map(({ state }) => state))].toSorted();
    };
    expect(await statesOf()).toEqual(["approved", "comment", "request_changes", "request_review"]);
    expect(await statesOf("")).toEqual(["comment", "request_changes", "request_review"]);
  });
});

describe("comments on code", () => {
  it("are reviews of their own, with all fields of GitLab", async () => {
    const found = (await reviewsOf(46)).find(({ foreignId }) => foreignId === "note/2001");
    expect(found).toEqual({
      foreignId: "note/2001",
      number: 46,
      reviewer: { id: 102, name: "bo.li" },
      state: "comment",
      isDismissed: false,
      isOfficial: false,
      body: "",
      commitOid: "a".repeat(40),
      createdAt: Date.UTC(2024, 2, 1, 8, 1),
      comments: [
        {
          foreignId: "2001",
          answersId: "",
          poster: { id: 102, name: "bo.li" },
          body: "Like #47?",
          path: "src/b.ts",
          line: 7,
          isOnOldSide: false,
          commitOid: "a".repeat(40),
          hunk: "",
          isResolved: true,
          reactions: [
            { user: { id: 101, name: "ada" }, content: "heart" },
            { user: { id: 102, name: "bo.li" }, content: "-1" },
          ],
          createdAt: Date.UTC(2024, 2, 1, 8, 1),
          updatedAt: Date.UTC(2024, 2, 1, 8, 1),
        },
      ],
    });
  });

  it.each([
    ["answer the first one of a conversation", "2002", { answersId: "2001", line: 7 }],
    ["are on a removed line", "2004", { path: "src/a.ts", line: 3, isOnOldSide: true }],
    ["are on an unchanged line", "2005", { path: "src/b.ts", line: 11, isOnOldSide: false }],
    ["are outdated", "2006", { path: "src/b.ts", line: 0, commitOid: "9".repeat(40) }],
    ["are on a whole file", "2007", { path: "src/b.ts", line: 0, commitOid: "a".repeat(40) }],
  ])("%s", async (_, id, comment) => {
    expect(await commentOf(id)).toMatchObject(comment);
  });

  it("come in order, without internal ones and the service's own", async () => {
    const ids = (await reviewsOf(46)).flatMap(({ comments }) =>
      comments.map((each) => each.foreignId),
    );
    expect(ids).toEqual(["2001", "2002", "2004", "2005", "2006", "2007"]);
  });

  it("come once each, over pages of conversations and of reviews", async () => {
    const pages = await readPages("reviews");
    expect(pages.length).toBeGreaterThan(2);
    const ids = pages.flatMap(({ items }) =>
      items.filter(({ number }) => number === 49).map(({ foreignId }) => foreignId),
    );
    expect(ids.slice(3)).toEqual(Array.from({ length: 46 }, (_, index) => `note/${3000 + index}`));
  });

  it("take some 20 requests a page", async () => {
    const { reader, token } = openSample({ numbering: "45.11" });
    const { next } = await reader.readPage("reviews", undefined, ALL);
    expect(next).toBeDefined();
    const count = (await requestsOf(token)).length;
    expect(count).toBeGreaterThan(15);
    expect(count).toBeLessThanOrEqual(30);
  });

  it("are limited to those that changed since a time", async () => {
    const since = Date.UTC(2024, 1, 4);
    const found = await readAll("reviews", { ...ALL, since });
    expect(found.length).toBe(49);
    expect(found.every(({ number }) => number === 49)).toBe(true);
  });
});
