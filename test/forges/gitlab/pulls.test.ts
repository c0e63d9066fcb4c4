import { describe, expect, it } from "vitest";

import { ALL, openSample, readAll, requestsOf } from "../../support/forges/gitlab-reader.ts";
import { SAMPLE_PATH } from "../../support/forges/gitlab-sample.ts";

const FIRST = 46;

const pullOf = async (iid: number) =>
  (await readAll("pulls")).find(({ number }) => number === FIRST + iid - 1);

describe("merge requests", () => {
  it("are read with all fields of GitLab", async () => {
    expect(await pullOf(1)).toEqual({
      kind: "pull",
      foreignId: "merge_request/5001",
      number: 46,
      poster: { id: 102, name: "bo.li" },
      title: "Merge request 1",
      body: "Closes #1, follows #56",
      ref: "",
      labelIds: ["3"],
      milestoneId: null,
      assignees: [],
      reactions: [
        { user: { id: 101, name: "ada" }, content: "rocket" },
        { user: { id: 102, name: "bo.li" }, content: "confused" },
      ],
      isLocked: false,
      isClosed: true,
      closedAt: Date.UTC(2024, 1, 10),
      deadlineAt: null,
      createdAt: Date.UTC(2024, 1, 1, 9),
      updatedAt: Date.UTC(2024, 1, 1, 9),
      head: { branch: "branch-1", oid: "a".repeat(40), repository: SAMPLE_PATH },
      base: { branch: "main", oid: "e".repeat(40), repository: SAMPLE_PATH },
      headRef: "refs/merge-requests/1/head",
      mergeBaseOid: "b".repeat(40),
      allowMaintainerEdit: false,
      mergedAt: Date.UTC(2024, 1, 10),
      merger: { id: 101, name: "ada" },
      mergeCommitOid: "1".repeat(40),
    });
  });

  it.each([
    ["a squashed one", 2, "3"],
    ["a fast-forwarded one", 3, "a"],
  ])("have the commit that %s became", async (_, iid, digit) => {
    expect(await pullOf(iid)).toMatchObject({ mergeCommitOid: digit.repeat(40), isClosed: true });
  });

  it("have their merger by the older name too", async () => {
    expect(await pullOf(3)).toMatchObject({ merger: { id: 103, name: "çelik" } });
  });

  it.each([
    ["a fork", 4, { branch: "branch-4", oid: "a".repeat(40), repository: "çelik/spade" }],
    ["a fork that is gone", 5, { branch: "branch-5", oid: "a".repeat(40), repository: "" }],
    ["a hidden fork", 9, { branch: "branch-9", oid: "a".repeat(40), repository: "" }],
  ])("come from %s", async (_, iid, head) => {
    expect(await pullOf(iid)).toMatchObject({ head, mergedAt: null, merger: null });
  });

  it("may be edited by maintainers", async () => {
    expect(await pullOf(4)).toMatchObject({ allowMaintainerEdit: true, mergeCommitOid: "" });
  });

  it.each([
    [6, "WIP: Rake"],
    [8, "WIP: Hoe"],
    [11, "Merge request 11"],
  ])("!%d has the title %j", async (iid, title) => {
    expect(await pullOf(iid)).toMatchObject({ title });
  });

  it("are closed, locked or being merged", async () => {
    expect(await pullOf(7)).toMatchObject({
      poster: { id: 0, name: "ghost" },
      isClosed: true,
      closedAt: Date.UTC(2024, 1, 13),
      mergedAt: null,
      isLocked: true,
    });
    expect(await pullOf(10)).toMatchObject({ isClosed: false, closedAt: null, mergedAt: null });
  });

  it("have no commits if GitLab has none", async () => {
    expect(await pullOf(9)).toMatchObject({ mergeBaseOid: "", base: { oid: "" } });
  });

  it("come once each, oldest first", async () => {
    const pulls = await readAll("pulls");
    expect(pulls.map(({ number }) => number)).toEqual(
      Array.from({ length: 11 }, (_, index) => FIRST + index),
    );
  });

  it("take some 20 requests a page", async () => {
    const { reader, token } = openSample({ numbering: "45.11" });
    const { items } = await reader.readPage("pulls", undefined, ALL);
    expect(items).toHaveLength(10);
    // The list, refs and reactions of ten, and two forks.
    expect(await requestsOf(token)).toHaveLength(23);
  });

  it("are limited to those that changed since a time", async () => {
    const since = Date.UTC(2024, 1, 9);
    const pulls = await readAll("pulls", { ...ALL, since });
    expect(pulls.map(({ number }) => number)).toEqual([54, 55, 56]);
  });
});
