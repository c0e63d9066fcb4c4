import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { pulls, repositories, timelineEntries } from "../../../src/db/schema/index.ts";
import type { PullSettings } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { History } from "../../support/commits.ts";
import { db } from "../../support/db.ts";
import { eventsOf } from "../../support/events.ts";
import { serveFailing } from "../../support/faults.ts";
import { git } from "../../support/git.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { listHistory, makeReadyPull, type ReadyPull } from "../../support/merges.ts";
import { makePull } from "../../support/pulls.ts";
import { storePush } from "../../support/push.ts";

const merge = (ready: ReadyPull, json: object, as: TestUser = ready.owner) =>
  call("POST", `${ready.path}/merge`, { as, json });

const rowOf = async ({ pull }: ReadyPull) =>
  (await db.select().from(pulls).where(eq(pulls.issueId, pull.id)))[0];

const setPullSettings = async (repo: TestRepo, settings: Partial<PullSettings>): Promise<void> => {
  const pullSettings = { ...repo.pullSettings, ...settings };
  await db.update(repositories).set({ pullSettings }).where(eq(repositories.id, repo.id));
};

const refOf = async (ready: ReadyPull, name: string): Promise<string | undefined> =>
  (await git.repository(ready.repo).snapshot()).refs.find((ref) => ref.name === name)?.oid;

/** The events behind the one of the push that made the branches. */
const newEventsOf = async ({ repo }: ReadyPull) => (await eventsOf(repo)).slice(1);

/** Expects that a refused merge wrote nothing. */
async function expectUnmerged(ready: ReadyPull): Promise<void> {
  expect(await refOf(ready, "refs/heads/main")).toBe(ready.baseOid);
  expect(await rowOf(ready)).toMatchObject({ mergedAt: null, isClosed: false });
  expect(await newEventsOf(ready)).toEqual([]);
}

const kindsOf = async ({ pull }: ReadyPull): Promise<string[]> =>
  (await db.select().from(timelineEntries).where(eq(timelineEntries.issueId, pull.id))).map(
    ({ kind }) => kind,
  );

/** Has the lease on the base, as a merge of another pull request that is being made. */
async function leaseBase({ repo }: ReadyPull) {
  const stored = git.repository(repo);
  const leased = await stored.acquireLease("refs/heads/main", 0, "none");
  if (leased.kind !== "acquired") throw new Error("another merge has the lease");
  return { release: () => stored.releaseLease(leased.lease) };
}

/** A pull request whose head has no commit in common with the base. */
async function makeUnrelatedPull(): Promise<ReadyPull> {
  const ready = await makeReadyPull();
  const { owner, repo } = ready;
  const history = new History();
  const headOid = history.commit({ files: { other: "x\n" }, message: "Foreign\n" });
  await storePush(repo, "refs/heads/foreign", headOid, history.build());
  const own = `/repos/${repo.owner}/${repo.name}/pulls`;
  const json = { title: "Foreign", head: "foreign", base: "main" };
  const { body } = await call("POST", own, { as: owner, json });
  const pull = { ...ready.pull, id: body.id, number: body.number };
  return { ...ready, pull, headOid, path: `${own}/${body.number}` };
}

