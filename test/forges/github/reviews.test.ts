import { describe, expect, it } from "vitest";

import { ALL, openSample, readAll, readPages } from "../../support/forges/github-reader.ts";

const ada = { id: 1001, name: "ada" };
const brian = { id: 1002, name: "Brian-K" };
const ghost = { id: 0, name: "ghost" };
const bot = { id: 49_699_333, name: "dependabot[bot]" };

const FEATURE = "f".repeat(40);
const BASE = "b".repeat(40);
const HUNK = "@@ -1,2 +1,2 @@\n one\n-two\n+2";

const review = {
  number: 5,
  reviewer: brian,
  state: "comment",
  isDismissed: false,
  isOfficial: false,
  body: "",
  commitOid: FEATURE,
  comments: [],
};
const comment = {
  answersId: "",
  poster: brian,
  path: "src/a.txt",
  line: 2,
  isOnOldSide: false,
  commitOid: FEATURE,
  hunk: HUNK,
  isResolved: false,
  reactions: [],
  createdAt: Date.UTC(2024, 0, 6, 12),
  updatedAt: Date.UTC(2024, 0, 6, 12),
};

describe("reviews", () => {
  it("are read with their comments and the requests that are open, oldest first", async () => {
    const { reader } = await openSample();
    expect(await readAll(reader, "reviews")).toEqual([
      // As if it were asked for when the pull request was made: no event has the time.
      {
        ...review,
        foreignId: `request-5-${bot.id}`,
        reviewer: bot,
        state: "request_review",
        commitOid: "",
        createdAt: Date.UTC(2024, 0, 5, 12),
      },
      {
        ...review,
        foreignId: "comment-4000",
        reviewer: ada,
        commitOid: BASE,
        createdAt: Date.UTC(2024, 0, 5, 13),
        comments: [
          {
            ...comment,
            foreignId: "4000",
            poster: ada,
            body: "From before reviews",
            createdAt: Date.UTC(2024, 0, 5, 13),
          },
        ],
      },
      {
        ...review,
        foreignId: "request-5-1001",
        reviewer: ada,
        state: "request_review",
        commitOid: "",
        createdAt: Date.UTC(2024, 0, 6, 1),
      },
      {
        ...review,
        foreignId: "3006",
        body: "Two things",
        createdAt: Date.UTC(2024, 0, 6, 12),
        comments: [
          { ...comment, foreignId: "4001", body: "On code 4001" },
          {
            ...comment,
            foreignId: "4002",
            body: "On code 4002",
            line: 1,
            isOnOldSide: true,
            reactions: [{ user: brian, content: "eyes" }],
          },
          { ...comment, foreignId: "4003", body: "Outdated", line: 0, commitOid: BASE },
          { ...comment, foreignId: "4004", body: "The whole file", line: 0 },
        ],
      },
      {
        ...review,
        foreignId: "3007",
        reviewer: ada,
        isOfficial: true,
        createdAt: Date.UTC(2024, 0, 7, 12),
        comments: [
          {
            ...comment,
            foreignId: "4005",
            answersId: "4001",
            poster: ada,
            body: "On code 4005",
            createdAt: Date.UTC(2024, 0, 7, 12),
          },
        ],
      },
      {
        ...review,
        foreignId: "3008",
        body: "No",
        state: "approved",
        isDismissed: true,
        isOfficial: true,
        createdAt: Date.UTC(2024, 0, 8, 12),
      },
      {
        ...review,
        foreignId: "3009",
        reviewer: ghost,
        state: "approved",
        commitOid: "",
        createdAt: Date.UTC(2024, 0, 9, 12),
      },
      {
        ...review,
        foreignId: "3010",
        reviewer: ghost,
        body: "Please",
        state: "request_changes",
        createdAt: Date.UTC(2024, 0, 10, 12),
      },
    ]);
  });

  it("leave out the teams that are asked for reviews, with a note", async () => {
    const { reader } = await openSample();
    const pages = await readPages(reader, "reviews");
    expect(pages.flatMap(({ leftOut = [] }) => leftOut)).toEqual([
      "Review of #5 by the team core was asked for: teams are not taken over.",
    ]);
  });

  it("take few requests for pull requests without any", async () => {
    const { reader, requests } = await openSample();
    await readAll(reader, "reviews");
    const paths = (await requests()).map(({ path }) => path.replace(/^.*\/app|\?.*/g, ""));
    expect(paths.filter((path) => /\b6\b/.test(path))).toEqual([
      "/pulls/6/reviews",
      "/pulls/6/comments",
    ]);
    expect(paths.filter((path) => /\b8\b/.test(path))).toEqual([
      "/pulls/8/reviews",
      "/pulls/8/comments",
      "/pulls/8/requested_reviewers",
    ]);
  });

  it("are not asked for if the import includes no pull requests", async () => {
    const { reader, requests } = await openSample();
    expect(
      await readAll(reader, "reviews", { includesIssues: true, includesPulls: false }),
    ).toEqual([]);
    expect(await requests()).toEqual([]);
  });

  it("are read of pull requests that have changed since a time", async () => {
    const { reader } = await openSample();
    const since = Date.UTC(2024, 0, 6);
    expect(await readAll(reader, "reviews", { ...ALL, since })).toEqual([]);
  });

  it("that were dismissed are requests for changes if no event has their result", async () => {
    const { reader } = await openSample({ behaviour: { answers: { "issues/5/events": [] } } });
    const found = (await readAll(reader, "reviews")).find(({ foreignId }) => foreignId === "3008");
    expect(found).toMatchObject({ state: "request_changes", isDismissed: true });
  });
});

