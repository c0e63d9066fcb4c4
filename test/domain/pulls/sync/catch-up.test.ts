import { and, desc, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { events, issues, pulls } from "../../../../src/db/schema/index.ts";
import { only } from "../../../../src/lib/only.ts";
import { call } from "../../../support/call.ts";
import { History } from "../../../support/commits.ts";
import { drawConsequences, pushQuietly } from "../../../support/consequences.ts";
import { db } from "../../../support/db.ts";
import { make, type TestRepo, type TestUser } from "../../../support/make.ts";

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
