import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  ACCESS,
  blocks,
  issues,
  milestones,
  pulls,
  repositories,
  type Repository,
} from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { History } from "../../support/commits.ts";
import { db } from "../../support/db.ts";
import { git } from "../../support/git.ts";
import { entriesOf, issueStateOf } from "../../support/issue-state.ts";
import { makeLabel, makeMilestone } from "../../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { storePush, storeRefs } from "../../support/push.ts";
import { makeSampleTopic, storeSampleCode } from "../../support/samples/sample-code.ts";
import { World } from "../../support/samples/world.ts";

const pathOf = ({ owner, name }: Pick<TestRepo, "owner" | "name">, rest = "") =>
  `/repos/${owner}/${name}/pulls${rest}`;

/** A repository with `main`, `settings` and `some/branch`, and a branch `topic` with a commit. */
async function makeWithTopic(fields: Partial<Repository> = {}) {
  const [owner, stranger] = [await make.user(), await make.user()];
  const repo = await make.repo(owner, fields);
  const code = await storeSampleCode(repo);
  const topic = makeSampleTopic(repo, code.oid);
  await topic.store("refs/heads/topic");
  return { owner, stranger, repo, code, topic };
}

/** A fork by `user`, with a branch `patch` that has a commit more. */
async function makeFork(user: TestUser, repo: TestRepo, parent: string) {
  const json = { name: `fork-${user.name}` };
  const path = `/repos/${repo.owner}/${repo.name}/forks`;
  const { status, body } = await call("POST", path, { as: user, json });
  expect(status).toBe(202);
  const [row] = await db.select().from(repositories).where(eq(repositories.id, body.id));
  const fork = { ...(row as Repository), owner: user.name };
  const history = new History();
  const oid = history.commit({
    files: { file: repo.name, patch: "from a fork\n" },
    parents: [parent],
    message: "Patch\n",
  });
  await storePush(fork, "refs/heads/patch", oid, history.build());
  return { fork, oid };
}

const headOf = async (repo: TestRepo, number: number) => {
  const { refs } = await git.repository(repo).snapshot();
  return refs.find(({ name }) => name === `refs/pull/${number}/head`)?.oid;
};

