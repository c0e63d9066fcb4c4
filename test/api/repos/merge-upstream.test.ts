import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { repositories } from "../../../src/db/schema/index.ts";
import { maintainRepository } from "../../../src/domain/code/git/maintain-repository.ts";
import { call } from "../../support/call.ts";
import { History } from "../../support/commits.ts";
import { db } from "../../support/db.ts";
import { eventsOf } from "../../support/events.ts";
import { git, placeOf, readAllObjects, readBranch } from "../../support/git.ts";
import {
  fetchObject,
  makeLargeFile,
  objectsOf,
  pointerTo,
  upload,
} from "../../support/large-files.ts";
import { freshName, make, type TestRepo, type TestUser } from "../../support/make.ts";
import { type Command, filesOf, pushCommands } from "../../support/push.ts";
import { systemCtx } from "../../support/system.ts";

/** A fork in the API's form, as far as the tests need it. */
interface Fork {
  id: number;
  owner: string;
  name: string;
}

/** Pushes the commits of a history. */
async function pushHistory(
  as: TestUser,
  repo: Pick<TestRepo, "owner" | "name">,
  history: History,
  commands: readonly Command[],
): Promise<void> {
  const { body } = await pushCommands(as, repo, commands, { pack: history.build() });
  expect(body).not.toContain("ng ");
}

/** A repository with one commit on `main`, and a fork of it. */
async function makeFork(fields: Parameters<typeof make.repo>[1] = {}) {
  const [owner, forker] = [await make.user(), await make.user()];
  const upstream = await make.repo(owner, fields);
  if (fields.isPrivate) await make.collaborator(upstream, forker, 1);
  const history = new History();
  const first = history.commit({ files: { a: "1\n2\n3\n4\n5\n", b: "b\n" } });
  await pushHistory(owner, upstream, history, [{ ref: "refs/heads/main", new: first }]);
  const { body } = await call("POST", `/repos/${owner.name}/${upstream.name}/forks`, {
    as: forker,
    json: { name: freshName("fork") },
  });
  const fork: Fork = { id: body.id, owner: forker.name, name: body.name };
  return { owner, forker, upstream, fork, first };
}

/** Adds a commit to a branch. */
async function addCommit(
  as: TestUser,
  repo: Pick<TestRepo, "owner" | "name">,
  parent: string,
  files: Record<string, string>,
  branch = "main",
): Promise<string> {
  const history = new History();
  const oid = history.commit({ files, parents: [parent], message: `${freshName("change")}\n` });
  const ref = `refs/heads/${branch}`;
  const old = branch === "main" ? { old: parent } : {};
  await pushHistory(as, repo, history, [{ ref, ...old, new: oid }]);
  return oid;
}

const merge = (as: TestUser, { owner, name }: Fork, json: object = { branch: "main" }) =>
  call("POST", `/repos/${owner}/${name}/merge-upstream`, { as, json });
const headOf = async ({ id }: { id: number }, branch = "main"): Promise<string> =>
  (await readBranch(id, branch)).oid;

const BASE = { a: "1\n2\n3\n4\n5\n", b: "b\n" };

