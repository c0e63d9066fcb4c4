import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { pulls, repositories } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { History } from "../../support/commits.ts";
import { db } from "../../support/db.ts";
import { git } from "../../support/git.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { listHistory, makeReadyPull, type ReadyPull } from "../../support/merges.ts";
import { type Command, pushCommands } from "../../support/push.ts";

const ROOT = { a: "1\n" };
const BEHIND = {
  root: ROOT,
  head: [{ ...ROOT, topic: "topic\n" }],
  base: [{ ...ROOT, b: "b\n" }],
};

const update = ({ path }: Pick<ReadyPull, "path">, as?: TestUser, style = "merge") =>
  call("POST", `${path}/update?style=${style}`, as ? { as } : {});

const branchOf = async (repo: Pick<TestRepo, "objectName" | "networkName">, name = "topic") =>
  (await git.repository(repo).snapshot()).refs.find((ref) => ref.name === `refs/heads/${name}`)
    ?.oid;

describe("POST /repos/{owner}/{repo}/pulls/{index}/update", () => {
  it("merges the base into the head", async () => {
    const ready = await makeReadyPull(BEHIND);
    expect((await update(ready, ready.owner)).status).toBe(200);
    const [tip] = await listHistory(ready, "topic");
    expect(tip).toMatchObject({
      message: "Merge branch 'main' into topic\n",
      parents: [ready.headOid, ready.baseOid],
      author: ready.owner.name,
    });
    expect(await branchOf(ready.repo, "main")).toBe(ready.baseOid);
    expect((await update(ready, ready.owner)).status).toBe(422);
    expect(await branchOf(ready.repo)).toBe(tip?.oid);
  });

  it("replays the head on top of the base, if the repository allows it", async () => {
    const ready = await makeReadyPull(BEHIND);
    const { owner, repo } = ready;
    const set = (allowRebaseUpdate: boolean) =>
      db
        .update(repositories)
        .set({ pullSettings: { ...repo.pullSettings, allowRebaseUpdate } })
        .where(eq(repositories.id, repo.id));
    await set(false);
    expect((await update(ready, owner, "rebase")).status).toBe(403);
    expect(await branchOf(repo)).toBe(ready.headOid);
    await set(true);
    expect((await update(ready, owner, "rebase")).status).toBe(200);
    const [tip] = await listHistory(ready, "topic");
    expect(tip).toMatchObject({ message: "Head 1\n", parents: [ready.baseOid], author: "A" });
  });

  it("names conflicts, and changes nothing", async () => {
    const ready = await makeReadyPull({
      root: ROOT,
      head: [{ a: "2\n" }],
      base: [{ a: "3\n" }],
    });
    for (const style of ["merge", "rebase"]) {
      expect(await update(ready, ready.owner, style)).toMatchObject({
        status: 409,
        body: { message: `${style} failed because of conflict: merge conflicts in a` },
      });
    }
    expect(await branchOf(ready.repo)).toBe(ready.headOid);
  });

  it("refuses callers who may not write to the head, and closed pull requests", async () => {
    const ready = await makeReadyPull(BEHIND);
    expect((await update(ready, await make.user())).status).toBe(403);
    expect((await update(ready)).status).toBe(401);
    expect(await branchOf(ready.repo)).toBe(ready.headOid);
    const closed = await makeReadyPull(BEHIND, { isClosed: true });
    expect((await update(closed, closed.owner)).status).toBe(422);
    const unknown = { path: ready.path.replace(/\d+$/, "99") };
    expect((await update(unknown, ready.owner)).status).toBe(404);
    await db.update(repositories).set({ archivedAt: 1 }).where(eq(repositories.id, ready.repo.id));
    expect((await update(ready, ready.owner)).status).toBe(423);
  });
});

