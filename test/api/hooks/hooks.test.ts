import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import { unseal } from "../../../src/auth/seal.ts";
import { parseConfig } from "../../../src/config.ts";
import { webhookEvents, hookDeliveries, hooks, users } from "../../../src/db/schema/index.ts";
import { SEALED_FOR } from "../../../src/domain/exchange/webhooks/hooks/hook-options.ts";
import { formatBase64 } from "../../../src/lib/base64.ts";
import { call } from "../../support/call.ts";
import { makeHistory } from "../../support/hooks.ts";
import { db } from "../../support/db.ts";
import { eventsBy } from "../../support/events.ts";
import { HOOK_OWNERS, type HookOwnerFixture } from "../../support/hook-owners.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { serviceWith } from "../../support/service.ts";

const SEALING_KEYS = `test:${formatBase64(new Uint8Array(32).fill(7))}`;
const callSealing = serviceWith({ SEALING_KEYS });
const { sealingKeys } = parseConfig({ SEALING_KEYS });

const freshUrl = () => `https://receiver.example/${freshName("hook")}`;
const toBody = (url: string) => ({ type: "gitea", config: { url, content_type: "json" } });
const hooksTo = (url: string) => db.select().from(hooks).where(eq(hooks.url, url));
const hookOf = async (id: number) => (await db.select().from(hooks).where(eq(hooks.id, id)))[0];

/** The newest event recorded by an actor. */
const lastEvent = async (actor: TestUser) => (await eventsBy(actor)).at(-1);

