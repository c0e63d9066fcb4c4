import { and, desc, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  events,
  issues,
  mergeQueueEntries,
  pulls,
  repositories,
} from "../../../../src/db/schema/index.ts";
import { only } from "../../../../src/lib/only.ts";
import { call } from "../../../support/call.ts";
import { History } from "../../../support/commits.ts";
import { drawConsequences, pushQuietly } from "../../../support/consequences.ts";
import { db } from "../../../support/db.ts";
import { make, type TestRepo, type TestUser } from "../../../support/make.ts";
import { makeRule } from "../../../support/protections.ts";
import { logged } from "../../../support/usage.ts";

/** A repository with a pull request whose branch is pushed again, before any job runs. */
async function makeBehind() {
  const history = new History();
  const base = history.commit({ files: { file: "base\n" } });
  const one = history.commit({ parents: [base], files: { file: "base\n", one: "1" } });
  const two = history.commit({ parents: [one], files: { file: "base\n", one: "2" } });
  const pack = history.build();
  const [owner, pusher] = [await make.user(), await make.user()];
  const repo = await make.repo(owner);
  await make.collaborator(repo, pusher, 2);
  const push = async (as: TestUser, ref: string, oid: string): Promise<void> => {
    expect(await pushQuietly(as, repo, [{ ref, new: oid }], pack)).toContain(`ok ${ref}`);
  };
  await push(owner, "refs/heads/main", base);
  await push(owner, "refs/heads/topic", one);
  const path = `/repos/${repo.owner}/${repo.name}/pulls`;
  const json = { title: "Topic", head: "topic", base: "main" };
  const { body } = await call("POST", path, { as: owner, json });
  await drawConsequences();
  expect(
    await pushQuietly(pusher, repo, [{ ref: "refs/heads/topic", old: one, new: two }], pack),
  ).toContain("ok refs/heads/topic");
  return { owner, pusher, repo, one, two, path: `${path}/${body.number}` };
}

/** The same from a branch of a fork, whose owner pushes it. */
async function makeBehindFork() {
  const history = new History();
  const base = history.commit({ files: { file: "base\n" } });
  const one = history.commit({ parents: [base], files: { file: "base\n", one: "1" } });
  const two = history.commit({ parents: [one], files: { file: "base\n", one: "2" } });
  const pack = history.build();
  const [owner, pusher] = [await make.user(), await make.user()];
  const repo = await make.repo(owner);
  await pushQuietly(owner, repo, [{ ref: "refs/heads/main", new: base }], pack);
  const own = `/repos/${repo.owner}/${repo.name}`;
  expect((await call("POST", `${own}/forks`, { as: pusher, json: {} })).status).toBe(202);
  const isFork = and(eq(repositories.parentId, repo.id), eq(repositories.ownerId, pusher.id));
  const fork = { ...only(await db.select().from(repositories).where(isFork)), owner: pusher.name };
  const push = async (old: string | undefined, oid: string): Promise<void> => {
    const command = { ref: "refs/heads/topic", new: oid, ...(old !== undefined && { old }) };
    expect(await pushQuietly(pusher, fork, [command], pack)).toContain("ok refs/heads/topic");
  };
  await push(undefined, one);
  const json = { title: "Topic", head: `${pusher.name}:topic`, base: "main" };
  const { body } = await call("POST", `${own}/pulls`, { as: pusher, json });
  await drawConsequences();
  await push(one, two);
  return { owner, pusher, repo, one, two, path: `${own}/pulls/${body.number}` };
}

const rowOf = async (repo: TestRepo) => {
  const joined = db.select().from(pulls).innerJoin(issues, eq(issues.id, pulls.issueId));
  return only(await joined.where(eq(issues.repoId, repo.id)));
};

const moves = (repo: TestRepo) =>
  db
    .select()
    .from(events)
    .where(and(eq(events.repoId, repo.id), eq(events.type, "pull.synchronized")))
    .orderBy(desc(events.id));

