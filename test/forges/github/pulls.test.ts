import { describe, expect, it } from "vitest";

import type { ForeignPull } from "../../../src/forges/forge.ts";
import { ALL, openSample, readAll, readPages } from "../../support/forges/github-reader.ts";

const ada = { id: 1001, name: "ada" };
const brian = { id: 1002, name: "Brian-K" };
const ghost = { id: 0, name: "ghost" };

const BASE = "b".repeat(40);
const FEATURE = "f".repeat(40);
const FIX = "1".repeat(40);

describe("pulls", () => {
  it("are read by themselves: from a branch, from a fork, and merged", async () => {
    const { reader, url } = await openSample();
    const repository = new URL(url).pathname.slice(1);
    const pulls = await readAll(reader, "pulls");
    const base = { branch: "main", oid: BASE, repository };
    const open: ForeignPull = {
      kind: "pull",
      foreignId: "100005",
      number: 5,
      title: "Add a feature",
      poster: brian,
      body: "",
      ref: "",
      labelIds: ["503"],
      milestoneId: "601",
      assignees: [],
      reactions: [{ user: brian, content: "rocket" }],
      isLocked: false,
      isClosed: false,
      closedAt: null,
      deadlineAt: null,
      createdAt: Date.UTC(2024, 0, 5, 12),
      updatedAt: Date.UTC(2024, 0, 5, 18),
      head: { branch: "feature", oid: FEATURE, repository },
      base,
      headRef: "refs/pull/5/head",
      mergeBaseOid: "",
      allowMaintainerEdit: false,
      mergedAt: null,
      merger: null,
      mergeCommitOid: "",
    };
    expect(pulls.map(({ number }) => number)).toEqual([5, 6, 7, 8, 9, 10]);
    expect(pulls[0]).toEqual(open);
    expect(pulls[1]).toEqual({
      ...open,
      foreignId: "100006",
      number: 6,
      title: "Fix from a fork",
      body: "Closes #2",
      labelIds: [],
      milestoneId: null,
      reactions: [],
      isClosed: true,
      closedAt: Date.UTC(2024, 0, 10, 12),
      createdAt: Date.UTC(2024, 0, 6, 12),
      updatedAt: Date.UTC(2024, 0, 6, 18),
      head: { branch: "main", oid: FIX, repository: "Brian-K/app" },
      headRef: "refs/pull/6/head",
      allowMaintainerEdit: true,
      mergedAt: Date.UTC(2024, 0, 10, 12),
      merger: ada,
      mergeCommitOid: "e".repeat(40),
    });
  });

  it("have a head without a repository if the fork is gone, and no merge commit unless merged", async () => {
    const { reader } = await openSample();
    expect((await readAll(reader, "pulls"))[2]).toMatchObject({
      number: 7,
      poster: ghost,
      isClosed: true,
      head: { branch: "patch-1", oid: FIX, repository: "" },
      mergedAt: null,
      mergeCommitOid: "",
    });
  });

  it("say in the title that they are drafts, once", async () => {
    const { reader } = await openSample();
    const titles = (await readAll(reader, "pulls")).map(({ title }) => title);
    expect(titles[3]).toBe("WIP: Not ready");
    expect(titles[4]).toBe("WIP: not ready either");
  });

  it("are merged by a ghost if who merged is gone", async () => {
    const { reader } = await openSample();
    expect((await readAll(reader, "pulls"))[5]).toMatchObject({
      number: 10,
      merger: ghost,
      mergedAt: Date.UTC(2024, 0, 12, 12),
    });
  });

  it("are read if they have changed since a time, without asking for the others", async () => {
    const { reader, requests } = await openSample();
    const pulls = await readAll(reader, "pulls", { ...ALL, since: Date.UTC(2024, 0, 10) });
    expect(pulls.map(({ number }) => number)).toEqual([10]);
    const singles = (await requests()).filter(({ path }) => path.includes("/pulls/"));
    expect(singles.map(({ path }) => path.replace(/.*\/app/, ""))).toEqual(["/pulls/10"]);
  });

  it("are read in parts if there are many on a page, and left out if they are gone", async () => {
    const issues = Array.from({ length: 40 }, (_, at) => ({
      id: 1000 + at,
      // All but two are not found by themselves.
      number: at === 0 ? 5 : at === 39 ? 6 : 5000 + at,
      title: "x",
      labels: [],
      user: null,
      locked: false,
      state: "open",
      created_at: "2024-01-01T00:00:00Z",
      updated_at: "2024-01-01T00:00:00Z",
      pull_request: {},
    }));
    const { reader, requests } = await openSample({ behaviour: { answers: { issues } } });
    const pages = await readPages(reader, "pulls");
    expect(pages.map(({ items }) => items.map(({ number }) => number))).toEqual([[5], [6]]);
    expect(await requests()).toHaveLength(40 + 2);
  });
});

describe("comments", () => {
  it("are read of issues and pull requests, oldest first", async () => {
    const { reader, requests } = await openSample();
    const common = { kind: "comment", poster: brian, reactions: [] };
    expect(await readAll(reader, "comments")).toEqual([
      {
        ...common,
        foreignId: "2001",
        number: 1,
        body: "Me too 👋",
        reactions: [{ user: ada, content: "heart" }],
        createdAt: Date.UTC(2024, 0, 3, 12),
        updatedAt: Date.UTC(2024, 0, 5, 12),
      },
      {
        ...common,
        foreignId: "2002",
        number: 1,
        poster: ghost,
        body: "Comment 2002",
        createdAt: Date.UTC(2024, 0, 4, 12),
        updatedAt: Date.UTC(2024, 0, 4, 12),
      },
      {
        ...common,
        foreignId: "2003",
        number: 5,
        body: "LGTM, see `a.txt`",
        createdAt: Date.UTC(2024, 0, 5, 12),
        updatedAt: Date.UTC(2024, 0, 5, 12),
      },
    ]);
    expect((await requests())[0]?.path).toMatch(
      /\/issues\/comments\?per_page=100&sort=created&direction=asc$/,
    );
  });

  it.each([
    { includesIssues: true, includesPulls: false, ids: ["2001", "2002"], requestCount: 2 },
    { includesIssues: false, includesPulls: true, ids: ["2003"], requestCount: 1 },
  ])("are read of the included parts alone: $ids", async ({ ids, requestCount, ...filter }) => {
    const { reader, requests } = await openSample();
    const comments = await readAll(reader, "comments", filter);
    expect(comments.map(({ foreignId }) => foreignId)).toEqual(ids);
    expect(await requests()).toHaveLength(requestCount);
  });

  it("are read if they have changed since a time", async () => {
    const { reader } = await openSample();
    const comments = await readAll(reader, "comments", { ...ALL, since: Date.UTC(2024, 0, 5) });
    expect(comments.map(({ foreignId }) => foreignId)).toEqual(["2001", "2003"]);
  });
});