describe.each(Object.entries(HOOK_OWNERS))("hooks of a %s", (kind, makeHookOwner) => {
  let hookOwner: HookOwnerFixture;
  beforeEach(async () => {
    hookOwner = await makeHookOwner();
  });
  const post = (json: object) => call("POST", hookOwner.path, { as: hookOwner.admin, json });
  async function add(json: object = {}) {
    const answer = await post({ ...toBody(freshUrl()), active: true, ...json });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body;
  }

  it("are created, and an event is recorded", async () => {
    const url = freshUrl();

    const answer = await post({ ...toBody(url), events: ["create", "push"], branch_filter: "v*" });

    expect(answer).toMatchObject({
      status: 201,
      body: {
        id: expect.any(Number),
        type: "gitea",
        // As in Gitea, a webhook is inactive by default.
        active: false,
        config: { url, content_type: "json" },
        events: ["create", "push"],
        branch_filter: "v*",
        authorization_header: "",
        last_status: "none",
        failing_since: null,
        paused_at: null,
      },
    });
    const { id } = answer.body;
    expect(await hooksTo(url)).toMatchObject([
      { id, ...hookOwner.row, approverId: hookOwner.admin.id },
    ]);
    expect(await lastEvent(hookOwner.admin)).toMatchObject({
      type: "hook.created",
      payload: { hookId: id },
    });
  });

  it("subscribe to pushes by default", async () => {
    expect((await add()).events).toEqual(["push"]);
    expect((await add({ events: [] })).events).toEqual(["push"]);
  });

  it("are listed oldest first, by page, with their number", async () => {
    const ids = [(await add()).id, (await add()).id, (await add()).id];
    const list = async (query: string) => {
      const answer = await call("GET", hookOwner.path + query, { as: hookOwner.admin });
      expect(answer.status).toBe(200);
      return answer;
    };
    const all = await list("?type=default");
    const own = all.body.map(({ id }: { id: number }) => id);
    expect(own.slice(-3)).toEqual(ids);
    expect(all.headers.get("X-Total-Count")).toBe(String(own.length));

    const page = await list(`?type=default&limit=1&page=${own.length - 1}`);
    expect(page.body).toMatchObject([{ id: ids[1] }]);
    expect(page.headers.get("X-Total-Count")).toBe(String(own.length));
    const beyond = await list(`?type=default&limit=50&page=1000`);
    expect(beyond.body).toEqual([]);
  });

  it("are read, changed and deleted by id", async () => {
    const hook = await add();
    const path = `${hookOwner.path}/${hook.id}`;
    const as = hookOwner.admin;

    expect(await call("GET", path, { as })).toMatchObject({ status: 200, body: hook });
    const edited = await call("PATCH", path, { as, json: { events: ["wiki"] } });
    expect(edited).toMatchObject({
      status: 200,
      body: { ...hook, updated_at: expect.any(String), events: ["wiki"] },
    });
    expect(await lastEvent(as)).toMatchObject({
      type: "hook.edited",
      payload: { hookId: hook.id },
    });
    expect(await call("DELETE", path, { as })).toMatchObject({ status: 204, body: "" });
    expect(await lastEvent(as)).toMatchObject({ type: "hook.deleted" });
    expect(await hookOf(hook.id)).toBeUndefined();
    for (const method of ["GET", "PATCH", "DELETE"]) {
      const answer = await call(method, path, { as, ...(method === "PATCH" && { json: {} }) });
      expect(answer, method).toMatchObject({ status: 404, body: "" });
    }
  });

  // SECURITY: an id is only valid together with its owner.
  it("are not found under a different owner", async () => {
    const hook = await add();
    const before = await hookOf(hook.id);
    const last = await lastEvent(hookOwner.admin);

    for (const method of ["GET", "PATCH", "DELETE"]) {
      const answer = await call(method, `${hookOwner.elsewhere}/${hook.id}`, {
        as: hookOwner.admin,
        ...(method === "PATCH" && { json: { active: false } }),
      });
      expect(answer, method).toMatchObject({ status: 404, body: "" });
    }
    expect(await hookOf(hook.id)).toEqual(before);
    expect(await lastEvent(hookOwner.admin)).toEqual(last);
  });

  it("are refused to other accounts", async () => {
    const hook = await add();
    const before = await hookOf(hook.id);
    const url = freshUrl();

    for (const { who, status } of hookOwner.refused) {
      const as = who && { as: who };
      const path = `${hookOwner.path}/${hook.id}`;
      const statuses = [
        await call("GET", hookOwner.path, { ...as }),
        await call("POST", hookOwner.path, { ...as, json: toBody(url) }),
        await call("GET", path, { ...as }),
        await call("PATCH", path, { ...as, json: { active: false } }),
        await call("DELETE", path, { ...as }),
      ].map((answer) => answer.status);
      expect(statuses).toEqual([status, status, status, status, status]);
      expect(who && (await lastEvent(who))).toBeUndefined();
    }
    expect(await hooksTo(url)).toEqual([]);
    expect(await hookOf(hook.id)).toEqual(before);
  });

  // SECURITY: a webhook outlives the token that created it.
  it("are not created with a token of narrower access", async () => {
    const url = freshUrl();
    const bound = await make.token(hookOwner.admin, { repos: [await make.repo(hookOwner.admin)] });
    const publicOnly = await make.token(hookOwner.admin, { scopes: "public-only,all" });
    for (const token of [bound, publicOnly]) {
      const { status } = await call("POST", hookOwner.path, { token, json: toBody(url) });
      expect([403, 404]).toContain(status);
    }
    expect(await hooksTo(url)).toEqual([]);
  });

  it("are limited in number, and a refusal records no event", async () => {
    await add();
    const hookCount = (await call("GET", `${hookOwner.path}?type=all`, { as: hookOwner.admin }))
      .body.length;
    const bounded = serviceWith({ WEBHOOKS_MAX: String(hookCount + 1) });
    const create = (url: string) =>
      bounded("POST", hookOwner.path, { as: hookOwner.admin, json: toBody(url) });

    expect((await create(freshUrl())).status).toBe(201);
    const last = await lastEvent(hookOwner.admin);
    const url = freshUrl();
    expect(await create(url)).toMatchObject({
      status: 422,
      body: { message: `no more than ${hookCount + 1} webhooks may be here` },
    });
    expect(await hooksTo(url)).toEqual([]);
    expect(await lastEvent(hookOwner.admin)).toEqual(last);
  });

  it("are not accessible while webhooks are disabled, and unchanged afterwards", async () => {
    const hook = await add();
    const before = await hookOf(hook.id);
    const last = await lastEvent(hookOwner.admin);
    const url = freshUrl();
    const path = `${hookOwner.path}/${hook.id}`;
    const callDisabled = serviceWith({ DISABLE_WEBHOOKS: "true" });

    const requests: [string, string, object?][] = [
      ["GET", hookOwner.path],
      ["POST", hookOwner.path, toBody(url)],
      ["GET", path],
      ["PATCH", path, { active: false }],
      ["DELETE", path],
      ["GET", `${path}/deliveries`],
      ["GET", `${path}/deliveries/1`],
      ["POST", `${path}/deliveries/1/attempts`],
      ["POST", `${path}/deliveries/attempts`, { since: "2020-01-31T08:15:00Z" }],
      ...(kind === "repository" ? [["POST", `${path}/tests`] as [string, string]] : []),
    ];
    for (const [method, at, json] of requests) {
      const answer = await callDisabled(method, at, { as: hookOwner.admin, ...(json && { json }) });
      expect(answer, `${method} ${at}`).toMatchObject({
        status: 403,
        body: { message: "webhooks disabled by administrator" },
      });
    }
    expect((await callDisabled("GET", path)).status).toBe(401);
    expect(await hooksTo(url)).toEqual([]);
    expect(await hookOf(hook.id)).toEqual(before);
    expect(await lastEvent(hookOwner.admin)).toEqual(last);
    expect(await call("GET", path, { as: hookOwner.admin })).toMatchObject({
      status: 200,
      body: hook,
    });
  });

  it("with invalid ids are not found", async () => {
    for (const id of ["0", "-1", "git", "%00", "..%2f1", "9".repeat(30), "x".repeat(5000)]) {
      const answer = await call("GET", `${hookOwner.path}/${id}`, { as: hookOwner.admin });
      expect(answer.status, id).toBe(404);
    }
  });

  it.each([
    ["an unknown type", { type: "dingdong" }, "Invalid hook type: dingdong"],
    ["no type", { type: "" }, "[type]: must not be empty"],
    ["an unknown event", { events: ["push", "lunch"] }, "Invalid hook event: lunch"],
    ["no URL", { config: { content_type: "json" } }, "Missing config option: url"],
    [
      "no content type",
      { config: { url: "http://a.example" } },
      "Missing config option: content_type",
    ],
    [
      "another content type",
      { config: { url: "http://a.example", content_type: "xml" } },
      "Invalid content type",
    ],
    ["an invalid glob", { branch_filter: "[a" }, "[branch_filter]: must be a glob pattern"],
    [
      "a header that injects another one",
      { authorization_header: "a\r\nHost: b" },
      "[authorization_header]: must consist of characters that a header may contain",
    ],
  ])("are not created with %s", async (_, json, message) => {
    const url = freshUrl();
    const last = await lastEvent(hookOwner.admin);
    const wrong: object = { ...toBody(url), ...json };

    expect(await post(wrong)).toMatchObject({ status: 422, body: { message } });
    expect(await hooksTo(url)).toEqual([]);
    expect(await lastEvent(hookOwner.admin)).toEqual(last);
    expect(kind).toBeDefined();
  });
});

