import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  codeComments,
  events,
  issueLabels,
  issues,
  labels,
  milestones,
  notifications,
  pulls,
  repositories,
  reviews,
  timelineEntries,
} from "../../../../src/db/schema/index.ts";
import type { ForeignPull } from "../../../../src/forges/forge.ts";
import { call } from "../../../support/call.ts";
import { db } from "../../../support/db.ts";
import {
  advance,
  DataReader,
  findImportRow,
  foreignIssue,
  makeForeignData,
  makeForeignGit,
  makeImport,
} from "../../../support/imports.ts";
import { make } from "../../../support/make.ts";
import { systemCtx } from "../../../support/system.ts";

/** Its jobs are run by the test. */
const silent = { REMOTE_JOBS: { sendBatch: () => Promise.resolve() } as never };

/** A project that was taken over as a whole. */
async function makeTakenOver(authors: Record<string, number> = {}) {
  const owner = await make.user();
  const git = await makeForeignGit();
  const data = makeForeignData(git);
  const reader = new DataReader(data);
  const { repo, importId } = await makeImport(owner, git.remote, { authors });
  await advance(importId, git.remote, reader);
  const path = `/repos/${owner.name}/${repo.name}`;
  const get = async (rest: string) => (await call("GET", `${path}${rest}`, { as: owner })).body;
  return { owner, git, data, reader, repo, importId, path, get };
}