describe("POST /repos/{owner}/{repo}/pulls", () => {
  it("opens a pull request of a branch, and stores its head", async () => {
    const world = new World();
    const [owner, repo, first] = [await world.user(), await world.repo(), await world.pull()];
    const json = { title: "WIP: topic", body: "text", head: "topic", base: "some/branch" };
    const { status, body } = await call("POST", pathOf(repo), { as: owner, json });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      number: 2,
      state: "open",
      draft: true,
      mergeable: false,
      merged: false,
      additions: 1,
      deletions: 0,
      changed_files: 1,
      head: { label: "topic", ref: "topic", sha: first.pull.headOid, repo_id: repo.id },
      base: { label: "some/branch", repo: { id: repo.id } },
      merge_base: first.pull.checkedBaseOid,
    });
    expect((await call("GET", pathOf(repo, "/2"))).body).toMatchObject({ number: 2, body: "text" });
    expect(await headOf(repo, 2)).toBe(first.pull.headOid);
    expect(await entriesOf(body.id)).toMatchObject([
      {
        kind: "pull_push",
        body: JSON.stringify({ is_force_push: false, commit_ids: [first.pull.headOid] }),
      },
    ]);
  });

  it("stores every field for a writer", async () => {
    const { owner, stranger, repo } = await makeWithTopic();
    await make.collaborator(repo, stranger, ACCESS.write);
    const [label, milestone] = [await makeLabel({ repo }), await makeMilestone(repo)];
    const json = {
      title: "Topic",
      head: "topic",
      base: "main",
      assignees: [owner.name],
      labels: [label.id, 99_999_999],
      milestone: milestone.id,
      due_date: "2030-05-06T07:08:09Z",
      reviewers: [owner.name.toUpperCase()],
    };
    const { status, body } = await call("POST", pathOf(repo), { as: stranger, json });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      user: { login: stranger.name },
      assignees: [{ login: owner.name }],
      labels: [{ id: label.id }],
      milestone: { id: milestone.id },
      due_date: "2030-05-06T07:08:09Z",
      requested_reviewers: [{ login: owner.name }],
      mergeable: true,
    });
  });

  it("opens one of a fork by its name, to which maintainers may push if the poster says so", async () => {
    const { repo, code, stranger } = await makeWithTopic();
    const { fork } = await makeFork(stranger, repo, code.oid);
    const open = (name: string) =>
      call("POST", pathOf(repo), {
        as: stranger,
        json: {
          head: `${fork.owner}/${name}:patch`,
          base: "main",
          title: "Named",
          allow_maintainer_edit: true,
        },
      });
    expect((await open("another-name")).status).toBe(404);
    expect((await call("GET", pathOf(repo), { as: stranger })).body).toEqual([]);
    expect(await open(fork.name.toUpperCase())).toMatchObject({
      status: 201,
      body: { head: { repo: { id: fork.id } }, allow_maintainer_edit: true },
    });
  });

  it("opens one of a fork, whose packs are shared, and keeps it once the fork is gone", async () => {
    const { owner, stranger, repo, code } = await makeWithTopic();
    const { fork, oid } = await makeFork(stranger, repo, code.oid);
    const label = await makeLabel({ repo });
    const json = {
      title: "From a fork",
      head: `${stranger.name.toUpperCase()}:patch`,
      base: "refs/heads/main",
      labels: [label.id],
      assignees: [owner.name],
    };
    const { status, body } = await call("POST", pathOf(repo), { as: stranger, json });
    expect(status).toBe(201);
    // Who may not write to the pull requests sets neither labels nor assignees.
    expect(body).toMatchObject({
      labels: [],
      assignees: [],
      additions: 1,
      head: { label: "patch", sha: oid, repo_id: fork.id, repo: { id: fork.id, fork: true } },
    });
    expect(await headOf(repo, 1)).toBe(oid);

    // A private fork is not shown to those who may not see it.
    await db
      .update(repositories)
      .set({ isPrivate: true, visibility: "private" })
      .where(eq(repositories.id, fork.id));
    expect((await call("GET", pathOf(repo, "/1"), { as: owner })).body.head).toMatchObject({
      label: "patch",
      sha: oid,
      repo: null,
    });
    expect((await call("GET", pathOf(repo), { as: stranger })).body[0].head.repo.id).toBe(fork.id);

    const gone = await call("DELETE", `/repos/${fork.owner}/${fork.name}`, { as: stranger });
    expect(gone.status).toBe(204);
    const found = await call("GET", pathOf(repo, "/1"), { as: owner });
    expect(found).toMatchObject({ status: 200, body: { head: { sha: oid, repo: null } } });
    const diff = await call("GET", pathOf(repo, "/1.diff"), { as: owner });
    expect(diff.status).toBe(200);
    expect(String(diff.body)).toContain("from a fork");
  });

  it("opens one without a change, without a commit, and of unrelated histories", async () => {
    const { owner, repo, code } = await makeWithTopic();
    const history = new History();
    const files = { file: repo.name };
    const same = history.commit({ files, parents: [code.oid], message: "nothing\n" });
    const foreign = history.commit({ files: { other: "x\n" }, message: "foreign\n" });
    const refs = [
      { ref: "refs/heads/same", oid: same },
      { ref: "refs/heads/foreign", oid: foreign },
    ];
    await storeRefs(repo, refs, history.build());
    const opened = async (head: string) => {
      const json = { title: head, head, base: "main" };
      const { status, body } = await call("POST", pathOf(repo), { as: owner, json });
      const [row] = await db.select().from(pulls).where(eq(pulls.issueId, body.id));
      return [status, body.mergeable, body.merge_base, row?.mergeState];
    };
    expect(await opened("some/branch")).toEqual([201, true, code.oid, "ancestor"]);
    expect(await opened("same")).toEqual([201, true, code.oid, "empty"]);
    expect(await opened("foreign")).toMatchObject([201, true, "", "mergeable"]);
  });

  it("opens one of 2,000 commits, of which the timeline names the last 1,000", async () => {
    const { owner, repo, code } = await makeWithTopic();
    const history = new History();
    let tip = code.oid;
    const files = { file: repo.name, many: "x\n" };
    for (let at = 0; at < 2000; at += 1) {
      tip = history.commit({ files, parents: [tip], message: `${at}\n` });
    }
    await storePush(repo, "refs/heads/long", tip, history.build());
    const json = { title: "Long", head: "long", base: "main" };
    const { status, body } = await call("POST", pathOf(repo), { as: owner, json });
    expect(status).toBe(201);
    expect(body).toMatchObject({ additions: 1, changed_files: 1, mergeable: true });
    const [entry] = await entriesOf(body.id);
    const named = JSON.parse(entry?.body ?? "{}").commit_ids as string[];
    expect([named.length, named.at(-1)]).toEqual([1000, tip]);
  });

  describe("refuses", () => {
    const main = { title: "x", head: "topic", base: "main" };

    it.each([
      ["head = base", { head: "main" }, 422],
      ["head = base by its full name", { head: "refs/heads/main" }, 422],
      ["an unknown head", { head: "nothere" }, 404],
      ["an unknown base", { base: "nothere" }, 404],
      ["a tag", { head: "some/tag" }, 422],
      ["a commit", { head: "0".repeat(40) }, 404],
      ["an unknown owner", { head: "nobody-at-all:topic" }, 404],
      ["no head", { head: undefined }, 422],
      ["no base", { base: "" }, 422],
      ["no title", { title: undefined }, 422],
      ["an unknown assignee", { assignees: ["nobody-at-all"] }, 422],
      ["an unknown milestone", { milestone: 99_999_999 }, 404],
      ["an unknown reviewer", { reviewers: ["nobody-at-all"] }, 404],
      ["a reviewer without a name", { reviewers: [""] }, 404],
      ["an unknown team", { team_reviewers: ["nobody-at-all"] }, 404],
    ])("%s", async (_, json, refusal) => {
      const { owner, repo } = await makeWithTopic();
      const before = await issueStateOf(repo);
      const answer = await call("POST", pathOf(repo), { as: owner, json: { ...main, ...json } });
      expect(answer.status).toBe(refusal);
      expect(await issueStateOf(repo)).toEqual(before);
      expect(await headOf(repo, 1)).toBeUndefined();
    });

    it("a closed milestone, and one of another repository", async () => {
      const { owner, repo } = await makeWithTopic();
      const closed = await makeMilestone(repo, { isClosed: true });
      const foreign = await makeMilestone(await make.repo(owner));
      for (const [milestone, status] of [
        [closed.id, 422],
        [foreign.id, 404],
      ]) {
        const json = { ...main, milestone };
        expect((await call("POST", pathOf(repo), { as: owner, json })).status).toBe(status);
      }
      expect(await db.select().from(issues).where(eq(issues.repoId, repo.id))).toEqual([]);
      expect(await db.select().from(milestones).where(eq(milestones.repoId, repo.id))).toEqual([
        closed,
      ]);
    });

    it("a second one of the same branches, in the words that clients parse", async () => {
      const world = new World();
      const [owner, repo, pull] = [await world.user(), await world.repo(), await world.pull()];
      const json = { title: "Again", head: "topic", base: "refs/heads/main" };
      const { status, body } = await call("POST", pathOf(repo), { as: owner, json });
      expect([status, body.message]).toEqual([
        409,
        `pull request already exists for these targets [id: ${pull.id}, issue_id: ${pull.id}, ` +
          `head_repo_id: ${repo.id}, base_repo_id: ${repo.id}, head_branch: topic, base_branch: main]`,
      ]);
    });

    it("all but one of twenty that are opened at once", async () => {
      const { owner, repo } = await makeWithTopic();
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => call("POST", pathOf(repo), { as: owner, json: main })),
      );
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
        201,
        ...Array.from({ length: 19 }, () => 409),
      ]);
    });

    // SECURITY: a reader can't offer the branches of others.
    it("the branches of others by a stranger, but not by who is named for the repository", async () => {
      const { stranger, repo } = await makeWithTopic();
      const refused = await call("POST", pathOf(repo), { as: stranger, json: main });
      expect([refused.status, refused.body.message]).toEqual([403, "user must be a collaborator"]);
      await make.collaborator(repo, stranger, ACCESS.read);
      expect((await call("POST", pathOf(repo), { as: stranger, json: main })).status).toBe(201);
    });

    it("callers who are not signed in, or who do not see the repository", async () => {
      const { stranger, repo } = await makeWithTopic({ isPrivate: true, visibility: "private" });
      expect((await call("POST", pathOf(repo), { json: main })).status).toBe(404);
      expect((await call("POST", pathOf(repo), { as: stranger, json: main })).status).toBe(404);
    });

    it("those whom the owner blocks", async () => {
      const { owner, stranger, repo, code } = await makeWithTopic();
      await makeFork(stranger, repo, code.oid);
      await db
        .insert(blocks)
        .values({ blockerId: owner.id, blockedId: stranger.id, note: "", createdAt: 1 });
      const json = { ...main, head: `${stranger.name}:patch` };
      expect((await call("POST", pathOf(repo), { as: stranger, json })).status).toBe(403);
      expect(await headOf(repo, 1)).toBeUndefined();
    });

    // SECURITY: a credential opens nothing of a repository that it does not reach (CVE-2026-58443).
    it("heads that the credential does not reach", async () => {
      const { stranger, repo, code } = await makeWithTopic();
      const { fork } = await makeFork(stranger, repo, code.oid);
      const json = { ...main, head: `${stranger.name}:patch` };
      const bound = await make.token(stranger, { repos: [repo] });
      expect((await call("POST", pathOf(repo), { token: bound, json })).status).toBe(404);
      await db
        .update(repositories)
        .set({ isPrivate: true, visibility: "private" })
        .where(eq(repositories.id, fork.id));
      const publicOnly = await make.token(stranger, { scopes: "write:repository,public-only" });
      expect((await call("POST", pathOf(repo), { token: publicOnly, json })).status).toBe(404);
      expect((await call("POST", pathOf(repo), { as: stranger, json })).status).toBe(201);
    });

    it.each([
      ["an archived repository", { archivedAt: 1 }, 423],
      ["a mirror", { isMirror: true }, 404],
      ["the unit off", { hasPullRequests: false }, 403],
    ])("%s", async (_, fields, refusal) => {
      const { owner, repo } = await makeWithTopic();
      await db.update(repositories).set(fields).where(eq(repositories.id, repo.id));
      const answer = await call("POST", pathOf(repo), { as: owner, json: main });
      expect(answer.status).toBe(refusal);
      expect(await db.select().from(issues).where(eq(issues.repoId, repo.id))).toEqual([]);
    });

    it("an empty repository", async () => {
      const owner = await make.user();
      const repo = await make.repo(owner);
      expect((await call("POST", pathOf(repo), { as: owner, json: main })).status).toBe(404);
    });
  });
});