describe("the options of a hook", () => {
  const post = (as: TestUser, json: object) => call("POST", "/user/hooks", { as, json });

  it.each([
    "ftp://receiver.example/",
    "javascript:alert(1)",
    "//receiver.example/",
    "receiver.example",
    "http://",
    "http:///x",
    "https://user@receiver.example/",
    "https://user:pass@receiver.example/",
    "https://receiver.example\\@other.example/",
    "https://receiver.example/\nx",
    " https://receiver.example/",
    "https://receiver.example/a b",
    "https://[::1/",
    "http://a:99999/",
  ])("do not accept the URL %j, also in an edit", async (url) => {
    const user = await make.user();
    const json = toBody(url);

    expect(await post(user, json)).toMatchObject({ status: 422, body: { message: "Invalid url" } });
    const { id } = (await post(user, toBody(freshUrl()))).body;
    const before = await hookOf(id);
    expect(
      await call("PATCH", `/user/hooks/${id}`, { as: user, json: { config: { url } } }),
    ).toMatchObject({ status: 422, body: { message: "Invalid url" } });
    expect(await hookOf(id)).toEqual(before);
  });

  it("accept event aliases in any case, and list the events sorted and once", async () => {
    const user = await make.user();
    const eventsOf = async (names: string[]) =>
      (await post(user, { ...toBody(freshUrl()), events: names })).body.events;

    expect(await eventsOf(["Wiki", "push", "PUSH"])).toEqual(["push", "wiki"]);
    expect(await eventsOf(["issues"])).toEqual([
      "issue_assign",
      "issue_comment",
      "issue_label",
      "issue_milestone",
      "issues",
    ]);
    expect(await eventsOf(["issues_only"])).toEqual(["issues"]);
    expect(await eventsOf(["pull_request_only", "pull_request_sync"])).toEqual([
      "pull_request",
      "pull_request_sync",
    ]);
    expect(await eventsOf(["pull_request"])).toHaveLength(8);
  });

  it.each(["gogs", "msteams", "telegram", "feishu", "matrix"])("accept %s", async (type) => {
    const user = await make.user();
    const answer = await post(user, { ...toBody(freshUrl()), type });
    expect(answer).toMatchObject({ status: 201, body: { type } });
  });

  it("store the chat settings that the type supports", async () => {
    const user = await make.user();
    const url = freshUrl();
    const chat = {
      channel: "#builds",
      username: "forge",
      icon_url: "https://a/i.png",
      color: "red",
    };
    const config = { url, content_type: "json" };

    const slack = await post(user, { type: "slack", config: { ...config, ...chat } });
    expect(slack.body.config).toEqual({ ...config, ...chat });
    const path = `/user/hooks/${slack.body.id}`;
    const edited = await call("PATCH", path, { as: user, json: { config: { color: "blue" } } });
    expect(edited.body.config).toEqual({ ...config, ...chat, color: "blue" });
    const discord = await post(user, { type: "discord", config: { ...config, ...chat } });
    expect(discord.body.config).toEqual({
      ...config,
      username: "forge",
      icon_url: "https://a/i.png",
    });
    const plain = await post(user, { type: "gitea", config: { ...config, ...chat } });
    expect(plain.body.config).toEqual(config);
  });

  it("require a valid channel for Slack", async () => {
    const user = await make.user();
    const url = freshUrl();
    const config = { url, content_type: "json" };

    expect(await post(user, { type: "slack", config })).toMatchObject({
      status: 422,
      body: { message: "Missing config option: channel" },
    });
    expect(
      await post(user, { type: "slack", config: { ...config, channel: "No way!" } }),
    ).toMatchObject({
      status: 400,
      body: { message: "Invalid slack channel name" },
    });
    expect(await hooksTo(url)).toEqual([]);
  });
});

