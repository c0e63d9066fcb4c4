import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import type { Ctx } from "../../../../src/context.ts";
import { pullMirrors, repositories, users } from "../../../../src/db/schema/index.ts";
import { syncPullMirror } from "../../../../src/domain/exchange/mirrors/pull/sync-pull-mirror.ts";
import { sendDueMirrors } from "../../../../src/domain/exchange/mirrors/send-due-mirrors.ts";
import { call } from "../../../support/call.ts";
import { db } from "../../../support/db.ts";
import { eventsOf, typesOf } from "../../../support/events.ts";
import { make, type TestRepo } from "../../../support/make.ts";
import { makePullMirror, pullMirrorOf } from "../../../support/mirror-rows.ts";
import { commitsOn, type GitRemote, makeRemote } from "../../../support/remotes.ts";
import { systemCtx } from "../../../support/system.ts";

/** A job, with a queue that takes no messages: the test runs the jobs. */
const jobCtx = (settings: Record<string, string> = {}, sent: object[] = []) =>
  systemCtx(
    {
      REMOTE_JOBS: {
        sendBatch: (messages: Iterable<{ body: object }>) => {
          sent.push(...[...messages].map(({ body }) => body));
          return Promise.resolve();
        },
      } as unknown as Env["REMOTE_JOBS"],
    },
    Date.now(),
    settings,
  );

async function makeMirrorOf(
  remote: GitRemote,
  door?: string,
): Promise<{ repo: TestRepo; sync: () => Promise<void> }> {
  const owner = await make.user();
  const repo = await make.repo(owner);
  await makePullMirror(repo, { address: remote.url(door), dueAt: 1 });
  const sync = async (): Promise<void> => {
    await db.update(pullMirrors).set({ dueAt: 1 }).where(eq(pullMirrors.repoId, repo.id));
    await syncPullMirror(jobCtx(), repo.id);
  };
  return { repo, sync };
}

async function makeHistory(): Promise<GitRemote> {
  const remote = await makeRemote();
  await remote.git(["fast-import", "--quiet"], commitsOn("main", 3) + commitsOn("topic", 2));
  return remote;
}

const recordOf = async (repo: TestRepo) =>
  (await call("GET", `/repos/${repo.owner}/${repo.name}`)).body;
const branchesOf = async (repo: TestRepo): Promise<string[]> => {
  const { body } = await call("GET", `/repos/${repo.owner}/${repo.name}/branches`);
  return body.map(({ name }: { name: string }) => name).toSorted();
};

