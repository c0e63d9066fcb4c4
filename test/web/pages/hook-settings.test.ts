import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import { hookDeliveries, hooks, type User } from "../../../src/db/schema/index.ts";
import { Browser } from "../../support/browser.ts";
import { formTokenOf } from "../../support/credentials.ts";
import { db } from "../../support/db.ts";
import { makeHistory, makeHook, makeKeptDelivery } from "../../support/hooks.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { withoutQueueConsumer } from "../../support/queue-consumer.ts";

const FIELDS = {
  url: "https://receiver.example/hook",
  content_type: "form",
  "event-push": "on",
  "event-issues": "on",
  branch_filter: "main",
  active: "on",
};

type Kind = "repository" | "organization" | "service";

/** An owner of webhooks with a repository that tests are about. */
interface Scene {
  readonly of: Kind;
  readonly path: string;
  /** Where new ones are made. */
  readonly create: string;
  readonly repo: TestRepo;
  readonly org: User | undefined;
}

let owner: TestUser;
let browser: Browser;
let token: string;
async function signIn(fields: Parameters<typeof make.userWithPassword>[0]): Promise<void> {
  owner = await make.userWithPassword(fields);
  browser = await Browser.signedIn(owner);
  token = formTokenOf((await browser.get("/user/settings/account")).body);
}

async function makeScene(of: Kind): Promise<Scene> {
  const org = of === "organization" ? await make.org([owner]) : undefined;
  const repo = await make.repo(org ?? owner);
  const settings = org ? `/org/${org.name}/settings` : `/${repo.owner}/${repo.name}/settings`;
  const path = of === "service" ? "/-/admin/hooks" : `${settings}/hooks`;
  return { of, path, create: of === "service" ? "/-/admin/system-hooks" : path, repo, org };
}

const hooksOf = ({ of, repo, org }: Scene) => {
  const ofOwner = org ? eq(hooks.ownerId, org.id) : eq(hooks.repoId, repo.id);
  return db
    .select()
    .from(hooks)
    .where(of === "service" ? eq(hooks.approverId, owner.id) : ofOwner);
};

const makeHookOf = ({ of, repo, org }: Scene) =>
  makeHook({
    approverId: owner.id,
    ...(of === "service"
      ? { level: "system" as const }
      : org
        ? { level: "organization" as const, ownerId: org.id }
        : { level: "repository" as const, repoId: repo.id }),
  });

const send = (path: string, action: string, fields: Record<string, string> = {}) =>
  browser.post(path, { _csrf: token, action, ...fields });

const KINDS = ["repository", "organization", "service"] as const;