describe("an edit of a hook", () => {
  it("changes only the given options", async () => {
    const user = await make.user();
    const url = freshUrl();
    const json = {
      ...toBody(url),
      config: { url, content_type: "form", secret: "hunter2" },
      authorization_header: "Bearer abc",
      events: ["wiki"],
      branch_filter: "main",
      active: true,
    };
    const { id } = (await callSealing("POST", "/user/hooks", { as: user, json })).body;
    const before = await hookOf(id);
    const edit = async (changes: object) => {
      const answer = await callSealing("PATCH", `/user/hooks/${id}`, { as: user, json: changes });
      expect(answer.status).toBe(200);
      return hookOf(id);
    };
    const updatedAt = expect.any(Number);

    expect(await edit({})).toEqual({ ...before, updatedAt });
    expect(await edit({ active: false })).toEqual({ ...before, updatedAt, isActive: false });
    expect(await edit({ active: true, branch_filter: "" })).toEqual({
      ...before,
      updatedAt,
      branchFilter: "",
    });
    expect(await edit({ config: { content_type: "json" } })).toEqual({
      ...before,
      updatedAt,
      branchFilter: "",
      contentType: "json",
    });
    expect(await edit({ authorization_header: "", config: { secret: "" } })).toEqual({
      ...before,
      updatedAt,
      branchFilter: "",
      contentType: "json",
      secret: null,
      authorization: null,
    });
  });

  it("shows failures and a pause, and ends them by activating", async () => {
    const user = await make.user();
    const { id } = (
      await call("POST", "/user/hooks", { as: user, json: { ...toBody(freshUrl()), active: true } })
    ).body;
    await db
      .update(hooks)
      .set({
        lastStatus: "failed",
        pausedAt: 2000,
        failingSince: 1000,
        failureCount: 12,
        backoffUntil: 3000,
      })
      .where(eq(hooks.id, id));
    const edit = (json: object) => call("PATCH", `/user/hooks/${id}`, { as: user, json });

    expect((await edit({ events: ["push"] })).body).toMatchObject({
      active: true,
      last_status: "failed",
      failing_since: "1970-01-01T00:00:01Z",
      paused_at: "1970-01-01T00:00:02Z",
    });
    expect(await hookOf(id)).toMatchObject({ failureCount: 12, backoffUntil: 3000 });
    expect((await edit({ active: true })).body).toMatchObject({
      failing_since: null,
      paused_at: null,
    });
    expect(await hookOf(id)).toMatchObject({
      pausedAt: null,
      failingSince: null,
      failureCount: 0,
      backoffUntil: null,
    });
  });
});