describe("POST /repos/{owner}/{repo}/merge-upstream", () => {
  it("moves a branch forward, without copying a byte", async () => {
    const { owner, forker, upstream, fork, first } = await makeFork();
    const next = await addCommit(owner, upstream, first, { ...BASE, c: "c\n" });
    const files = await filesOf(upstream);

    expect(await merge(forker, fork)).toMatchObject({
      status: 200,
      body: { merge_type: "fast-forward" },
    });
    expect(await headOf(fork)).toBe(next);
    expect(await filesOf(upstream)).toEqual(files);
    expect(await readAllObjects(await placeOf(fork.id))).toBe(7);
    const [, pushed, ...others] = await eventsOf(fork);
    expect(pushed).toMatchObject({
      type: "repository.pushed",
      actorId: forker.id,
      payload: { updates: [{ ref: "refs/heads/main", before: first, after: next }] },
    });
    expect(others).toEqual([]);
    const again = await merge(forker, fork);
    expect(again.body).toEqual({ merge_type: "up-to-date" });
    expect(await eventsOf(fork)).toHaveLength(2);
  });

  it("merges a branch with commits of its own, by a commit of the caller", async () => {
    const { owner, forker, upstream, fork, first } = await makeFork();
    const theirs = await addCommit(owner, upstream, first, { ...BASE, a: "1\n2\n3\n4\nfive\n" });
    const ours = await addCommit(forker, fork, first, { ...BASE, a: "one\n2\n3\n4\n5\n" });

    expect((await merge(forker, fork)).body).toEqual({ merge_type: "merge" });
    const { commit, files } = await readBranch(fork.id, "main");
    expect(commit.parentOids).toEqual([ours, theirs]);
    expect(files).toEqual({ a: "one\n2\n3\n4\nfive\n", b: "b\n" });
    expect(commit.author).toMatchObject({ name: forker.name, email: forker.email });
    expect(commit.message).toMatch(
      new RegExp(`^Merge branch 'main' of .*/${upstream.owner}/${upstream.name}\n$`),
    );
    await readAllObjects(await placeOf(fork.id));
    expect((await merge(forker, fork)).body).toEqual({ merge_type: "up-to-date" });
    expect(await headOf(upstream)).toBe(theirs);
  });

  it("refuses conflicts and, where asked to, a merge commit", async () => {
    const { owner, forker, upstream, fork, first } = await makeFork();
    await addCommit(owner, upstream, first, { ...BASE, a: "theirs\n" });
    const ours = await addCommit(forker, fork, first, { ...BASE, a: "ours\n" });
    const files = await filesOf(upstream);

    expect(await merge(forker, fork, { branch: "main", ff_only: true })).toMatchObject({
      status: 400,
      body: { message: "a fast-forward is not possible" },
    });
    expect(await merge(forker, fork)).toMatchObject({
      status: 409,
      body: { message: "merge conflicts in a" },
    });
    expect(await headOf(fork)).toBe(ours);
    expect(await filesOf(upstream)).toEqual(files);
    expect(await eventsOf(fork)).toHaveLength(2);
  });

  it("takes only the packs with new commits, which jobs of both repositories keep", async () => {
    const { owner, forker, upstream, fork, first } = await makeFork();
    const other = await addCommit(owner, upstream, first, { x: "x\n" }, "other");
    // One pack with a commit that the fork takes, and one whose parent it does not have.
    const history = new History();
    const next = history.commit({ files: { ...BASE, c: "c\n" }, parents: [first] });
    const hidden = history.commit({ files: { x: "y\n" }, parents: [other] });
    await pushHistory(owner, upstream, history, [
      { ref: "refs/heads/main", old: first, new: next },
      { ref: "refs/heads/hidden", new: hidden },
    ]);
    expect((await merge(forker, fork)).status).toBe(200);
    const location = await placeOf(fork.id);
    expect((await git.repository(location).snapshot()).packs).toHaveLength(2);
    expect((await call("GET", `/repos/${fork.owner}/${fork.name}/commits/${hidden}`)).status).toBe(
      404,
    );

    // The upstream goes, and with it every pack that no fork lists.
    await call("DELETE", `/repos/${upstream.owner}/${upstream.name}`, { as: owner });
    const day = 24 * 60 * 60 * 1000;
    for (const days of [0, 2]) {
      const ctx = systemCtx({}, Date.now() + days * day);
      await maintainRepository(ctx, upstream);
      await maintainRepository(ctx, location);
    }
    expect(await readAllObjects(location)).toBe(7);
    // Maintenance of the fork has merged both, and needs neither any more.
    expect((await filesOf(location)).filter((key) => key.endsWith(".pack"))).toHaveLength(1);
    const later = await addCommit(forker, fork, next, { ...BASE, c: "d\n" });
    expect(await headOf(fork)).toBe(later);
  });

  it("is applied once by concurrent requests", async () => {
    const { owner, forker, upstream, fork, first } = await makeFork();
    const next = await addCommit(owner, upstream, first, { ...BASE, c: "c\n" });
    const answers = await Promise.all([1, 2, 3].map(() => merge(forker, fork)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses).toContain(200);
    expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([]);
    expect(await headOf(fork)).toBe(next);
    expect(await eventsOf(fork)).toHaveLength(2);
    await readAllObjects(await placeOf(fork.id));
  });

  it("takes the large files that new commits point at, and no others", async () => {
    const { owner, forker, upstream, fork, first } = await makeFork();
    const [file, other] = [makeLargeFile(freshName("large")), makeLargeFile(freshName("other"))];
    for (const each of [file, other]) await upload(owner, upstream, each);
    await addCommit(owner, upstream, first, { ...BASE, "large.bin": pointerTo(file) });

    expect((await merge(forker, fork)).status).toBe(200);
    expect(await objectsOf(fork)).toMatchObject([{ oid: file.oid }]);
    expect((await fetchObject(fork, file.oid)).bytes).toEqual(file.bytes);
  });

  it("takes the branch of the same name, or the upstream's default branch for the default branch", async () => {
    const { owner, forker, upstream, fork, first } = await makeFork();
    const path = `/repos/${upstream.owner}/${upstream.name}`;
    await call("PATCH", `${path}/branches/main`, { as: owner, json: { name: "trunk" } });
    const history = new History();
    const next = history.commit({ files: { c: "c\n" }, parents: [first] });
    await pushHistory(owner, upstream, history, [
      { ref: "refs/heads/trunk", old: first, new: next },
    ]);
    const branches = `/repos/${fork.owner}/${fork.name}/branches`;
    await call("POST", branches, { as: forker, json: { new_branch_name: "own" } });

    expect((await merge(forker, fork, { branch: "own" })).status).toBe(404);
    expect((await merge(forker, fork, { branch: "none" })).status).toBe(404);
    expect((await merge(forker, fork, {})).body).toEqual({ merge_type: "fast-forward" });
    expect([await headOf(fork), await headOf(fork, "own")]).toEqual([next, first]);
  });

  it("needs write access to the fork and read access to the upstream", async () => {
    const { owner, forker, upstream, fork, first } = await makeFork({ isPrivate: true });
    await addCommit(owner, upstream, first, { ...BASE, c: "c\n" });
    const [reader, writer, stranger] = [await make.user(), await make.user(), await make.user()];
    const [row] = await db.select().from(repositories).where(eq(repositories.id, fork.id));
    if (!row) throw new Error("the fork is not there");
    await make.collaborator(row, reader, 1);
    await make.collaborator(row, writer, 2);

    expect((await merge(reader, fork)).status).toBe(403);
    expect((await merge(stranger, fork)).status).toBe(404);
    // They may write to the fork, and do not see what it was forked from.
    expect((await merge(writer, fork)).status).toBe(404);
    const path = `/repos/${fork.owner}/${fork.name}/merge-upstream`;
    expect((await call("POST", path, { json: {} })).status).toBe(404);
    const token = await make.token(forker, { scopes: "read:repository" });
    expect((await call("POST", path, { token, json: {} })).status).toBe(403);
    expect(await headOf(fork)).toBe(first);

    await db.update(repositories).set({ archivedAt: 1 }).where(eq(repositories.id, fork.id));
    expect((await merge(forker, fork)).status).toBe(423);
    expect(await headOf(fork)).toBe(first);
  });

  it("refuses a repository that is no fork, or whose upstream is gone", async () => {
    const { owner, forker, upstream, fork } = await makeFork();
    const own: Fork = { id: upstream.id, owner: owner.name, name: upstream.name };
    expect((await merge(owner, own)).status).toBe(400);
    await call("DELETE", `/repos/${owner.name}/${upstream.name}`, { as: owner });
    expect((await merge(forker, fork)).status).toBe(400);
    expect((await merge(forker, fork, { branch: "b".repeat(256) })).status).toBe(422);
    expect((await merge(forker, fork, { ff_only: "yes" })).status).toBe(422);
  });
});