const submitted = (id: number) => ({
  id,
  user: null,
  state: "COMMENTED",
  submitted_at: "2024-01-02T00:00:00Z",
});
const onCode = (id: number, reviewId: number, reactionCount: number) => ({
  id,
  pull_request_review_id: reviewId,
  user: null,
  body: "x",
  path: "a",
  line: 1,
  created_at: "2024-01-02T00:00:00Z",
  updated_at: "2024-01-02T00:00:00Z",
  reactions: { total_count: reactionCount },
});
const ids = Array.from({ length: 60 }, (_, at) => 7000 + at);

describe("reviews that take more requests than a step may make", () => {
  it("are read in parts of one pull request, without repeats", async () => {
    const { reader, requests } = await openSample({
      behaviour: {
        answers: {
          "pulls/6/reviews": ids.map(submitted),
          "pulls/6/comments": ids.map((id) => onCode(id, id, 1)),
        },
      },
    });
    const pages = await readPages(reader, "reviews");
    const read = pages.flatMap(({ items }) => items).filter(({ number }) => number === 6);
    expect(read.map(({ foreignId }) => foreignId)).toEqual(ids.map(String));
    expect(pages.length).toBeGreaterThan(2);
    // Some 30 for each page, and a list.
    expect((await requests()).length).toBeLessThan(pages.length * 31);
  });

  it("are read up to a thousand of one pull request, with a note", async () => {
    const many = Array.from({ length: 1001 }, (_, at) => submitted(8000 + at));
    const { reader } = await openSample({ behaviour: { answers: { "pulls/6/reviews": many } } });
    const pages = await readPages(reader, "reviews");
    const read = pages.flatMap(({ items }) => items).filter(({ number }) => number === 6);
    expect(read.map(({ foreignId }) => foreignId)).toEqual(
      many.slice(0, 1000).map(({ id }) => String(id)),
    );
    expect(pages.flatMap(({ leftOut = [] }) => leftOut)).toContainEqual(
      expect.stringMatching(
        /^#6 has more than the 1000 items of .*\/pulls\/6\/reviews that are read\.$/,
      ),
    );
  });

  it("read the reactions of the first comments of a review alone if very many have some", async () => {
    const { reader, requests } = await openSample({
      behaviour: {
        answers: {
          "pulls/6/reviews": [submitted(7000)],
          "pulls/6/comments": ids.map((id) => onCode(id, 7000, 1)),
          "pulls/comments/7000/reactions": [{ id: 1, user: null, content: "+1" }],
        },
      },
    });
    const read = (await readAll(reader, "reviews")).find(({ number }) => number === 6);
    expect(read?.comments).toHaveLength(60);
    expect(read?.comments[0]?.reactions).toEqual([{ user: ghost, content: "+1" }]);
    const asked = (await requests()).filter(({ path }) => /comments\/70\d\d\/reactions/.test(path));
    expect(asked).toHaveLength(10);
  });
});