describe("secrets of a hook", () => {
  const SECRETS = { secret: "hunter2-secret", authorization: "Bearer hunter2-header" };
  const bodyWith = (url: string) => ({
    type: "gitea",
    config: { url, content_type: "json", secret: SECRETS.secret },
    authorization_header: SECRETS.authorization,
  });

  // SECURITY: write-only, and encrypted in the database.
  it("are stored sealed and never shown", async () => {
    const user = await make.user();
    const url = freshUrl();

    const created = await callSealing("POST", "/user/hooks", { as: user, json: bodyWith(url) });
    expect(created.status).toBe(201);
    const path = `/user/hooks/${created.body.id}`;
    const answers = [
      created,
      await callSealing("GET", path, { as: user }),
      await callSealing("GET", "/user/hooks", { as: user }),
      await callSealing("PATCH", path, { as: user, json: bodyWith(url) }),
    ];
    const row = await hookOf(created.body.id);
    const shown = JSON.stringify([answers.map(({ body }) => body), row, await lastEvent(user)]);
    expect(shown).not.toContain("hunter2");
    const answeredText = JSON.stringify(answers.map(({ body }) => body));
    expect(row?.secret).toMatch(/^1\.test\./);
    expect(answeredText).not.toContain("1.test.");
    expect(await unseal(sealingKeys, row?.secret ?? "", SEALED_FOR.secret)).toEqual({
      kind: "open",
      text: SECRETS.secret,
    });
    expect(await unseal(sealingKeys, row?.authorization ?? "", SEALED_FOR.authorization)).toEqual({
      kind: "open",
      text: SECRETS.authorization,
    });
  });

  it("are refused if the service has no sealing key; hooks without secrets are not", async () => {
    const user = await make.user();
    const url = freshUrl();
    const callWithoutKey = serviceWith({});

    expect(
      await callWithoutKey("POST", "/user/hooks", { as: user, json: bodyWith(url) }),
    ).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining("no key") },
    });
    expect(await hooksTo(url)).toEqual([]);
    const empty = { url, content_type: "json", secret: "" };
    const json = { type: "gitea", config: empty, authorization_header: "" };
    expect((await callWithoutKey("POST", "/user/hooks", { as: user, json })).status).toBe(201);
  });
});

