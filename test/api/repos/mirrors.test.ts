import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { auditEvents, repositories } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsOf, typesOf } from "../../support/events.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import {
  makePullMirror,
  makePushMirror,
  NOWHERE,
  pullMirrorOf,
  pushMirrorsOf,
} from "../../support/mirror-rows.ts";
import { SEALING_KEYS } from "../../support/sealing.ts";
import { doorsWith } from "../../support/service.ts";
import { TEST_SETTINGS } from "../../support/system.ts";

const pathOf = (repo: TestRepo) => `/repos/${repo.owner}/${repo.name}`;
const visitSealing = doorsWith({ ...TEST_SETTINGS, SEALING_KEYS });
const visitWithoutMirrors = doorsWith({ MIRROR_ENABLED: "false" });

async function makeRepo(): Promise<[TestRepo, TestUser]> {
  const owner = await make.user();
  return [await make.repo(owner), owner];
}

/** Adds a push mirror with the sealing service. */
const add = (repo: TestRepo, as: TestUser, json: object) =>
  visitSealing("POST", `/api/v1${pathOf(repo)}/push_mirrors`, { as, json });

describe("POST /repos/{owner}/{repo}/push_mirrors", () => {
  it("adds a push mirror whose address and answers have no credentials", async () => {
    const [repo, owner] = await makeRepo();

    const { status, body } = await add(repo, owner, {
      remote_address: "http://bot:hunter2@127.0.0.1:48999/a/b.git",
      interval: "8h",
      sync_on_commit: true,
    });

    expect({ status, body }).toEqual({
      status: 200,
      body: {
        repo_name: repo.name,
        remote_name: expect.stringMatching(/^remote_mirror_[0-9a-f]{10}$/),
        remote_address: "http://127.0.0.1:48999/a/b.git",
        created: expect.any(String),
        last_update: "1970-01-01T00:00:00Z",
        last_error: "",
        interval: "8h0m0s",
        sync_on_commit: true,
        state: "ok",
        next_attempt_at: expect.any(String),
      },
    });
    const [row] = await pushMirrorsOf(repo);
    expect(row).toMatchObject({
      username: "bot",
      approverId: owner.id,
      intervalSeconds: 28_800,
      sealedPassword: expect.stringMatching(/^1\.test\./),
    });
    expect(await eventsOf(repo)).toMatchObject([
      { type: "push_mirror.added", payload: { remoteName: body.remote_name } },
    ]);
    const audit = await db.select().from(auditEvents).where(eq(auditEvents.repoId, repo.id));
    expect(audit).toMatchObject([
      { kind: "push_mirror.added", target: body.remote_name, details: { host: "127.0.0.1:48999" } },
    ]);
    expect(JSON.stringify([body, await eventsOf(repo), audit])).not.toContain("hunter2");
  });

  it("takes the credentials of the fields, and needs a key only for a password", async () => {
    const [repo, owner] = await makeRepo();
    const json = { remote_address: NOWHERE, interval: "0" };

    expect(
      await add(repo, owner, { ...json, remote_username: "u", remote_password: "p" }),
    ).toMatchObject({ status: 200, body: { interval: "0s", next_attempt_at: null } });
    expect(await call("POST", `${pathOf(repo)}/push_mirrors`, { as: owner, json })).toMatchObject({
      status: 200,
    });
    const unsealed = { ...json, remote_password: "p" };
    expect(
      await call("POST", `${pathOf(repo)}/push_mirrors`, { as: owner, json: unsealed }),
    ).toMatchObject({ status: 403 });
    expect(await pushMirrorsOf(repo)).toMatchObject([
      { username: "u", dueAt: null },
      { username: "", sealedPassword: null },
    ]);
  });

  it.each([
    [{ remote_address: NOWHERE, interval: "1m" }, 400, /at least 10m0s/],
    [{ remote_address: NOWHERE, interval: "-1h" }, 400, /at least 10m0s/],
    [{ remote_address: NOWHERE, interval: "soon" }, 400, /^time: invalid duration "soon"$/],
    [{ remote_address: NOWHERE }, 400, /^time: invalid duration ""$/],
    [{ interval: "8h" }, 400, /^Invalid Url $/],
    [{ remote_address: "nonsense", interval: "8h" }, 400, /^Invalid Url $/],
    [{ remote_address: "/tmp/x", interval: "8h" }, 400, /^Invalid Url $/],
    [{ remote_address: "file:///etc", interval: "8h" }, 400, /^Invalid Url $/],
    [
      { remote_address: "ssh://git@127.0.0.1/x.git", interval: "8h" },
      400,
      /^Invalid mirror protocol$/,
    ],
    [{ remote_address: "ext::sh -c id", interval: "8h" }, 400, /^Invalid Url $/],
    [{ remote_address: "http://10.0.0.1/x.git", interval: "8h" }, 422, /disallowed hosts/],
    [{ remote_address: "http://169.254.169.254/x.git", interval: "8h" }, 422, /disallowed hosts/],
    [{ remote_address: "http://[::ffff:10.0.0.1]/x.git", interval: "8h" }, 422, /disallowed hosts/],
    [{ remote_address: 7, interval: "8h" }, 422, /remote_address/],
  ])("refuses %j", async (json, status, message) => {
    const [repo, owner] = await makeRepo();

    const answer = await add(repo, owner, json);

    expect(answer).toMatchObject({ status, body: { message: expect.stringMatching(message) } });
    expect(await pushMirrorsOf(repo)).toEqual([]);
    expect(await eventsOf(repo)).toEqual([]);
  });

  it("refuses narrowed tokens, archived repositories, and where mirrors are off", async () => {
    const [repo, owner] = await makeRepo();
    const json = { remote_address: NOWHERE, interval: "8h" };
    const path = `${pathOf(repo)}/push_mirrors`;
    const bound = await make.token(owner, { repos: [repo] });
    const narrow = await make.token(owner, { scopes: "public-only,write:repository" });

    expect(await call("POST", path, { token: bound, json })).toMatchObject({ status: 403 });
    expect(await call("POST", path, { token: narrow, json })).toMatchObject({ status: 403 });
    expect(await visitWithoutMirrors("POST", `/api/v1${path}`, { as: owner, json })).toMatchObject({
      status: 400,
      body: { message: "Mirror feature is disabled" },
    });
    await db.update(repositories).set({ archivedAt: 1 }).where(eq(repositories.id, repo.id));
    expect(await call("POST", path, { as: owner, json })).toMatchObject({ status: 423 });
    expect(await pushMirrorsOf(repo)).toEqual([]);
    expect(await eventsOf(repo)).toEqual([]);
  });

  it("refuses more than a hundred of a repository", async () => {
    const [repo, owner] = await makeRepo();
    for (let count = 0; count < 100; count++) await makePushMirror(repo);

    const answer = await add(repo, owner, { remote_address: NOWHERE, interval: "8h" });

    expect(answer).toMatchObject({ status: 422, body: { message: /100 push mirrors/ } });
    expect(await pushMirrorsOf(repo)).toHaveLength(100);
    expect(await eventsOf(repo)).toEqual([]);
  });
});

