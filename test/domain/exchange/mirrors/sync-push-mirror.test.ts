import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { pushMirrors } from "../../../../src/db/schema/index.ts";
import { syncPushMirror } from "../../../../src/domain/exchange/mirrors/push/sync-push-mirror.ts";
import { call } from "../../../support/call.ts";
import { db } from "../../../support/db.ts";
import { eventsOf } from "../../../support/events.ts";
import { make, type TestRepo, type TestUser } from "../../../support/make.ts";
import { makePushMirror, pushMirrorsOf } from "../../../support/mirror-rows.ts";
import { type GitRemote, makeRemote } from "../../../support/remotes.ts";
import { systemCtx } from "../../../support/system.ts";
import { drawConsequences } from "../../../support/consequences.ts";

const jobCtx = (sent: object[] = []) =>
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
  );

interface Mirrored {
  repo: TestRepo;
  owner: TestUser;
  mirrorId: number;
  sync: () => Promise<void>;
}

async function makeMirrored(remote: GitRemote, fields = {}): Promise<Mirrored> {
  const owner = await make.user();
  const repo = await make.repo(owner);
  await commit(repo, owner, "a.txt");
  const mirror = await makePushMirror(repo, { address: remote.url(), dueAt: 1, ...fields });
  const sync = async (): Promise<void> => {
    await db.update(pushMirrors).set({ dueAt: 1 }).where(eq(pushMirrors.id, mirror.id));
    await syncPushMirror(jobCtx(), mirror.id);
  };
  return { repo, owner, mirrorId: mirror.id, sync };
}

async function commit(repo: TestRepo, as: TestUser, path: string, json: object = {}) {
  const answer = await call("POST", `/repos/${repo.owner}/${repo.name}/contents/${path}`, {
    as,
    json: { content: btoa(path), ...json },
  });
  expect(answer.status).toBe(201);
}

async function branchOids(repo: TestRepo, as: TestUser): Promise<Record<string, string>> {
  const { body } = await call("GET", `/repos/${repo.owner}/${repo.name}/branches`, { as });
  return Object.fromEntries(
    body.map(({ name, commit: { id } }: { name: string; commit: { id: string } }) => [
      `refs/heads/${name}`,
      id,
    ]),
  );
}

describe("syncPushMirror", () => {
  it("makes the remote equal: creates, forces and deletes", async () => {
    const remote = await makeRemote();
    const { repo, owner, sync } = await makeMirrored(remote);
    await commit(repo, owner, "b.txt", { new_branch: "topic" });

    await sync();
    expect(await remote.refs()).toEqual(await branchOids(repo, owner));
    expect(await pushMirrorsOf(repo)).toMatchObject([{ state: "ok", lastError: "" }]);

    await remote.git(["update-ref", "refs/heads/foreign", "refs/heads/main"]);
    await call("DELETE", `/repos/${repo.owner}/${repo.name}/branches/topic`, { as: owner });
    await commit(repo, owner, "c.txt");
    await sync();
    expect(await remote.refs()).toEqual(await branchOids(repo, owner));
    await remote.git(["fsck", "--strict"]);
  });

  it("shows what the remote refuses", async () => {
    const remote = await makeRemote();
    await remote.git(["config", "receive.denyDeletes", "true"]);
    const { repo, owner, sync } = await makeMirrored(remote);
    await commit(repo, owner, "b.txt", { new_branch: "topic" });
    await sync();
    await call("DELETE", `/repos/${repo.owner}/${repo.name}/branches/topic`, { as: owner });

    await sync();

    const [mirror] = await pushMirrorsOf(repo);
    expect(mirror).toMatchObject({ state: "failing" });
    expect(mirror?.lastError).toMatch(/refs\/heads\/topic \(deletion prohibited\)/);
    expect((await eventsOf(repo)).at(-1)).toMatchObject({
      type: "mirror.failed",
      payload: { remoteName: mirror?.remoteName, isPaused: false },
    });
    const shown = await call("GET", `/repos/${repo.owner}/${repo.name}/push_mirrors`, {
      as: owner,
    });
    expect(shown.body).toMatchObject([{ last_error: mirror?.lastError, state: "failing" }]);
  });

  it("pushes nothing for somebody who lost the repository", async () => {
    const remote = await makeRemote();
    const former = await make.user();
    const { repo, sync } = await makeMirrored(remote, { approverId: former.id });

    await sync();

    expect(await remote.journal()).toEqual([]);
    expect(await pushMirrorsOf(repo)).toMatchObject([{ state: "paused" }]);
  });

  it("follows each push to branches and tags if it syncs on commit", async () => {
    const remote = await makeRemote();
    const following = await makeMirrored(remote, {
      syncsOnCommit: true,
      intervalSeconds: 0,
      dueAt: null,
    });
    const other = await makePushMirror(following.repo, { dueAt: null });
    await drawConsequences();

    expect(await pushMirrorsOf(following.repo)).toMatchObject([
      { id: following.mirrorId, dueAt: expect.any(Number) },
      { id: other.id, dueAt: null },
    ]);
    await syncPushMirror(jobCtx(), following.mirrorId);
    expect(await remote.refs()).toEqual(await branchOids(following.repo, following.owner));
    expect(await pushMirrorsOf(following.repo)).toMatchObject([{ dueAt: null }, {}]);
  });

  it("goes on at once after what was asked for while it worked", async () => {
    const remote = await makeRemote();
    const { repo, mirrorId } = await makeMirrored(remote, { intervalSeconds: 0 });
    const sent: object[] = [];
    const ctx = jobCtx(sent);
    const isOne = eq(pushMirrors.id, mirrorId);
    let askedAt = 0;
    const outgoing = {
      open: async (...request: Parameters<typeof ctx.outgoing.open>) => {
        askedAt = Date.now();
        await db.update(pushMirrors).set({ dueAt: askedAt }).where(isOne);
        return ctx.outgoing.open(...request);
      },
    } as typeof ctx.outgoing;

    await syncPushMirror({ ...ctx, outgoing }, mirrorId);

    expect(await pushMirrorsOf(repo)).toMatchObject([
      { state: "ok", dueAt: askedAt, leasedUntil: 0, syncedAt: expect.any(Number) },
    ]);
    expect(sent).toEqual([{ kind: "push-mirror", mirrorId }]);
  });
});