describe.each(KINDS)("the webhooks of a %s", (of) => {
  beforeEach(() => signIn({ isAdmin: of === "service" }));

  it("are made of each type", async () => {
    const scene = await makeScene(of);
    for (const type of ["gitea", "gogs", "slack", "discord", "msteams", "telegram", "matrix"]) {
      const page = await browser.get(`${scene.create}/${type}/new`);
      expect(page.status).toBe(200);
      const fields = { ...FIELDS, ...(type === "slack" && { channel: "#cloth" }) };
      const { status, body } = await send(`${scene.create}/${type}/new`, "create", fields);
      expect(status, String(body)).toBe(303);
    }
    const made = await hooksOf(scene);
    expect(made.map(({ type }) => type)).toContain("slack");
    expect(made[0]).toMatchObject({
      type: "gitea",
      url: FIELDS.url,
      contentType: "form",
      events: ["issues", "push"],
      branchFilter: "main",
      isActive: true,
    });
    expect((await browser.get(`${scene.create}/unknown/new`)).status).toBe(404);
  });

  it("are changed and deleted", async () => {
    const scene = await makeScene(of);
    const { id } = await makeHookOf(scene);
    const { status } = await send(`${scene.path}/${id}`, "update", {
      ...FIELDS,
      url: "https://b.example/",
    });
    expect(status).toBe(303);
    expect(await hooksOf(scene)).toMatchObject([
      { url: "https://b.example/", contentType: "form" },
    ]);
    await send(`${scene.path}/${id}`, "update", {
      url: "https://b.example/",
      content_type: "json",
      "event-push": "on",
    });
    expect(await hooksOf(scene)).toMatchObject([{ isActive: false, events: ["push"] }]);
    expect((await send(scene.path, "delete", { id: String(id) })).status).toBe(303);
    expect(await hooksOf(scene)).toEqual([]);
  });

  it("refuse what they can't be, and keep what was typed", async () => {
    const scene = await makeScene(of);
    const { id } = await makeHookOf(scene);
    const before = await hooksOf(scene);
    for (const [fields, text] of [
      [{ url: "ftp://a" }, "Invalid url"],
      [{ url: "http://127.0.0.1:1/" }, ""],
      [{ branch_filter: "[" }, "must be a glob pattern"],
      [{ "event-nothing": "on" }, "Invalid hook event"],
      [{ authorization_header: "a\u0001b" }, "characters that a header may contain"],
    ] as const) {
      for (const [to, action] of [
        [`${scene.create}/gitea/new`, "create"],
        [`${scene.path}/${id}`, "update"],
      ] as const) {
        const { status, body } = await send(to, action, { ...FIELDS, ...fields });
        expect([400, 403, 422], String(body)).toContain(status);
        expect(String(body)).toContain(text);
        expect(String(body)).toContain('name="url"');
      }
    }
    const { status, body } = await send(`${scene.create}/gitea/new`, "create", { url: FIELDS.url });
    expect(status).toBe(422);
    expect(body).toContain("must have at least one event");
    expect(await hooksOf(scene)).toEqual(before);
  });

  it("never show their secrets", async () => {
    const scene = await makeScene(of);
    const { id } = await makeHookOf(scene);
    const sealed = { secret: "sealed-secret", authorization: "sealed-header" };
    await db.update(hooks).set(sealed).where(eq(hooks.id, id));
    const { body } = await browser.get(`${scene.path}/${id}`);
    expect(body).not.toContain("sealed-");
    expect(body).toContain("There is one. Empty: it stays.");
    await send(`${scene.path}/${id}`, "update", FIELDS);
    // Another address gets no header that was stored for the one before.
    expect(await hooksOf(scene)).toMatchObject([sealed]);
    await send(`${scene.path}/${id}`, "update", { ...FIELDS, remove_secret: "on" });
    expect(await hooksOf(scene)).toMatchObject([{ secret: null, authorization: "sealed-header" }]);
  });

  it("show what was delivered, and deliver it again", async () => {
    const scene = await makeScene(of);
    const hook = await makeHookOf(scene);
    const delivery = await makeKeptDelivery(hook, {
      requestUrl: hook.url,
      requestHeaders: { "X-Gitea-Event": "push", Authorization: "hidden" },
      responseStatus: 500,
      responseHeaders: { Server: "loom" },
      responseBody: "broken <b>",
      durationMs: 12,
    });
    expect((await browser.get(`${scene.path}/${hook.id}?status=failed`)).body).toContain("Failed");
    const to = `${scene.path}/${hook.id}/deliveries/${delivery.id}`;
    const page = String((await browser.get(to)).body);
    expect(page).toContain("X-Gitea-Event: push");
    expect(page).not.toContain("hidden\n");
    expect(page).not.toContain("Authorization");
    expect(page).toContain("refs/heads/main");
    expect(page).toContain("Status 500, after 12 ms");
    expect(page).toContain("broken &lt;b&gt;");
    await withoutQueueConsumer(async () => {
      expect((await send(to, "redeliver")).status).toBe(303);
      const rows = await db.select().from(hookDeliveries).where(eq(hookDeliveries.id, delivery.id));
      expect(rows).toMatchObject([{ status: "pending", isRequested: true }]);
      const again = await send(to, "redeliver");
      expect(again.status).toBe(409);
      expect(again.body).toContain("on its way");
    });
    const other = await makeHookOf(await makeScene(of === "service" ? "repository" : of));
    const foreign = `${scene.path}/${other.id}`;
    expect((await browser.get(foreign)).status).toBe(404);
    expect((await browser.get(`${foreign}/deliveries/${delivery.id}`)).status).toBe(404);
    expect((await send(foreign, "update", FIELDS)).status).toBe(404);
    expect((await send(scene.path, "delete", { id: String(other.id) })).status).toBe(404);
  });

  it("are tested by a push without changes", async () => {
    const scene = await makeScene(of);
    const hook = await makeHookOf(scene);
    const { owner: repoOwner, name } = scene.repo;
    const names = { repository: "", organization: name, service: `${repoOwner}/${name}` };
    const named: Record<string, string> = of === "repository" ? {} : { repo: names[of] };
    const deliveries = () =>
      db.select().from(hookDeliveries).where(eq(hookDeliveries.hookId, hook.id));
    await withoutQueueConsumer(async () => {
      const empty = await send(`${scene.path}/${hook.id}`, "test", named);
      expect(empty.status).toBe(422);
      expect(empty.body).toContain("needs a commit");
      expect(await deliveries()).toEqual([]);
      await makeHistory(scene.repo);
      const tested = await send(`${scene.path}/${hook.id}`, "test", named);
      expect(tested.status).toBe(303);
      expect(tested.headers.get("Location")).toBe(`${scene.path}/${hook.id}#deliveries`);
      expect(await deliveries()).toMatchObject([{ event: "push", isRequested: true }]);
    });
  });
});

describe("the webhooks of the service", () => {
  beforeEach(() => signIn({ isAdmin: true }));

  it("are of two kinds, each in its own list", async () => {
    for (const level of ["system", "default"] as const) {
      const form = `/-/admin/${level}-hooks/gitea/new`;
      const url = `https://${level}.example/hook`;
      expect((await browser.get(form)).body).toContain(`New ${level} webhook for Gitea`);
      expect((await send(form, "create", { ...FIELDS, url })).status).toBe(303);
    }
    expect(await db.select().from(hooks).where(eq(hooks.approverId, owner.id))).toMatchObject([
      { level: "system", url: "https://system.example/hook" },
      { level: "default", url: "https://default.example/hook" },
    ]);
    const page = String((await browser.get("/-/admin/hooks")).body);
    expect(page).toMatch(
      /System webhooks[^]*system\.example[^]*Default webhooks[^]*default\.example/,
    );
  });

  it("are for administrators of the service alone", async () => {
    const hook = await makeHook({ approverId: owner.id, level: "system" });
    await signIn({});
    for (const path of ["/-/admin/hooks", `/-/admin/hooks/${hook.id}`]) {
      expect((await browser.get(path)).status, path).toBe(403);
    }
    const to = `/-/admin/hooks/${hook.id}`;
    expect((await send(to, "update", FIELDS)).status).toBe(403);
    expect((await send("/-/admin/hooks", "delete", { id: String(hook.id) })).status).toBe(403);
    expect((await send("/-/admin/system-hooks/gitea/new", "create", FIELDS)).status).toBe(403);
    expect(await db.select().from(hooks).where(eq(hooks.approverId, hook.approverId))).toEqual([
      hook,
    ]);
    expect(await db.select().from(hooks).where(eq(hooks.approverId, owner.id))).toEqual([]);
  });
});