/** A pull request from a fork whose base has one commit more. */
async function makeForkPull() {
  const [owner, poster] = [await make.user(), await make.user()];
  const repo = await make.repo(owner);
  const own = `/repos/${repo.owner}/${repo.name}`;
  const add = (as: TestUser, path: string, name: string, options: object = {}) =>
    call("POST", `${path}/contents/${name}`, { as, json: { content: "YQo=", ...options } });
  await add(owner, own, "a");
  const { body: fork } = await call("POST", `${own}/forks`, { as: poster, json: {} });
  await add(poster, `/repos/${fork.full_name}`, "topic", { new_branch: "topic" });
  const json = { head: `${poster.name}:topic`, base: "main", title: "From a fork" };
  const { body: pull } = await call("POST", `${own}/pulls`, { as: poster, json });
  await add(owner, own, "b");
  const [row] = await db.select().from(repositories).where(eq(repositories.id, fork.id));
  if (!row) throw new Error("no fork");
  const location = { ...row, owner: poster.name };
  const allow = (allowMaintainerEdit: boolean) =>
    db.update(pulls).set({ allowMaintainerEdit }).where(eq(pulls.issueId, pull.id));
  return { owner, poster, fork: location, pull, path: `${own}/pulls/${pull.number}`, allow };
}

describe("the maintainers of a base", () => {
  it("update the branch of a fork if its poster lets them, by shared packs", async () => {
    const { owner, poster, fork, path, allow } = await makeForkPull();
    const before = await branchOf(fork);
    expect((await update({ path }, owner)).status).toBe(403);
    expect(await branchOf(fork)).toBe(before);
    await allow(true);
    expect((await update({ path }, await make.user())).status).toBe(403);
    expect((await update({ path }, owner)).status).toBe(200);
    const [tip] = await listHistory({ owner: poster, repo: fork }, "topic");
    expect(tip).toMatchObject({ parents: [before, expect.any(String)], committer: owner.name });
  });

  it("apply a suggestion to it if its poster lets them", async () => {
    const { owner, fork, path, allow } = await makeForkPull();
    const before = await branchOf(fork);
    const comment = { path: "topic", new_position: 1, body: "```suggestion\nb\n```" };
    const json = { event: "COMMENT", comments: [comment] };
    expect((await call("POST", `${path}/reviews`, { as: owner, json })).status).toBe(200);
    const { body: comments } = await call("GET", `${path}/comments`, { as: owner });
    const apply = (as: TestUser) =>
      call("POST", `${path}/comments/${comments[0].id}/apply-suggestion`, { as, json: {} });
    expect((await apply(owner)).status).toBe(403);
    await allow(true);
    expect((await apply(await make.user())).status).toBe(403);
    expect(await branchOf(fork)).toBe(before);
    const applied = await apply(owner);
    expect(applied.status).toBe(201);
    expect(await branchOf(fork)).toBe(applied.body.sha);
  });

  // SECURITY: the poster opens one branch to them, and nothing else of the fork.
  it("push to that branch, to no other one, and do not delete it", async () => {
    const { owner, fork, allow } = await makeForkPull();
    const before = (await branchOf(fork)) ?? "";
    const history = new History();
    const next = history.commit({ files: { a: "pushed\n" }, parents: [before] });
    const pack = history.build();
    const send = async (as: TestUser, command: Command, sent = pack): Promise<string> => {
      const { body } = await pushCommands(as, fork, [command], { pack: sent });
      return String(body);
    };
    const push = (as: TestUser, ref: string, old = before) => send(as, { ref, old, new: next });
    const denied = "User permission denied for writing.";
    const zero = "0".repeat(40);
    expect(await push(owner, "refs/heads/topic")).toContain(denied);
    await allow(true);
    expect(await push(await make.user(), "refs/heads/topic")).toContain(denied);
    expect(await push(owner, "refs/heads/other", zero)).toContain(denied);
    expect(await push(owner, "refs/tags/topic", zero)).toContain(denied);
    expect(await push(owner, "refs/heads/main", (await branchOf(fork, "main")) ?? "")).toContain(
      denied,
    );
    expect(await branchOf(fork)).toBe(before);
    expect(await push(owner, "refs/heads/topic")).toContain("ok refs/heads/topic");
    expect(await branchOf(fork)).toBe(next);
    const { body } = await pushCommands(owner, fork, [{ ref: "refs/heads/topic", old: next }]);
    expect(String(body)).toContain(denied);
    await db.update(pulls).set({ isClosed: true }).where(eq(pulls.headRepoId, fork.id));
    const again = history.commit({ files: { a: "again\n" }, parents: [next] });
    const late = { ref: "refs/heads/topic", old: next, new: again };
    expect(await send(owner, late, history.build())).toContain(denied);
    expect(await branchOf(fork)).toBe(next);
  });
});