describe("GET and DELETE /repos/{owner}/{repo}/push_mirrors", () => {
  it("lists them oldest first, in pages with a total", async () => {
    const [repo, owner] = await makeRepo();
    const [first, second] = [await makePushMirror(repo), await makePushMirror(repo)];
    const path = `${pathOf(repo)}/push_mirrors`;

    const all = await call("GET", path, { as: owner });
    expect(all.body).toMatchObject([
      { remote_name: first.remoteName },
      { remote_name: second.remoteName },
    ]);
    const page = await call("GET", `${path}?page=2&limit=1`, { as: owner });
    expect(page.body).toMatchObject([{ remote_name: second.remoteName }]);
    expect(page.headers.get("X-Total-Count")).toBe("2");
  });

  it("finds one only in its own repository", async () => {
    const [repo, owner] = await makeRepo();
    const other = await make.repo(owner);
    const mirror = await makePushMirror(repo, { lastError: "no", state: "failing" });
    const below = (each: TestRepo) => `${pathOf(each)}/push_mirrors/${mirror.remoteName}`;

    expect(await call("GET", below(repo), { as: owner })).toMatchObject({
      status: 200,
      body: { last_error: "no", state: "failing" },
    });
    expect(await call("GET", below(other), { as: owner })).toMatchObject({ status: 404 });
    expect(await call("DELETE", below(other), { as: owner })).toMatchObject({ status: 404 });
    expect(await pushMirrorsOf(repo)).toHaveLength(1);
    expect(await eventsOf(other)).toEqual([]);

    expect(await call("DELETE", below(repo), { as: owner })).toMatchObject({ status: 204 });
    expect(await pushMirrorsOf(repo)).toEqual([]);
    expect(typesOf(await eventsOf(repo))).toEqual(["push_mirror.removed"]);
    expect(await call("DELETE", below(repo), { as: owner })).toMatchObject({ status: 404 });
  });

  it("is for administrators", async () => {
    const [repo] = await makeRepo();
    const mirror = await makePushMirror(repo);
    const writer = await make.user();
    await make.collaborator(repo, writer, 2);
    const path = `${pathOf(repo)}/push_mirrors`;

    for (const [method, below] of [
      ["GET", path],
      ["POST", path],
      ["GET", `${path}/${mirror.remoteName}`],
      ["DELETE", `${path}/${mirror.remoteName}`],
      ["POST", `${path}-sync`],
    ] as const) {
      const json = method === "POST" ? { json: {} } : {};
      expect((await call(method, below, { as: writer, ...json })).status).toBe(403);
      expect([401, 403]).toContain((await call(method, below, json)).status);
    }
    expect(await pushMirrorsOf(repo)).toHaveLength(1);
  });
});