describe("POST /repos/{owner}/{repo}/pulls/{index}/merge", () => {
  it("merges, closes, and announces it once", async () => {
    const ready = await makeReadyPull();
    const { owner, pull, baseOid, headOid, path } = ready;
    const title = `Merge pull request 'A topic' (#${pull.number}) from topic into main`;
    expect(await merge(ready, { Do: "merge", head_commit_id: headOid })).toMatchObject({
      status: 200,
      body: "",
    });
    const [tip] = await listHistory(ready);
    expect(tip).toMatchObject({
      message: `${title}\n`,
      parents: [baseOid, headOid],
      author: owner.name,
      committer: owner.name,
    });
    expect((await call("GET", path)).body).toMatchObject({
      state: "closed",
      merged: true,
      mergeable: true,
      merge_commit_sha: tip?.oid,
      merge_base: baseOid,
      merged_by: { login: owner.name },
      base: { sha: tip?.oid },
      head: { ref: "topic", sha: headOid },
    });
    expect(await rowOf(ready)).toMatchObject({ mergedBaseOid: baseOid, mergeKind: "merge" });
    expect((await call("GET", `${path}/merge`)).status).toBe(204);
    expect(await kindsOf(ready)).toEqual(["merge_pull"]);
    expect(await newEventsOf(ready)).toMatchObject([
      { type: "repository.pushed" },
      { type: "pull.merged", payload: { mergeCommitOid: tip?.oid, isAutomatic: false } },
    ]);
    expect(await merge(ready, { Do: "merge" })).toMatchObject({
      status: 405,
      body: { message: "The PR is already merged" },
    });
  });

  const OTHER_AUTHOR = "Poster <poster@nobody.example>";

  it("replays commits on top of a base that moved, and keeps their authors", async () => {
    const root = { a: "1\n2\n3\n" };
    const head = [
      { ...root, b: "b\n" },
      { ...root, b: "c\n" },
    ];
    const base = [{ ...root, d: "d\n" }];
    const ready = await makeReadyPull({ root, head, base, author: OTHER_AUTHOR });
    expect((await merge(ready, { Do: "rebase" })).status).toBe(200);
    const [second, first] = await listHistory(ready);
    expect(second).toMatchObject({ message: "Head 2\n", parents: [first?.oid] });
    expect(first).toMatchObject({
      message: "Head 1\n",
      parents: [ready.baseOid],
      author: "Poster",
      committer: ready.owner.name,
    });
    expect(await rowOf(ready)).toMatchObject({
      mergeCommitOid: second?.oid,
      headOid: ready.headOid,
    });
  });

  it("leaves commits of a rebase as they are where the base did not move", async () => {
    const ready = await makeReadyPull();
    expect((await merge(ready, { Do: "rebase" })).status).toBe(200);
    expect(await refOf(ready, "refs/heads/main")).toBe(ready.headOid);
  });

  it("merges the replayed commits", async () => {
    const ready = await makeReadyPull({ base: [{ a: "1\n", d: "d\n" }], root: { a: "1\n" } });
    expect((await merge(ready, { Do: "rebase-merge", MergeTitleField: "Title" })).status).toBe(200);
    const [tip, replayed] = await listHistory(ready);
    expect(tip).toMatchObject({ message: "Title\n", parents: [ready.baseOid, replayed?.oid] });
    expect(replayed).toMatchObject({ message: "Head 1\n", parents: [ready.baseOid] });
  });

  it("squashes, by the poster, and names them as an author where another merges", async () => {
    const ready = await makeReadyPull();
    const { owner, repo, pull } = ready;
    const other = await make.user();
    await call("PUT", `/repos/${repo.owner}/${repo.name}/collaborators/${other.name}`, {
      as: owner,
      json: { permission: "write" },
    });
    const json = {
      Do: "squash",
      mergetitlefield: " Sq title ",
      MERGEMESSAGEFIELD: "Sq\r\nmessage\n",
    };
    expect((await merge(ready, json, other)).status).toBe(200);
    const [tip] = await listHistory(ready);
    const who = `${owner.name} <${owner.email}>`;
    expect(tip).toMatchObject({
      message: `Sq title\n\nSq\nmessage\n\nCo-authored-by: ${who}\nCo-committed-by: ${who}\n`,
      parents: [ready.baseOid],
      author: owner.name,
      committer: other.name,
    });
    expect(pull.number).toBe(1);
  });

  it("squashes under the title of the pull request", async () => {
    const ready = await makeReadyPull();
    await merge(ready, { Do: "squash", merge_title_field: "unknown" });
    expect((await listHistory(ready))[0]?.message).toBe(`A topic (#${ready.pull.number})\n`);
  });

  it("fills the template of the style", async () => {
    const root = {
      ".gitea/default_merge_message/SQUASH_TEMPLATE.md":
        "$PullRequestTitle of ${HeadBranch}\n\n$ClosingIssues $Unknown\n${ReviewedOn}\n",
    };
    const ready = await makeReadyPull({ root }, { body: "Fixes #77" });
    await merge(ready, { Do: "squash" });
    const [tip] = await listHistory(ready);
    expect(tip?.message).toMatch(
      /^A topic of topic\n\nclose #77\nReviewed-on: https?:.*\/pulls\/1\n$/,
    );
  });

  it("moves the base forward to the head", async () => {
    const ready = await makeReadyPull();
    expect((await merge(ready, { Do: "fast-forward-only" })).status).toBe(200);
    expect(await refOf(ready, "refs/heads/main")).toBe(ready.headOid);
  });

  it("refuses to move a base forward that has commits of its own", async () => {
    const ready = await makeReadyPull({ base: [{ a: "1\n", d: "d\n" }], root: { a: "1\n" } });
    expect((await merge(ready, { Do: "fast-forward-only" })).status).toBe(409);
    await expectUnmerged(ready);
  });

  it.each(["merge", "squash", "fast-forward-only"])(
    "refuses to join unrelated histories by the style %s, as git does",
    async (Do) => {
      const ready = await makeUnrelatedPull();
      expect(await merge(ready, { Do })).toMatchObject({
        status: 409,
        body: { message: expect.stringMatching(/fast-forward|unrelated histories/) },
      });
      expect(await refOf(ready, "refs/heads/main")).toBe(ready.baseOid);
      expect(await rowOf(ready)).toMatchObject({ mergedAt: null, isClosed: false });
    },
  );

  it.each(["rebase", "rebase-merge"])("replays an unrelated history by %s", async (Do) => {
    const ready = await makeUnrelatedPull();
    expect((await merge(ready, { Do })).status).toBe(200);
    const [tip] = await listHistory(ready);
    expect(tip?.parents[0]).toBe(ready.baseOid);
    const path = `/repos/${ready.repo.owner}/${ready.repo.name}/contents`;
    const { body } = await call("GET", path, { as: ready.owner });
    expect(body.map(({ name }: { name: string }) => name)).toEqual(["a", "other"]);
  });

  it("marks one as merged by a commit of the base, if the repository allows it", async () => {
    const ready = await makeReadyPull();
    const json = { Do: "manually-merged", MergeCommitID: ready.baseOid };
    expect((await merge(ready, json)).status).toBe(405);
    await setPullSettings(ready.repo, { allowManualMerge: true });
    for (const MergeCommitID of ["", "x", ready.headOid, "0".repeat(39) + "1"]) {
      expect((await merge(ready, { ...json, MergeCommitID })).status).toBe(409);
    }
    await expectUnmerged(ready);
    expect((await merge(ready, json)).status).toBe(200);
    expect(await rowOf(ready)).toMatchObject({
      mergeKind: "manually-merged",
      mergeCommitOid: ready.baseOid,
      isClosed: true,
    });
    expect(await refOf(ready, "refs/heads/main")).toBe(ready.baseOid);
    expect((await newEventsOf(ready)).map(({ type }) => type)).toEqual(["pull.merged"]);
  });

  // Regression: reading the pull request afterwards gave 500.
  it("marks one as merged by a commit with a date after the year 9999", async () => {
    const ready = await makeReadyPull({ base: [{ b: "b" }], authorSeconds: 99_999_999_999_999 });
    await setPullSettings(ready.repo, { allowManualMerge: true });
    const json = { Do: "manually-merged", MergeCommitID: ready.baseOid };
    expect((await merge(ready, json)).status).toBe(200);
    expect(await call("GET", ready.path)).toMatchObject({
      status: 200,
      body: { merged: true, merged_at: "1970-01-01T00:00:00Z" },
    });
  });

  it("waits for another merge into the base, and is checked against the new base", async () => {
    const [closed, merged] = [await makeReadyPull(), await makeReadyPull()];
    const leases = [await leaseBase(closed), await leaseBase(merged)];
    const answers = [closed, merged].map((ready) => merge(ready, { Do: "merge" }));
    const json = { state: "closed" };
    await call("PATCH", closed.path, { as: closed.owner, json });
    expect(await refOf(merged, "refs/heads/main")).toBe(merged.baseOid);
    for (const { release } of leases) await release();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([404, 200]);
    expect(await refOf(closed, "refs/heads/main")).toBe(closed.baseOid);
    // A refused merge leaves the base to the next one.
    const { release } = await leaseBase(closed);
    await release();
  });

  it("refuses to mark one as merged that another request merges at the same time", async () => {
    const ready = await makeReadyPull();
    const { owner, pull, repo, baseOid } = ready;
    await setPullSettings(repo, { allowManualMerge: true });
    const byHand = { Do: "manually-merged", MergeCommitID: baseOid };
    const refusal = { status: 405, body: { message: "The PR is already merged" } };
    // The push is made, and the Worker dies before it is recorded.
    const stored = git.repository(repo);
    const { refs } = await stored.snapshot();
    const at = refs.find(({ name }) => name === "refs/heads/main");
    const dead = await leaseBase(ready);
    const waiting = merge(ready, byHand);
    await runInDurableObject(env.REPOSITORY.getByName(repo.objectName), (_object, { storage }) => {
      storage.sql.exec("insert into merges (number, push_id) values (?, 'dead')", pull.number);
    });
    await dead.release();
    expect(await waiting).toMatchObject(refusal);
    expect(at?.oid).toBe(baseOid);
    await expectUnmerged(ready);
    // And the other way round: a merge that is recorded after the pull request was read.
    const other = await makeReadyPull();
    await setPullSettings(other.repo, { allowManualMerge: true });
    const lease = await leaseBase(other);
    const late = merge(other, { ...byHand, MergeCommitID: other.baseOid });
    await db.update(pulls).set({ mergedAt: 1 }).where(eq(pulls.issueId, other.pull.id));
    await lease.release();
    expect(await late).toMatchObject(refusal);
    expect(await kindsOf(other)).toEqual([]);
    expect(owner.id).not.toBe(other.owner.id);
  });

  it("gives up where others have the base for too long", async () => {
    const ready = await makeReadyPull();
    const { owner, path } = ready;
    const busy = { acquireLease: () => Promise.resolve({ kind: "busy" }) };
    const bindings = { REPOSITORY: { getByName: () => busy } } as unknown as Partial<Env>;
    const answer = await serveFailing(
      new Request(`https://forge.example/api/v1${path}/merge`, {
        method: "POST",
        headers: { Authorization: `token ${owner.token}`, "Content-Type": "application/json" },
        body: JSON.stringify({ Do: "merge" }),
      }),
      bindings,
    );
    expect(answer?.status).toBe(409);
    expect(await answer?.json()).toMatchObject({ message: "merge push out of date" });
    await expectUnmerged(ready);
  });

  it("deletes the branch if asked to, or by the repository's default", async () => {
    const asked = await makeReadyPull();
    expect((await merge(asked, { Do: "merge", delete_branch_after_merge: true })).status).toBe(200);
    expect(await refOf(asked, "refs/heads/topic")).toBeUndefined();
    expect(await kindsOf(asked)).toEqual(["merge_pull", "delete_branch"]);
    const standard = await makeReadyPull();
    await setPullSettings(standard.repo, { defaultDeleteBranchAfterMerge: true });
    await merge(standard, { Do: "merge" });
    expect(await refOf(standard, "refs/heads/topic")).toBeUndefined();
    expect((await call("GET", standard.path)).body.head.ref).toBe("refs/pull/1/head");
  });

  it("keeps a branch that another open pull request has", async () => {
    const ready = await makeReadyPull();
    await makePull(ready.repo, { baseBranch: "other", headOid: ready.headOid });
    await merge(ready, { Do: "merge", delete_branch_after_merge: true });
    expect(await refOf(ready, "refs/heads/topic")).toBe(ready.headOid);
    expect(await kindsOf(ready)).toEqual(["merge_pull"]);
  });

  it.each([
    [{}, 422],
    [{ Do: "" }, 422],
    [{ Do: "x" }, 422],
    [{ Do: "MERGE" }, 422],
    [{ Do: 1 }, 422],
    [{ Do: "merge", head_commit_id: "0".repeat(40) }, 409],
  ])("refuses %j with %i", async (json, status) => {
    const ready = await makeReadyPull();
    expect((await merge(ready, json)).status).toBe(status);
    await expectUnmerged(ready);
  });

  it("refuses a style that is off, in Gitea's words", async () => {
    const ready = await makeReadyPull();
    await setPullSettings(ready.repo, {
      allowMergeCommits: false,
      allowRebase: false,
      allowRebaseExplicit: false,
      allowSquashMerge: false,
      allowFastForwardOnlyMerge: false,
    });
    for (const style of ["merge", "rebase", "rebase-merge", "squash", "fast-forward-only"]) {
      expect(await merge(ready, { Do: style })).toMatchObject({
        status: 405,
        body: { message: `${style} is not allowed an allowed merge style for this repository` },
      });
    }
    await expectUnmerged(ready);
  });

  it("refuses drafts, closed ones, and callers who may not write", async () => {
    const draft = await makeReadyPull({}, { title: "[wip] topic" });
    const force = { Do: "merge", force_merge: true };
    expect(await merge(draft, force)).toMatchObject({
      status: 405,
      body: { message: "Work in progress PRs cannot be merged" },
    });
    await expectUnmerged(draft);
    const closed = await makeReadyPull({}, { isClosed: true });
    expect((await merge(closed, { Do: "merge" })).status).toBe(404);
    const ready = await makeReadyPull();
    expect(await merge(ready, { Do: "merge" }, await make.user())).toMatchObject({
      status: 405,
      body: { message: "User not allowed to merge PR" },
    });
    expect((await call("POST", `${ready.path}/merge`, { json: { Do: "merge" } })).status).toBe(401);
    await expectUnmerged(ready);
  });

  it("names the files with conflicts", async () => {
    const root = { a: "1\n", b: "1\n", c: "1\n" };
    const ready = await makeReadyPull({
      root,
      head: [{ a: "2\n", b: "2\n", c: "1\n" }],
      base: [{ a: "3\n", b: "3\n", c: "1\n" }],
    });
    const message = "merge conflicts in a, b";
    expect(await merge(ready, { Do: "merge" })).toMatchObject({ status: 405, body: { message } });
    expect(await merge(ready, { Do: "squash" })).toMatchObject({ status: 405, body: { message } });
    expect(await merge(ready, { Do: "rebase" })).toMatchObject({ status: 409, body: { message } });
    await expectUnmerged(ready);
  });

  it("refuses a head that the base has, and one that brings no change", async () => {
    const root = { a: "1\n" };
    const ready = await makeReadyPull({ root, head: [{ a: "2\n" }], base: [{ a: "2\n" }] });
    expect((await merge(ready, { Do: "squash" })).status).toBe(405);
    expect((await merge(ready, { Do: "rebase" })).status).toBe(405);
    await expectUnmerged(ready);
    const { repo } = ready;
    const reached = await makePull(repo, { headOid: ready.baseOid, headBranch: "same" });
    const path = `/repos/${repo.owner}/${repo.name}/pulls/${reached.number}`;
    expect((await merge({ ...ready, path }, { Do: "merge" })).status).toBe(405);
  });

  it("refuses one that waits for others", async () => {
    const ready = await makeReadyPull();
    const { owner, repo, pull } = ready;
    const issues = `/repos/${repo.owner}/${repo.name}/issues`;
    const { body: blocker } = await call("POST", issues, { as: owner, json: { title: "First" } });
    await call("POST", `${issues}/${pull.number}/dependencies`, {
      as: owner,
      json: { owner: repo.owner, repo: repo.name, index: blocker.number },
    });
    expect((await merge(ready, { Do: "merge" })).status).toBe(405);
    expect(await refOf(ready, "refs/heads/main")).toBe(ready.baseOid);
    await call("PATCH", `${issues}/${blocker.number}`, { as: owner, json: { state: "closed" } });
    expect((await merge(ready, { Do: "merge" })).status).toBe(200);
  });

  it("refuses where the repository is archived, and finds none where the unit is off", async () => {
    const ready = await makeReadyPull();
    const { owner, repo, path } = ready;
    const own = `/repos/${repo.owner}/${repo.name}`;
    await db.update(repositories).set({ archivedAt: 1 }).where(eq(repositories.id, repo.id));
    expect((await merge(ready, { Do: "merge" })).status).toBe(423);
    await expectUnmerged(ready);
    await db.update(repositories).set({ archivedAt: null }).where(eq(repositories.id, repo.id));
    await call("PATCH", own, { as: owner, json: { has_pull_requests: false } });
    expect((await call("GET", `${path}/merge`, { as: await make.user() })).status).toBe(404);
    expect((await merge(ready, { Do: "merge" }, await make.user())).status).toBe(404);
    expect((await merge({ ...ready, path: `${own}/pulls/99` }, { Do: "merge" })).status).toBe(404);
  });
});