describe("system and default webhooks", () => {
  const post = (as: TestUser, url: string, more: object) =>
    call("POST", "/admin/hooks", {
      as,
      json: { ...toBody(url), config: { url, content_type: "json", ...more } },
    });

  it("are listed separately", async () => {
    const admin = await make.admin();
    const [system, byDefault] = [freshUrl(), freshUrl()];
    expect((await post(admin, system, { is_system_webhook: "true" })).status).toBe(201);
    expect((await post(admin, byDefault, { is_system_webhook: "0" })).status).toBe(201);
    const urls = async (query: string) => {
      const { body } = await call("GET", `/admin/hooks${query}`, { as: admin });
      const all: string[] = body.map(({ config }: { config: { url: string } }) => config.url);
      return all.filter((url) => url === system || url === byDefault);
    };

    expect(await urls("")).toEqual([system]);
    expect(await urls("?type=default")).toEqual([byDefault]);
    expect(await urls("?type=all")).toEqual([system, byDefault]);
    expect((await call("GET", "/admin/hooks?type=other", { as: admin })).status).toBe(422);
  });

  it("are refused with an invalid is_system_webhook", async () => {
    const url = freshUrl();
    const answer = await post(await make.admin(), url, { is_system_webhook: "perhaps" });
    expect(answer).toMatchObject({
      status: 422,
      body: { message: "Invalid is_system_webhook value" },
    });
    expect(await hooksTo(url)).toEqual([]);
  });

  it("are copied to new repositories and forks if they are default webhooks", async () => {
    const [admin, user, forker] = [await make.admin(), await make.user(), await make.user()];
    const [url, system] = [freshUrl(), freshUrl()];
    const json = { ...bodyWithAll(url), active: true };
    const { id } = (await callSealing("POST", "/admin/hooks", { as: admin, json })).body;
    await post(admin, system, { is_system_webhook: "true" });
    await db.update(hooks).set({ lastStatus: "failed", pausedAt: 1 }).where(eq(hooks.id, id));

    const name = freshName("repo");
    const repo = (await call("POST", "/user/repos", { as: user, json: { name } })).body;
    const [original, copy, ...rest] = await hooksTo(url);
    expect(rest).toEqual([]);
    expect(copy).toEqual({
      ...original,
      id: expect.any(Number),
      level: "repository",
      repoId: repo.id,
      approverId: 0,
      lastStatus: "none",
      pausedAt: null,
      createdAt: expect.any(Number),
      updatedAt: expect.any(Number),
    });
    expect(await hooksTo(system)).toHaveLength(1);

    await call("DELETE", `/admin/hooks/${id}`, { as: admin });
    const path = `/repos/${user.name}/${name}/hooks/${copy?.id}`;
    expect(await call("GET", path, { as: user })).toMatchObject({
      status: 200,
      body: { config: { url } },
    });

    const second = freshUrl();
    await post(admin, second, {});
    const fork = await call("POST", `/repos/${user.name}/${name}/forks`, { as: forker, json: {} });
    expect(fork.status).toBe(202);
    expect((await hooksTo(second)).map(({ repoId }) => repoId)).toEqual([null, fork.body.id]);
  });

  const bodyWithAll = (url: string) => ({
    type: "slack",
    config: { url, content_type: "form", secret: "s", channel: "x", color: "red" },
    events: ["push", "wiki"],
    branch_filter: "main",
    authorization_header: "Bearer x",
  });
});