describe("syncPullMirror", () => {
  it("follows the remote: new commits, lost branches, forced pushes, another default branch", async () => {
    const remote = await makeHistory();
    const { repo, sync } = await makeMirrorOf(remote);

    await sync();
    expect(await branchesOf(repo)).toEqual(["main", "topic"]);
    expect(typesOf(await eventsOf(repo))).toEqual([]);
    expect(await recordOf(repo)).toMatchObject({
      empty: false,
      default_branch: "main",
      mirror_status: { state: "ok" },
    });

    await remote.git(["fast-import", "--quiet"], commitsOn("main", 2, 3, "refs/heads/main^0"));
    await remote.git(["update-ref", "-d", "refs/heads/topic"]);
    await remote.git(["fast-import", "--quiet"], commitsOn("next", 1));
    await remote.git(["symbolic-ref", "HEAD", "refs/heads/next"]);
    await sync();
    expect(await branchesOf(repo)).toEqual(["main", "next"]);
    expect(await recordOf(repo)).toMatchObject({ default_branch: "next" });
    expect(typesOf(await eventsOf(repo))).toEqual(["repository.pushed"]);

    await remote.git(["fast-import", "--quiet", "--force"], commitsOn("main", 1, 50));
    await sync();
    const { body } = await call("GET", `/repos/${repo.owner}/${repo.name}/branches/main`);
    expect(body.commit.id).toBe((await remote.refs())["refs/heads/main"]);
  });

  it("keeps what the remote lost if it is not to be pruned", async () => {
    const remote = await makeHistory();
    const { repo, sync } = await makeMirrorOf(remote);
    await db.update(pullMirrors).set({ isPruned: false }).where(eq(pullMirrors.repoId, repo.id));
    await sync();

    await remote.git(["update-ref", "-d", "refs/heads/topic"]);
    await sync();

    expect(await branchesOf(repo)).toEqual(["main", "topic"]);
  });

  it("asks twice and writes nothing where nothing is new", async () => {
    const remote = await makeHistory();
    const { repo, sync } = await makeMirrorOf(remote);
    await sync();
    await remote.journal();
    const before = await eventsOf(repo);

    await sync();

    expect(await remote.journal()).toHaveLength(2);
    expect(await eventsOf(repo)).toEqual(before);
    expect((await pullMirrorOf(repo)).dueAt).toBeGreaterThan(Date.now());
  });

  it("records its first failure and its recovery, and nothing in between", async () => {
    const remote = await makeHistory();
    const { repo, sync } = await makeMirrorOf(remote);
    await sync();
    await remote.git(["config", "http.uploadpack", "false"]);

    await sync();
    await sync();
    expect(await eventsOf(repo)).toMatchObject([
      { type: "mirror.failed", payload: { isPaused: false, reason: expect.any(String) } },
    ]);
    const failing = await pullMirrorOf(repo);
    expect(failing).toMatchObject({ state: "failing", failureCount: 2 });
    expect(failing.lastError).not.toBe("");
    expect(await recordOf(repo)).toMatchObject({ mirror_status: { state: "failing" } });
    expect(await branchesOf(repo)).toEqual(["main", "topic"]);

    await remote.git(["config", "http.uploadpack", "true"]);
    await sync();
    expect(typesOf(await eventsOf(repo))).toEqual(["mirror.failed", "mirror.recovered"]);
    expect(await pullMirrorOf(repo)).toMatchObject({
      state: "ok",
      failureCount: 0,
      failingSince: null,
      lastError: "",
    });
  });

  it("waits after a fault of the service itself as after one of the remote, and reveals no details", async () => {
    const remote = await makeHistory();
    const { repo } = await makeMirrorOf(remote);
    const git = {
      repository: () => {
        throw new TypeError("of the inside");
      },
    } as unknown as Ctx["git"];
    const before = Date.now();

    await syncPullMirror({ ...jobCtx(), git }, repo.id);

    const mirror = await pullMirrorOf(repo);
    expect(mirror).toMatchObject({
      state: "failing",
      lastError: "internal error",
      leasedUntil: 0,
    });
    expect(mirror.dueAt).toBeGreaterThanOrEqual(before + 600_000);
    expect(typesOf(await eventsOf(repo))).toEqual(["mirror.failed"]);
    expect(await recordOf(repo)).toMatchObject({ empty: true });
  });

  it("is paused after days of failure, and no schedule wakes it", async () => {
    const remote = await makeRemote();
    const { repo, sync } = await makeMirrorOf(remote);
    await remote.git(["config", "http.uploadpack", "false"]);
    await sync();
    const since = Date.now() - 6 * 24 * 3600_000;
    await db
      .update(pullMirrors)
      .set({ failingSince: since })
      .where(eq(pullMirrors.repoId, repo.id));

    await sync();

    expect(await pullMirrorOf(repo)).toMatchObject({ state: "paused", dueAt: null });
    expect(await eventsOf(repo)).toMatchObject([
      { type: "mirror.failed", payload: { isPaused: false } },
      { type: "mirror.failed", payload: { isPaused: true, nextAt: null } },
    ]);
    const sent: object[] = [];
    await sendDueMirrors(jobCtx({}, sent));
    expect(sent).not.toContainEqual({ kind: "pull-mirror", repoId: repo.id });
  });

  it("does nothing that another job does, and follows what was asked for meanwhile", async () => {
    const remote = await makeHistory();
    const { repo } = await makeMirrorOf(remote);

    await Promise.all([1, 2, 3].map(() => syncPullMirror(jobCtx(), repo.id)));

    expect((await remote.journal()).filter(({ path }) => path.includes("info/refs"))).toHaveLength(
      1,
    );
    expect(await branchesOf(repo)).toEqual(["main", "topic"]);
  });

  it("takes up where a job died, once its lease is over", async () => {
    const remote = await makeHistory();
    const { repo } = await makeMirrorOf(remote);
    const lease = { leasedUntil: Date.now() + 30_000, dueAt: 1 };
    await db.update(pullMirrors).set(lease).where(eq(pullMirrors.repoId, repo.id));

    await syncPullMirror(jobCtx(), repo.id);
    expect(await remote.journal()).toEqual([]);

    await db
      .update(pullMirrors)
      .set({ leasedUntil: Date.now() - 1 })
      .where(eq(pullMirrors.repoId, repo.id));
    await syncPullMirror(jobCtx(), repo.id);
    expect(await branchesOf(repo)).toEqual(["main", "topic"]);
  });

  it("does not ask for somebody who lost the repository", async () => {
    const remote = await makeHistory();
    const { repo, sync } = await makeMirrorOf(remote);
    const former = await make.user();
    await db
      .update(pullMirrors)
      .set({ approverId: former.id })
      .where(eq(pullMirrors.repoId, repo.id));

    await sync();

    expect(await remote.journal()).toEqual([]);
    expect(await pullMirrorOf(repo)).toMatchObject({
      state: "paused",
      lastError: expect.stringContaining("may no longer administer"),
    });
    await db.update(users).set({ isAdmin: true }).where(eq(users.id, former.id));
    await sync();
    expect(await pullMirrorOf(repo)).toMatchObject({ state: "ok" });
  });

  it("does nothing where mirrors are off", async () => {
    const remote = await makeHistory();
    const { repo } = await makeMirrorOf(remote);

    await syncPullMirror(jobCtx({ MIRROR_ENABLED: "false" }), repo.id);

    expect(await remote.journal()).toEqual([]);
    expect(await pullMirrorOf(repo)).toMatchObject({ attemptedAt: null });
  });

  it("is over with its repository", async () => {
    const remote = await makeHistory();
    const { repo } = await makeMirrorOf(remote);
    await db.delete(repositories).where(eq(repositories.id, repo.id));

    await syncPullMirror(jobCtx(), repo.id);

    expect(await remote.journal()).toEqual([]);
  });
});
