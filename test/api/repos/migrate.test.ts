import { and, eq } from "drizzle-orm";
import { describe, expect, inject, it } from "vitest";

import {
  auditEvents,
  events,
  imports,
  pullMirrors,
  repositories,
} from "../../../src/db/schema/index.ts";
import { advanceImport } from "../../../src/domain/exchange/imports/advance-import.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { commitsOn, GitRemote, makeRemote } from "../../support/remotes.ts";
import { SEALING_KEYS } from "../../support/sealing.ts";
import { serviceWith } from "../../support/service.ts";
import { systemCtx } from "../../support/system.ts";

/** The service whose jobs run at once, with a key to seal credentials. */
const SETTINGS = { SEALING_KEYS };
const jobs = {
  sendBatch: (messages: { body: { kind: string; importId: number } }[]) => {
    for (const { body } of messages) {
      void advanceImport(systemCtx({ REMOTE_JOBS: silent }, Date.now(), SETTINGS), body.importId);
    }
    return Promise.resolve();
  },
} as never;
const silent = { sendBatch: () => Promise.resolve() } as never;
const callSealing = serviceWith(SETTINGS, { REMOTE_JOBS: jobs });

async function makeSource(): Promise<GitRemote> {
  const remote = await makeRemote();
  await remote.git(["fast-import", "--quiet"], commitsOn("trunk", 3));
  await remote.git(["tag", "v1", "trunk~1"]);
  await remote.git(["symbolic-ref", "HEAD", "refs/heads/trunk"]);
  return remote;
}

const migrate = (as: TestUser, json: object) => callSealing("POST", "/repos/migrate", { as, json });

/** All that a migration may write for an owner. */
const writtenFor = async (owner: { id: number }) => ({
  repos: (await db.select().from(repositories).where(eq(repositories.ownerId, owner.id))).length,
  imports: (await db.select().from(imports).where(eq(imports.doerId, owner.id))).length,
  events: (await db.select().from(events).where(eq(events.ownerId, owner.id))).length,
  audit: (await db.select().from(auditEvents).where(eq(auditEvents.ownerId, owner.id))).length,
});
const NOTHING = { repos: 0, imports: 0, events: 0, audit: 0 };