describe("hooks of deleted owners", () => {
  it("are deleted with the repository, and with the account", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const [ofRepo, ofOwner] = [freshUrl(), freshUrl()];
    const path = `/repos/${owner.name}/${repo.name}`;
    const { id } = (await call("POST", `${path}/hooks`, { as: owner, json: toBody(ofRepo) })).body;
    await call("POST", "/user/hooks", { as: owner, json: toBody(ofOwner) });
    const [made] = await db
      .insert(webhookEvents)
      .values({ eventId: -id, part: 0, event: "push", repoId: repo.id, payload: {}, createdAt: 1 })
      .returning({ id: webhookEvents.id });
    await db.insert(hookDeliveries).values({
      hookId: id,
      webhookEventId: made?.id ?? 0,
      uuid: crypto.randomUUID(),
      event: "push",
      createdAt: 1,
      updatedAt: 1,
    });

    await call("DELETE", path, { as: owner });
    expect(await hooksTo(ofRepo)).toEqual([]);
    expect(await db.select().from(hookDeliveries).where(eq(hookDeliveries.hookId, id))).toEqual([]);
    await db.delete(users).where(eq(users.id, owner.id));
    expect(await hooksTo(ofOwner)).toEqual([]);
  });
});

describe("POST /repos/{owner}/{repo}/hooks/{id}/tests", () => {
  const deliveriesOf = (id: number) =>
    db.select().from(hookDeliveries).where(eq(hookDeliveries.hookId, id));

  async function makeTested(json: object = {}) {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const path = `/repos/${owner.name}/${repo.name}/hooks`;
    const body = { ...toBody(freshUrl()), ...json };
    const { id } = (await call("POST", path, { as: owner, json: body })).body;
    const test = (query = "", as = owner) => call("POST", `${path}/${id}/tests${query}`, { as });
    return { owner, repo, id: id as number, path, test };
  }

  it("queues one delivery of a push to this hook, and records an event", async () => {
    const { owner, repo, id, test } = await makeTested();
    const { main, some } = await makeHistory(repo);

    expect(await test()).toMatchObject({ status: 204, body: "" });
    const event = await lastEvent(owner);
    expect(event).toMatchObject({
      type: "hook.tested",
      repoId: repo.id,
      payload: { hookId: id, ref: "refs/heads/main", commitOid: main },
    });
    expect(await deliveriesOf(id)).toMatchObject([
      { event: "push", status: "pending", attemptCount: 0, isRequested: true },
    ]);
    expect((await deliveriesOf(id))[0]?.nextAttemptAt).not.toBeNull();

    expect((await test("?ref=some/branch")).status).toBe(204);
    expect(await lastEvent(owner)).toMatchObject({
      payload: { ref: "refs/heads/some/branch", commitOid: some },
    });
    expect((await test(`?ref=${main}`)).status).toBe(204);
    expect(await lastEvent(owner)).toMatchObject({ payload: { ref: main, commitOid: main } });
    expect(await deliveriesOf(id)).toHaveLength(3);
  });

  it("delivers nothing to a hook that is not subscribed to pushes", async () => {
    const { repo, id, test } = await makeTested({ events: ["wiki"] });
    await makeHistory(repo);

    expect((await test()).status).toBe(204);
    expect(await deliveriesOf(id)).toEqual([]);
  });

  it("finds no foreign hook, no missing revision, and nothing in an empty repository", async () => {
    const { owner, repo, id, path, test } = await makeTested();
    expect(await test()).toMatchObject({ status: 404 });
    await makeHistory(repo);
    const other = await make.repo(owner);
    const last = await lastEvent(owner);

    const refs = ["nope", "0".repeat(40)];
    for (const ref of refs) expect((await test(`?ref=${ref}`)).status, ref).toBe(404);
    expect((await test(`?ref=${"x".repeat(5000)}`)).status).toBe(422);
    const foreign = `/repos/${owner.name}/${other.name}/hooks/${id}/tests`;
    expect((await call("POST", foreign, { as: owner })).status).toBe(404);
    expect((await call("POST", `${path}/${id + 1_000_000}/tests`, { as: owner })).status).toBe(404);
    expect(await deliveriesOf(id)).toEqual([]);
    expect(await lastEvent(owner)).toEqual(last);
  });

  it("requires admin permission", async () => {
    const { repo, id, path, test } = await makeTested();
    await makeHistory(repo);
    const writer = await make.user();
    await make.collaborator(repo, writer, 2);

    expect((await test("", writer)).status).toBe(403);
    expect((await call("POST", `${path}/${id}/tests`)).status).toBe(401);
    expect(await deliveriesOf(id)).toEqual([]);
    expect(await lastEvent(writer)).toBeUndefined();
  });
});