describe("POST /repos/{owner}/{repo}/push_mirrors-sync", () => {
  it("makes all due, wakes paused ones, and puts the caller in charge of them", async () => {
    const [repo, owner] = await makeRepo();
    const other = await make.repo(owner);
    const untouched = await makePushMirror(other);
    await makePushMirror(repo, { state: "paused", failingSince: 5, approverId: 0 });
    await makePushMirror(repo, { state: "failing", failingSince: 5 });

    const answer = await call("POST", `${pathOf(repo)}/push_mirrors-sync`, { as: owner });

    expect(answer).toMatchObject({ status: 200, body: "" });
    const [paused, failing] = await pushMirrorsOf(repo);
    expect(paused).toMatchObject({ state: "failing", approverId: owner.id });
    expect(paused?.failingSince).toBeGreaterThan(5);
    expect(failing).toMatchObject({ state: "failing", failingSince: 5 });
    expect(await pushMirrorsOf(other)).toMatchObject([{ dueAt: untouched.dueAt }]);
  });
});

describe("POST /repos/{owner}/{repo}/mirror-sync", () => {
  it("answers 200 without a body, and makes the mirror due", async () => {
    const [repo, owner] = await makeRepo();
    await makePullMirror(repo, { state: "paused", failingSince: 5 });

    const answer = await call("POST", `${pathOf(repo)}/mirror-sync`, { as: owner });

    expect(answer).toMatchObject({ status: 200, body: "" });
    expect((await pullMirrorOf(repo)).state).toBe("failing");
  });

  it("refuses readers, other repositories, archived ones, and where mirrors are off", async () => {
    const [repo, owner] = await makeRepo();
    const plain = await make.repo(owner);
    const mirror = await makePullMirror(repo);
    const path = `${pathOf(repo)}/mirror-sync`;

    expect(await call("POST", path, { as: await make.user() })).toMatchObject({ status: 403 });
    expect(await call("POST", path)).toMatchObject({ status: 401 });
    expect(await call("POST", `${pathOf(plain)}/mirror-sync`, { as: owner })).toMatchObject({
      status: 400,
      body: { message: "Repository is not a mirror" },
    });
    expect(await visitWithoutMirrors("POST", `/api/v1${path}`, { as: owner })).toMatchObject({
      status: 400,
      body: { message: "Mirror feature is disabled" },
    });
    await db.update(repositories).set({ archivedAt: 1 }).where(eq(repositories.id, repo.id));
    expect(await call("POST", path, { as: owner })).toMatchObject({ status: 423 });
    expect((await pullMirrorOf(repo)).dueAt).toBe(mirror.dueAt);
  });

  it("a writer may ask, and only an administrator confirms", async () => {
    const [repo, owner] = await makeRepo();
    await makePullMirror(repo, { approverId: 0 });
    const writer = await make.user();
    await make.collaborator(repo, writer, 2);

    await call("POST", `${pathOf(repo)}/mirror-sync`, { as: writer });
    expect((await pullMirrorOf(repo)).approverId).toBe(0);
    await call("POST", `${pathOf(repo)}/mirror-sync`, { as: owner });
    expect((await pullMirrorOf(repo)).approverId).toBe(owner.id);
  });
});