describe("advanceImport", () => {
  it("takes over a whole project, field by field", async () => {
    const { git, data, repo, importId, get } = await makeTakenOver();

    const row = await findImportRow(importId);
    expect(row).toMatchObject({ state: "done", lastError: "", dueAt: null, sealedPassword: null });
    expect(await get("")).toMatchObject({
      description: "A garden 🌱",
      website: "https://garden.example/",
      topics: ["plants", "soil"],
      default_branch: "main",
      empty: false,
      open_issues_count: 6,
      open_pr_counter: 2,
      release_counter: 1,
    });
    const all = await get("/issues?state=all&type=issues&limit=50&sort=oldest");
    expect(all).toHaveLength(12);
    for (const item of data.issues) {
      const found = all.find(({ number }: { number: number }) => number === item.number);
      expect(found).toMatchObject({
        title: item.title,
        body: item.body,
        state: item.isClosed ? "closed" : "open",
        is_locked: item.isLocked,
        original_author: item.poster.name,
        original_author_id: item.poster.id,
        user: { id: -1 },
        created_at: new Date(item.createdAt).toISOString().replace(".000", ""),
        comments: item.number === 1 ? 7 : item.number === 12 ? 1 : 0,
      });
    }
    expect(all.find(({ number }: { number: number }) => number === 1)).toMatchObject({
      labels: [{ name: "bug" }, { name: "kind/feature" }],
      milestone: { title: "M1", open_issues: 2, closed_issues: 1 },
      assignees: [],
    });
    const comments = await get("/issues/1/comments");
    expect(comments.map(({ body }: { body: string }) => body)).toEqual(
      [1, 2, 3, 4, 5, 6, 7].map((at) => `Comment ${at}`),
    );
    expect(comments[0]).toMatchObject({ original_author: "brian", original_author_id: 8 });

    expect(await get("/pulls/20")).toMatchObject({
      merged: true,
      state: "closed",
      merge_commit_sha: git.oldOid,
      head: { sha: git.oldOid },
    });
    expect(await get("/pulls/21")).toMatchObject({
      merged: false,
      state: "open",
      head: { ref: "feature", sha: git.featureOid },
      base: { ref: "main", sha: git.mainOid },
      mergeable: true,
      changed_files: 2,
    });
    expect(await get("/pulls/22")).toMatchObject({
      draft: true,
      head: { label: "brian:main", ref: "refs/pull/22/head", sha: git.forkOid },
    });
    const refs = await get("/git/refs");
    expect(refs).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          ref: "refs/heads/feature",
          object: expect.objectContaining({ sha: git.featureOid }),
        }),
      ]),
    );
    const given = await get("/pulls/21/reviews");
    expect(given).toMatchObject([
      { state: "APPROVED", body: "Fine", official: false, stale: false },
      { state: "COMMENT", comments_count: 3 },
    ]);
    const onCode = await get(`/pulls/21/reviews/${given[1].id}/comments`);
    expect(onCode).toMatchObject([
      { body: "On code 0", in_reply_to: null, position: 1, path: "dir0/file-0.txt" },
      { body: "On code 1", in_reply_to: onCode[0].id },
      { body: "On code 2", in_reply_to: onCode[0].id },
    ]);
    expect(await get("/releases?draft=true")).toMatchObject([{ tag_name: "v2", prerelease: true }]);
    expect(await get("/releases/tags/v1")).toMatchObject({
      name: "One",
      body: "The first",
      assets: [
        { name: "a.txt", download_count: 3 },
        { name: "b.txt", download_count: 4 },
      ],
    });
    expect(await get("/labels?limit=50")).toHaveLength(7);
    const [{ lastIssueNumber }] = (await db
      .select({ lastIssueNumber: repositories.lastIssueNumber })
      .from(repositories)
      .where(eq(repositories.id, repo.id))) as [{ lastIssueNumber: number }];
    expect(lastIssueNumber).toBe(22);
  });

  // The platform ends an invocation after 1,000 statements, whatever is under way.
  it("leaves the rest to another message once it has used its statements", async () => {
    const owner = await make.user();
    const git = await makeForeignGit();
    const reader = new DataReader({
      ...makeForeignData(git),
      issues: Array.from({ length: 60 }, (_, at) => foreignIssue(at + 100)),
      pulls: [],
      pageSize: 1,
    });
    const { importId } = await makeImport(owner, git.remote);
    const used: number[] = [];
    do {
      const ctx = systemCtx(silent, Date.now());
      await advance(importId, git.remote, reader, ctx);
      used.push(ctx.db.statementCount);
    } while ((await findImportRow(importId)).state === "running");

    expect(await findImportRow(importId)).toMatchObject({ state: "done", lastError: "" });
    expect(used.length).toBeGreaterThan(1);
    expect(Math.max(...used)).toBeLessThan(700);
  });

  // Only open ones are checked; the changes of others are counted once, when they are read.
  it("counts the changes of pull requests that came closed or merged", async () => {
    const owner = await make.user();
    const git = await makeForeignGit();
    const data = makeForeignData(git);
    const [merged, open] = data.pulls as [ForeignPull, ForeignPull];
    data.pulls = [merged, { ...open, isClosed: true, closedAt: open.updatedAt }];
    const { repo, importId } = await makeImport(owner, git.remote);
    await advance(importId, git.remote, new DataReader(data));

    const read = async (number: number) =>
      (await call("GET", `/repos/${owner.name}/${repo.name}/pulls/${number}`, { as: owner })).body;
    const numbers = await git.remote.git(["diff", "--shortstat", "main...feature"]);
    const [files, additions, deletions] = (numbers.match(/\d+/g) ?? []).map(Number);
    expect(files).toBe(2);
    const counts = { changed_files: files, additions, deletions };
    const isCounted = async () =>
      (await db.select().from(pulls).where(eq(pulls.repoId, repo.id)).orderBy(pulls.issueId)).map(
        ({ checkedHeadOid, headOid, changedFiles }) => checkedHeadOid === headOid && changedFiles,
      );
    expect(await isCounted()).toEqual([false, false]);
    expect(await read(21)).toMatchObject({ state: "closed", merged: false, ...counts });
    expect(await isCounted()).toEqual([false, 2]);
    expect(await read(21)).toMatchObject(counts);
    expect(await read(20)).toMatchObject({ merged: true, changed_files: 1 });
    expect(await isCounted()).toEqual([1, 2]);

    // A reopened one is checked like any other.
    const path = `/repos/${owner.name}/${repo.name}/pulls/21`;
    await call("PATCH", path, { as: owner, json: { state: "open" } });
    expect(await read(21)).toMatchObject({ state: "open", mergeable: true, ...counts });
  });

  it("leaves out reviews of what is no pull request here", async () => {
    const owner = await make.user();
    const git = await makeForeignGit();
    const data = { ...makeForeignData(git), issues: [foreignIssue(21)], pulls: [] };
    const { repo, importId } = await makeImport(owner, git.remote);
    await advance(importId, git.remote, new DataReader(data));

    expect(await findImportRow(importId)).toMatchObject({ state: "done", lastError: "" });
    expect(await db.select().from(reviews).where(eq(reviews.repoId, repo.id))).toEqual([]);
  });

  it("records its end, and nothing for each item", async () => {
    const { repo } = await makeTakenOver();

    const kinds = await db
      .select({ type: events.type })
      .from(events)
      .where(eq(events.repoId, repo.id));
    expect(kinds.map(({ type }) => type)).toEqual([
      "repository.topics_changed",
      "migration.finished",
    ]);
    expect(await db.select().from(notifications).where(eq(notifications.repoId, repo.id))).toEqual(
      [],
    );
  });

  // SECURITY: a name elsewhere is nobody's account here.
  it("gives nobody here the words of others, unless they were mapped", async () => {
    const namesake = await make.user();
    const { get } = await makeTakenOver({ ada: namesake.id });

    expect(await get("/issues/1")).toMatchObject({
      user: { login: namesake.name },
      original_author: "",
      original_author_id: 0,
    });
    expect(await get("/issues/1/reactions")).toMatchObject([
      { user: { login: namesake.name }, content: "heart" },
    ]);
    expect((await get("/issues/1/comments"))[0]).toMatchObject({
      user: { id: -1 },
      original_author: "brian",
    });
  });

  it("takes nothing twice when it is repeated, and what is new", async () => {
    const { owner, git, data, reader, repo, importId, path, get } = await makeTakenOver();
    const before = await countRows(repo.id);
    data.issues.push(foreignIssue(30));
    const answer = await call("POST", `${path}/migration/continue`, { as: owner, json: {} });
    expect(answer.status).toBe(202);
    await advance(importId, git.remote, reader);

    expect(await findImportRow(importId)).toMatchObject({ state: "done" });
    expect(await countRows(repo.id)).toEqual({ ...before, issues: before.issues + 1 });
    expect(await get("/issues/30")).toMatchObject({ title: "Issue 30" });
  });

  // SECURITY: an issue that was opened here keeps its number, and comments from elsewhere stay out
  // of it.
  it("leaves alone what was made here", async () => {
    const { owner, git, data, reader, importId, path, get } = await makeTakenOver();
    const made = await call("POST", `${path}/issues`, { as: owner, json: { title: "Mine" } });
    expect(made.body.number).toBe(23);
    data.issues.push(foreignIssue(23));
    data.comments.push({
      ...(data.comments[0] as never as object),
      foreignId: "99",
      number: 23,
    } as never);
    await call("POST", `${path}/migration/continue`, { as: owner, json: {} });
    await advance(importId, git.remote, reader);

    expect(await get("/issues/23")).toMatchObject({ title: "Mine", comments: 0 });
    expect((await findImportRow(importId)).notes).toEqual([
      "issue 23 was left out: the repository has another one with this number",
    ]);
  });
});

async function countRows(repoId: number) {
  const of = async (
    table: typeof issues | typeof labels | typeof milestones | typeof timelineEntries,
  ) => (await db.select({ id: table.id }).from(table).where(eq(table.repoId, repoId))).length;
  return {
    issues: await of(issues),
    labels: await of(labels),
    milestones: await of(milestones),
    entries: await of(timelineEntries),
    labelled: (await db.select().from(issueLabels).where(eq(issueLabels.repoId, repoId))).length,
    onCode: (
      await db
        .select({ id: codeComments.entryId })
        .from(codeComments)
        .innerJoin(issues, eq(issues.id, codeComments.issueId))
        .where(eq(issues.repoId, repoId))
    ).length,
  };
}