describe("tests of webhooks of many repositories", () => {
  const deliveriesOf = (id: number) =>
    db.select().from(hookDeliveries).where(eq(hookDeliveries.hookId, id));

  it.each(["organization", "user", "service"])(
    "%s: a push of one of their repositories",
    async (kind) => {
      const { path, admin } = await (HOOK_OWNERS[kind] as () => Promise<HookOwnerFixture>)();
      const accounts = await db
        .select()
        .from(users)
        .where(eq(users.name, path.split("/")[2] ?? ""));
      const owner = kind === "organization" ? accounts[0] : kind === "user" ? admin : undefined;
      const repo = await make.repo(owner ?? (await make.user()));
      await makeHistory(repo);
      const json = toBody(freshUrl());
      const { id } = (await call("POST", path, { as: admin, json })).body;
      const name = kind === "service" ? `${repo.owner}/${repo.name}` : repo.name;
      const test = (query: string) => call("POST", `${path}/${id}/tests${query}`, { as: admin });

      expect((await test(`?repo=${name}`)).status).toBe(204);
      expect((await test(`?repo=${repo.owner}/${repo.name}&ref=some/branch`)).status).toBe(204);
      expect(await deliveriesOf(id)).toHaveLength(2);
      expect(await lastEvent(admin)).toMatchObject({
        type: "hook.tested",
        repoId: repo.id,
        payload: { hookId: id, ref: "refs/heads/some/branch" },
      });

      const foreign = await make.repo(await make.user());
      const strange = kind === "service" ? "a/b/c" : `${foreign.owner}/${foreign.name}`;
      const wrong: [string, number][] = [
        ["", 422],
        ["?repo=", 422],
        ["?repo=nope", 404],
        [`?repo=${strange}`, 404],
        [`?repo=${name}&ref=nope`, 404],
      ];
      for (const [query, status] of wrong) expect((await test(query)).status, query).toBe(status);
      expect(await deliveriesOf(id)).toHaveLength(2);
    },
  );
});

describe("a new URL of a webhook", () => {
  it("clears the authorization header if its origin differs", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const path = `/repos/${owner.name}/${repo.name}/hooks`;
    const json = { ...toBody(freshUrl()), authorization_header: "token trusted" };
    const { id } = (await callSealing("POST", path, { as: owner, json })).body;
    const edit = (changes: object) =>
      callSealing("PATCH", `${path}/${id}`, { as: owner, json: changes });

    const stored = (await hookOf(id))?.authorization;
    expect(stored).toBeTruthy();
    await edit({ config: { url: freshUrl() } });
    expect((await hookOf(id))?.authorization).toBe(stored);
    await edit({ config: { url: "https://elsewhere.example/" } });
    expect((await hookOf(id))?.authorization).toBeNull();
    await edit({ config: { url: freshUrl() }, authorization_header: "token new" });
    expect((await hookOf(id))?.authorization).toBeTruthy();
  });
});