describe("a mirror's record", () => {
  const SINCE = 1_700_000_000_000;

  it("shows its remote, its interval and its last synchronization", async () => {
    const [repo, owner] = await makeRepo();
    await makePullMirror(repo, { syncedAt: SINCE });

    const { body } = await call("GET", pathOf(repo), { as: owner });

    expect(body).toMatchObject({
      mirror: true,
      original_url: NOWHERE,
      mirror_interval: "8h0m0s",
      mirror_updated: "2023-11-14T22:13:20Z",
      mirror_status: { state: "ok", last_error: "", failing_since: null, parts: [] },
      allow_merge_commits: false,
      allow_manual_merge: true,
    });
  });

  it("shows its error to users who may write to it", async () => {
    const [repo, owner] = await makeRepo();
    await makePullMirror(repo);
    const failure = { reason: "it is gone", since: SINCE, nextAt: SINCE, isPaused: true };
    const mirror = { intervalSeconds: 600, syncedAt: null, parts: [], failure };
    await db
      .update(repositories)
      .set({ origin: { url: NOWHERE, mirror } })
      .where(eq(repositories.id, repo.id));
    const shown = { state: "paused", failing_since: "2023-11-14T22:13:20Z" };

    const own = await call("GET", pathOf(repo), { as: owner });
    const foreign = await call("GET", pathOf(repo), { as: await make.user() });

    expect(own.body.mirror_status).toMatchObject({ ...shown, last_error: "it is gone" });
    expect(foreign.body.mirror_status).toMatchObject({ ...shown, last_error: "" });
  });
});

describe("PATCH of a mirror", () => {
  const edit = (repo: TestRepo, as: TestUser, json: object) =>
    visitSealing("PATCH", `/api/v1${pathOf(repo)}`, { as, json });

  it("changes interval and pruning", async () => {
    const [repo, owner] = await makeRepo();
    await makePullMirror(repo, { attemptedAt: 1000 });

    const answer = await edit(repo, owner, { mirror_interval: "24h", enable_prune: false });

    expect(answer).toMatchObject({ status: 200, body: { mirror_interval: "24h0m0s" } });
    expect(await pullMirrorOf(repo)).toMatchObject({
      intervalSeconds: 86_400,
      isPruned: false,
      dueAt: 86_401_000,
    });
    expect(await edit(repo, owner, { mirror_interval: "0s" })).toMatchObject({
      body: { mirror_interval: "0s" },
    });
    expect((await pullMirrorOf(repo)).dueAt).toBeNull();
  });

  it("changes the remote with its credentials, by a person who answers for it", async () => {
    const [repo, owner] = await makeRepo();
    await makePullMirror(repo, { approverId: 0, sealedPassword: "1.test.former" });

    const answer = await edit(repo, owner, { mirror_address: "http://127.0.0.1:48999/new.git" });

    expect(answer).toMatchObject({
      status: 200,
      body: { original_url: "http://127.0.0.1:48999/new.git" },
    });
    expect(await pullMirrorOf(repo)).toMatchObject({
      address: "http://127.0.0.1:48999/new.git",
      sealedPassword: null,
      approverId: owner.id,
    });
    await edit(repo, owner, { mirror_username: "u", mirror_password: "hunter2" });
    expect(await pullMirrorOf(repo)).toMatchObject({
      address: "http://127.0.0.1:48999/new.git",
      username: "u",
      sealedPassword: expect.stringMatching(/^1\.test\./),
    });
    expect(JSON.stringify(await eventsOf(repo))).not.toContain("hunter2");
  });

  it.each([
    [{ mirror_interval: "x" }, /time: invalid duration "x"/],
    [{ mirror_interval: "1m" }, /at least 10m0s/],
    [{ mirror_address: "http://10.0.0.1/x.git" }, /disallowed hosts/],
    [{ mirror_username: "u" }, /changed together/],
    [{ archived: true }, /repo is a mirror/],
  ])("refuses %j", async (json, message) => {
    const [repo, owner] = await makeRepo();
    const before = await makePullMirror(repo);

    expect(await edit(repo, owner, json)).toMatchObject({
      status: 422,
      body: { message: expect.stringMatching(message) },
    });
    expect(await pullMirrorOf(repo)).toEqual(before);
    expect(await eventsOf(repo)).toEqual([]);
  });

  it("makes it an ordinary repository", async () => {
    const [repo, owner] = await makeRepo();
    await makePullMirror(repo);

    const answer = await edit(repo, owner, { mirror: false });

    expect(answer).toMatchObject({
      status: 200,
      body: {
        mirror: false,
        original_url: NOWHERE,
        mirror_interval: "",
        allow_merge_commits: true,
      },
    });
    expect(answer.body.mirror_status).toBeUndefined();
    await expect(pullMirrorOf(repo)).rejects.toThrow("got 0");
    expect(typesOf(await eventsOf(repo))).toEqual(["repository.mirror_ended", "repository.edited"]);
  });

  it("ignores the settings of mirrors on other repositories, which none of them becomes", async () => {
    const [repo, owner] = await makeRepo();

    expect(await edit(repo, owner, { mirror_interval: "x", enable_prune: true })).toMatchObject({
      status: 200,
      body: { mirror: false },
    });
    expect(await edit(repo, owner, { mirror: true })).toMatchObject({ status: 422 });
    expect(await eventsOf(repo)).toEqual([]);
  });
});