describe("a merge right after a push to the head", () => {
  it("merges what was pushed, in the name of who pushed, and the job changes nothing", async () => {
    const { owner, pusher, repo, one, two, path } = await makeBehind();
    expect((await rowOf(repo)).pulls.headOid).toBe(one);
    const json = { Do: "merge", head_commit_id: two };
    expect((await call("POST", `${path}/merge`, { as: owner, json })).status).toBe(200);
    expect((await rowOf(repo)).pulls).toMatchObject({ headOid: two, mergerId: owner.id });
    const expected = [{ actorId: pusher.id, payload: { before: one, after: two } }];
    expect(await moves(repo)).toMatchObject(expected);
    await drawConsequences();
    expect(await moves(repo)).toMatchObject(expected);
  });

  it("merges what was pushed to a fork, in the name of who pushed", async () => {
    const { owner, pusher, repo, one, two, path } = await makeBehindFork();
    expect((await rowOf(repo)).pulls.headOid).toBe(one);
    const json = { Do: "merge", head_commit_id: two };
    expect((await call("POST", `${path}/merge`, { as: owner, json })).status).toBe(200);
    expect((await rowOf(repo)).pulls).toMatchObject({ headOid: two, mergerId: owner.id });
    const expected = [{ actorId: pusher.id, payload: { before: one, after: two } }];
    expect(await moves(repo)).toMatchObject(expected);
    await drawConsequences();
    expect(await moves(repo)).toMatchObject(expected);
  });

  it.each([
    ["of a branch", makeBehind],
    ["of a fork", makeBehindFork],
  ])("is scheduled and made with what was pushed: %s", async (_, makeOne) => {
    const { owner, repo, two, path } = await makeOne();
    const json = { Do: "merge", merge_when_checks_succeed: true };
    expect((await call("POST", `${path}/merge`, { as: owner, json })).status).toBe(201);
    await drawConsequences();
    expect((await rowOf(repo)).pulls).toMatchObject({
      headOid: two,
      mergerId: owner.id,
      mergedAt: expect.any(Number),
    });
  });

  it.each([
    ["of a branch", makeBehind],
    ["of a fork", makeBehindFork],
  ])("is queued with what was pushed: %s", async (_, makeOne) => {
    const { owner, pusher, repo, one, two, path } = await makeOne();
    await makeRule(repo, { settings: { isMergeQueueEnabled: true } });
    const queue = (json: object) => call("POST", `${path}/queue`, { as: owner, json });
    const queued = () => db.select().from(mergeQueueEntries);
    expect((await queue({ Do: "merge", head_commit_id: one })).status).toBe(409);
    expect((await queue({ Do: "merge", head_commit_id: two })).status).toBeLessThan(300);
    expect((await rowOf(repo)).pulls).toMatchObject({ headOid: two });
    expect(await moves(repo)).toMatchObject([{ actorId: pusher.id }]);
    const { id } = (await rowOf(repo)).issues;
    expect((await queued()).filter(({ issueId }) => issueId === id)).toHaveLength(1);
  });

  // One that has followed takes three; finding the pusher and moving the head come before.
  it("takes a bounded number of round trips more than another merge", async () => {
    const { owner, two, path } = await makeBehindFork();
    const json = { Do: "merge", head_commit_id: two };
    const { answer, line } = await logged(() => call("POST", `${path}/merge`, { as: owner, json }));
    expect(answer.status).toBe(200);
    expect(line.d1Rounds).toBeLessThanOrEqual(9);
  });

  it("refuses who may not merge, and moves nothing", async () => {
    const { repo, one, path } = await makeBehind();
    const other = await make.user();
    const json = { Do: "merge" };
    expect((await call("POST", `${path}/merge`, { as: other, json })).status).toBe(405);
    expect((await rowOf(repo)).pulls).toMatchObject({ headOid: one, mergedAt: null });
    expect(await moves(repo)).toEqual([]);
  });

  it("refuses another head than the pushed one", async () => {
    const { owner, repo, one, path } = await makeBehind();
    const json = { Do: "merge", head_commit_id: one };
    expect((await call("POST", `${path}/merge`, { as: owner, json })).status).toBe(409);
    expect((await rowOf(repo)).pulls.mergedAt).toBeNull();
  });
});