describe("POST /repos/migrate", () => {
  it("takes a git repository over", async () => {
    const owner = await make.user();
    const remote = await makeSource();
    const name = freshName("moved");

    const { status, body } = await call("POST", "/repos/migrate", {
      as: owner,
      json: { clone_addr: remote.url(), repo_name: name, description: "Moved", private: true },
    });

    expect({ status, body }).toMatchObject({
      status: 201,
      body: {
        name,
        owner: { login: owner.name },
        description: "Moved",
        private: true,
        empty: false,
        mirror: false,
        default_branch: "trunk",
        original_url: remote.url(),
      },
    });
    expect(body.migration).toBeUndefined();
    const branches = await call("GET", `/repos/${owner.name}/${name}/branches`, { as: owner });
    expect(branches.body).toMatchObject([
      { name: "trunk", commit: { id: await remote.git(["rev-parse", "trunk"]) } },
    ]);
    const kinds = await db
      .select({ type: events.type })
      .from(events)
      .where(eq(events.ownerId, owner.id));
    expect(kinds.map(({ type }) => type)).toEqual(["repository.created", "migration.finished"]);
  });

  it("makes a mirror, whose next synchronization is due after its interval", async () => {
    const owner = await make.user();
    const remote = await makeSource();
    const name = freshName("mirror");

    const { status, body } = await migrate(owner, {
      clone_addr: remote.url(),
      repo_name: name,
      mirror: true,
      mirror_interval: "12h0m0s",
      issues: true,
    });

    expect({ status, body }).toMatchObject({
      status: 201,
      body: { mirror: true, mirror_interval: "12h0m0s", has_pull_requests: false },
    });
    const [row] = await db.select().from(pullMirrors).where(eq(pullMirrors.repoId, body.id));
    expect(row).toMatchObject({ intervalSeconds: 43_200, approverId: owner.id, parts: [] });
    expect(row?.dueAt).toBeGreaterThan(Date.now() + 43_000_000);
    expect(row?.syncedAt).not.toBeNull();
  });

  it("sends credentials, and shows, logs and records none", async () => {
    const owner = await make.user();
    const remote = await makeSource();
    const name = freshName("secret");

    const { status, body } = await migrate(owner, {
      clone_addr: remote.url("auth"),
      repo_name: name,
      auth_username: "user",
      auth_password: "s3cret, püre",
    });

    expect({ status, empty: body.empty }).toEqual({ status: 201, empty: false });
    const migration = await call("GET", `/repos/${owner.name}/${name}/migration`, { as: owner });
    const recorded = await db.select().from(events).where(eq(events.ownerId, owner.id));
    const noted = await db.select().from(auditEvents).where(eq(auditEvents.ownerId, owner.id));
    const [repo] = await db.select().from(repositories).where(eq(repositories.id, body.id));
    const [row] = await db.select().from(imports).where(eq(imports.repoId, body.id));
    for (const text of [body, migration.body, recorded, noted, repo, row].map((each) =>
      JSON.stringify(each),
    )) {
      expect(text).not.toMatch(/s3cret|czNjcmV0/);
    }
    // The credentials go when they are needed no more.
    expect(row).toMatchObject({ state: "done", sealedPassword: null, username: "" });
  });

  it("removes a migration that fails at once, and reports why", async () => {
    const owner = await make.user();
    const remote = await makeSource();
    const cases: [object, string | RegExp][] = [
      [{ clone_addr: new GitRemote("nothing.git").url() }, /^Authentication failed: /],
      [{ clone_addr: remote.url("auth") }, /^Authentication failed: /],
      [
        { clone_addr: remote.url("auth"), auth_username: "user", auth_password: "hunter2" },
        /^Authentication failed: /,
      ],
      [{ clone_addr: "http://127.0.0.1:48999/a/b.git" }, /^Migration failed: /],
      [{ clone_addr: `${inject("receivers")[0]}/page` }, /^Authentication failed: /],
    ];
    for (const [fields, words] of cases) {
      const name = freshName("failing");
      const { status, body } = await migrate(owner, { repo_name: name, ...fields });

      expect({ status, message: body.message }, JSON.stringify(fields)).toEqual({
        status: 422,
        message: expect.stringMatching(words),
      });
      expect(body.message).not.toContain("hunter2");
      expect(await writtenFor(owner)).toMatchObject({ repos: 0, imports: 0 });
    }
  });

  it.each([
    [{ clone_addr: "nonsense" }, "You are not allowed to import local repositories."],
    [{ clone_addr: "/etc" }, "You are not allowed to import local repositories."],
    [{ clone_addr: "file:///etc" }, "You are not allowed to import local repositories."],
    [
      { clone_addr: "ssh://git@127.0.0.1/x.git" },
      "migration/cloning from '127.0.0.1' is not allowed: the provided url protocol is not allowed",
    ],
    [{ clone_addr: "http://10.0.0.1/x.git" }, "You can not import from disallowed hosts."],
    [{ clone_addr: "http://169.254.169.254/x" }, "You can not import from disallowed hosts."],
    [{ clone_addr: "http://[::ffff:10.0.0.1]/x" }, "You can not import from disallowed hosts."],
    [{ clone_addr: "http://x.example/\\@10.0.0.1/a" }, "The provided URL is invalid."],
    [{ lfs_endpoint: "http://10.0.0.1/lfs" }, "You can not import from disallowed hosts."],
    [{ lfs_endpoint: "/etc" }, "The LFS endpoint is not valid."],
    [{ mirror: true, mirror_interval: "often" }, 'time: invalid duration "often"'],
    [
      { mirror: true, mirror_interval: "1m" },
      "the interval of a mirror must be at least 10m0s, or 0",
    ],
    [{ repo_owner: "nobody-at-all" }, "user does not exist [uid: 0, name: nobody-at-all]"],
    [{ uid: 99_999_999 }, "user does not exist [uid: 99999999, name: ]"],
    [{ repo_name: "x.wiki" }, "name pattern is not allowed [pattern: *.wiki]"],
    [
      { repo_name: "a b" },
      "[repo_name]: must consist of ASCII letters, digits, dashes, dots and underscores",
    ],
  ])("refuses %j with 422, and writes nothing", async (fields, message) => {
    const owner = await make.user();

    const { status, body } = await migrate(owner, {
      clone_addr: "http://127.0.0.1:48999/a/b.git",
      repo_name: freshName("refused"),
      ...fields,
    });

    expect({ status, message: body.message }).toEqual({ status: 422, message });
    expect(await writtenFor(owner)).toEqual(NOTHING);
  });

  it("refuses a name that exists, and writes nothing", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);

    const { status, body } = await migrate(owner, {
      clone_addr: "http://127.0.0.1:48999/a/b.git",
      repo_name: repo.name.toUpperCase(),
    });

    expect({ status, message: body.message }).toEqual({
      status: 409,
      message: "The repository with the same name already exists.",
    });
    expect(await writtenFor(owner)).toEqual({ ...NOTHING, repos: 1 });
  });

  it("refuses owners above their limit, with the field's words", async () => {
    const owner = await make.user({ repoCountMax: 1 });
    await make.repo(owner);

    const { status, body } = await migrate(owner, {
      clone_addr: "http://127.0.0.1:48999/a/b.git",
      repo_name: freshName("refused"),
    });

    expect({ status, message: body.message }).toEqual({
      status: 422,
      message: "You have already reached your limit of 1 repositories.",
    });
    expect(await writtenFor(owner)).toEqual({ ...NOTHING, repos: 1 });
  });

  // SECURITY: checklist 4.11.
  it("refuses users who may not create repositories there, and reveals no hidden organization", async () => {
    const owner = await make.user();
    const stranger = await make.user();
    const org = await make.org([owner]);
    const hidden = await make.org([owner], { visibility: "private" });
    const sent = { clone_addr: "http://127.0.0.1:48999/a/b.git", repo_name: freshName("refused") };

    const answers = await Promise.all(
      [org.name, owner.name, hidden.name].map((repo_owner) =>
        migrate(stranger, { ...sent, repo_owner }),
      ),
    );
    const byId = await migrate(stranger, { ...sent, uid: hidden.id });

    expect(answers.map(({ status, body }) => [status, body.message])).toEqual([
      [403, "Given user is not owner of organization."],
      [403, "Given user is not an organization."],
      [422, `user does not exist [uid: 0, name: ${hidden.name}]`],
    ]);
    expect([byId.status, byId.body.message]).toEqual([
      422,
      `user does not exist [uid: ${hidden.id}, name: ]`,
    ]);
    expect(await writtenFor(stranger)).toEqual(NOTHING);
    expect(await db.select().from(repositories).where(eq(repositories.ownerId, org.id))).toEqual(
      [],
    );
  });

  // SECURITY: a migration must not attribute texts to other accounts.
  it("lets only administrators of the service map authors", async () => {
    const owner = await make.user();
    const other = await make.user();

    const { status, body } = await migrate(owner, {
      clone_addr: "http://127.0.0.1:48999/a/b.git",
      repo_name: freshName("refused"),
      authors: { somebody: other.name },
    });

    expect({ status, message: body.message }).toEqual({
      status: 403,
      message: "authors are mapped by administrators of the service",
    });
    expect(await writtenFor(owner)).toEqual(NOTHING);
  });

  // SECURITY: an import goes on with all rights of its account. A narrower token must not begin one
  // that does more.
  it("lets tokens begin no more than they may do themselves", async () => {
    const admin = await make.admin();
    const other = await make.user();
    const repo = await make.repo(admin);
    const input = {
      clone_addr: "http://127.0.0.1:48999/a/b",
      service: "gitea",
      issues: true,
      repo_name: freshName("refused"),
    };
    const authors = { somebody: other.name };
    const before = await writtenFor(admin);
    const start = async (fields: Parameters<typeof make.token>[1], json: object) => {
      const token = await make.token(admin, fields);
      const answer = await callSealing("POST", "/repos/migrate", { token, json });
      return [answer.status, answer.body.message];
    };

    expect([
      await start({ scopes: "write:repository" }, { ...input, authors }),
      await start({ scopes: "write:issue" }, input),
      await start({ scopes: "read:repository,write:issue" }, input),
      await start({ scopes: "public-only,write:repository" }, { ...input, private: true }),
      await start({ scopes: "public-only,write:repository" }, { ...input, mirror: true }),
    ]).toEqual([
      [403, "authors are mapped by tokens with write:admin"],
      [403, expect.stringContaining("write:repository")],
      [403, expect.stringContaining("write:repository")],
      [403, "token scope is limited to public repos"],
      [403, "token scope is limited to public repos"],
    ]);
    expect((await start({ repos: [repo] }, input))[0]).toBe(403);
    expect(await writtenFor(admin)).toEqual(before);

    // As in Gitea, issues of a repository that it makes need no other scope: it has no readers yet.
    expect((await start({ scopes: "write:repository" }, input))[0]).toBe(422);
  });

  it("refuses where migrations, or new mirrors, are switched off", async () => {
    const owner = await make.user();
    const json = {
      clone_addr: "http://127.0.0.1:48999/a/b.git",
      repo_name: freshName("refused"),
      mirror: true,
    };
    const without = serviceWith({ DISABLE_MIGRATIONS: "true" });
    const withoutMirrors = serviceWith({ MIRROR_DISABLE_NEW_PULL: "true" });

    const answers = [
      await without("POST", "/repos/migrate", { as: owner, json }),
      await withoutMirrors("POST", "/repos/migrate", { as: owner, json }),
    ];

    expect(answers.map(({ status, body }) => [status, body.message])).toEqual([
      [403, "the site administrator has disabled migrations"],
      [403, "the site administrator has disabled the creation of new pull mirrors"],
    ]);
    expect(await writtenFor(owner)).toEqual(NOTHING);
  });

  it("refuses narrow tokens, and anonymous callers", async () => {
    const owner = await make.user();
    const bound = await make.token(owner, { repos: [await make.repo(owner)] });
    const publicOnly = await make.token(owner, { scopes: "public-only,write:repository" });
    const reading = await make.token(owner, { scopes: "read:repository" });
    const json = {
      clone_addr: "http://127.0.0.1:48999/a/b.git",
      repo_name: freshName("refused"),
      private: true,
    };

    const statuses = [];
    for (const token of [bound, publicOnly, reading, undefined]) {
      const sending = { json, ...(token !== undefined && { token }) };
      statuses.push((await callSealing("POST", "/repos/migrate", sending)).status);
    }

    expect(statuses).toEqual([403, 403, 403, 401]);
    expect(await writtenFor(owner)).toEqual({ ...NOTHING, repos: 1 });
  });
});

describe("a repository that is being migrated", () => {
  /** A migration whose job has not come yet. */
  async function makeRunning() {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const origin = { url: "http://127.0.0.1:48999/a/b.git", import: "running" as const };
    await db.update(repositories).set({ origin }).where(eq(repositories.id, repo.id));
    await db.insert(imports).values({
      repoId: repo.id,
      doerId: owner.id,
      service: "git",
      address: origin.url,
      options: { parts: [], withLargeFiles: false, largeFilesUrl: "", authors: {} },
      dueAt: Date.now() + 3600_000,
      createdAt: 1000,
    });
    return { owner, repo, path: `/repos/${owner.name}/${repo.name}` };
  }

  it("is read, and refuses changes with 423", async () => {
    const { owner, repo, path } = await makeRunning();
    const message = `${owner.name}/${repo.name} is being migrated`;

    const answers = [
      await call("POST", `${path}/issues`, { as: owner, json: { title: "Early" } }),
      await call("PATCH", path, { as: owner, json: { description: "Early" } }),
      await call("POST", `${path}/labels`, { as: owner, json: { name: "a", color: "ffffff" } }),
    ];

    expect(answers.map(({ status, body }) => [status, body.message])).toEqual(
      answers.map(() => [423, message]),
    );
    expect((await call("GET", path, { as: owner })).body).toMatchObject({
      migration: "running",
      description: repo.description,
      open_issues_count: 0,
    });
  });

  it("shows its progress to administrators only", async () => {
    const { owner, path } = await makeRunning();
    const reader = await make.user();

    expect(await call("GET", `${path}/migration`, { as: owner })).toMatchObject({
      status: 200,
      body: { state: "running", stage: "git", stages: [], finished_at: null, last_error: "" },
    });
    expect((await call("GET", `${path}/migration`, { as: reader })).status).toBe(403);
    const made = await make.repo(owner);
    const other = await call("GET", `/repos/${owner.name}/${made.name}/migration`, { as: owner });
    expect(other.status).toBe(404);
  });

  it("is cancelled, then written to, continued and deleted", async () => {
    const { owner, repo, path } = await makeRunning();

    expect(await call("POST", `${path}/migration/continue`, { as: owner, json: {} })).toMatchObject(
      {
        status: 409,
      },
    );
    expect(await call("POST", `${path}/migration/cancel`, { as: owner })).toMatchObject({
      status: 200,
      body: { state: "cancelled", next_attempt_at: null },
    });
    expect((await call("POST", `${path}/migration/cancel`, { as: owner })).status).toBe(409);
    const json = { title: "Now" };
    expect((await call("POST", `${path}/issues`, { as: owner, json })).status).toBe(201);
    const again = serviceWith(SETTINGS, { REMOTE_JOBS: silent });
    expect(
      await again("POST", `${path}/migration/continue`, {
        as: owner,
        json: { auth_token: "t0ken" },
      }),
    ).toMatchObject({ status: 202, body: { state: "running" } });
    const [row] = await db.select().from(imports).where(eq(imports.repoId, repo.id));
    expect(row).toMatchObject({ username: "oauth2", options: { isRepeat: true } });
    expect(row?.sealedPassword).not.toContain("t0ken");
    expect((await call("DELETE", path, { as: owner })).status).toBe(204);
    expect(await db.select().from(imports).where(eq(imports.repoId, repo.id))).toEqual([]);
  });

  // SECURITY: an import goes on without its caller's credential, so that it ends with their right.
  it("ends when who asked for it lost the repository", async () => {
    const { owner, repo } = await makeRunning();
    const former = await make.user();
    const [row] = await db
      .update(imports)
      .set({ doerId: former.id, dueAt: 1 })
      .where(eq(imports.repoId, repo.id))
      .returning();

    await advanceImport(systemCtx({}, Date.now()), row?.id ?? 0);

    const [ended] = await db
      .select()
      .from(imports)
      .where(and(eq(imports.repoId, repo.id)));
    expect(ended).toMatchObject({
      state: "failed",
      lastError: "who asked for it may no longer administer the repository",
    });
    expect(owner.id).not.toBe(former.id);
  });
});
