import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import {
  accountDeletions,
  auditEvents,
  badges,
  cronRuns,
  hookDeliveries,
  hooks,
  publicKeys,
  pullMirrors,
  userBadges,
  users,
} from "../../../src/db/schema/index.ts";
import { parseConfig, SECRET_NAMES, VARIABLE_NAMES } from "../../../src/config.ts";
import { Browser } from "../../support/browser.ts";
import { call } from "../../support/call.ts";
import { formTokenOf } from "../../support/credentials.ts";
import { db } from "../../support/db.ts";
import { makeSshKey } from "../../support/keys.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { makePackage } from "../../support/packages.ts";
import { makeOpenPgpSigningKey } from "../../support/signing-keys.ts";
import { doorsWith } from "../../support/service.ts";

const ADMIN = "/-/admin";
const USERS = `${ADMIN}/users`;

let admin: TestUser;
let browser: Browser;
beforeEach(async () => {
  admin = await make.userWithPassword({ isAdmin: true });
  browser = await Browser.signedIn(admin);
});

const rowOf = async ({ id }: { id: number }) =>
  (await db.select().from(users).where(eq(users.id, id)))[0];

const bodyOf = async (path: string): Promise<string> => String((await browser.get(path)).body);

describe("the overview", () => {
  it("says how the service is, and how much there is", async () => {
    const page = await bodyOf(ADMIN);
    expect(page).toContain("Database");
    expect(page).toContain("It answers.");
    expect(page).toMatch(/Repositories<\/a><\/th><td class="number">(?:<data [^>]*>)?\d/);
    expect(await bodyOf("/")).toContain('<a href="/-/admin">Administration</a>');
    const other = await Browser.signedIn(await make.userWithPassword());
    expect((await other.get("/")).body).not.toContain("/-/admin");
  });
});

describe("users", () => {
  it("are searched, and listed by what is special about them", async () => {
    const quiet = await make.user({ visibility: "private", fullName: "Quiet Person" });
    const prohibited = await make.user({ isLoginProhibited: true });
    expect(await bodyOf(`${USERS}?q=quiet+person`)).toContain(quiet.name);
    expect(await bodyOf(`${USERS}?q=${quiet.email}`)).toContain(quiet.name);
    const listed = await bodyOf(`${USERS}?status=prohibited`);
    expect(listed).toContain(prohibited.name);
    expect(listed).not.toContain(quiet.name);
    expect(await bodyOf(`${USERS}?status=admin`)).toContain(admin.name);
    expect((await browser.get(`${USERS}?status=x&page=0`)).status).toBe(200);
  });

  const fields = {
    username: "new-user",
    email: "new-user@example.org",
    password: "correct horse",
    full_name: "New",
    visibility: "limited",
    created_at: "2001-02-03",
    restricted: "on",
  };

  it("are created, back-dated, and sign in", async () => {
    const { status, headers } = await browser.submit(`${USERS}/new`, fields);
    expect(status).toBe(303);
    const [row] = await db.select().from(users).where(eq(users.name, "new-user"));
    expect(headers.get("Location")).toBe(`${USERS}/${row?.id}`);
    expect(row).toMatchObject({
      visibility: "limited",
      isRestricted: true,
      mustChangePassword: false,
      createdAt: Date.UTC(2001, 1, 3),
    });
    const own = await new Browser().signIn({ name: "new-user", password: fields.password });
    expect(own.status).toBe(303);
  });

  it.each([
    ["username", { username: "-no-" }],
    ["email", { email: "nowhere" }],
    ["password", { password: "short" }],
    ["password", { password: "" }],
    ["created_at", { created_at: "2001-99-99" }],
    ["visibility", { visibility: "secret" }],
  ])("are not created with a wrong %s: %j", async (field, change) => {
    const before = await db.select().from(users);
    const { status, body } = await browser.submit(`${USERS}/new`, {
      ...fields,
      username: "another-user",
      email: "another-user@example.org",
      ...change,
    });
    expect([400, 422]).toContain(status);
    expect(body).toContain(`id="${field}-fault"`);
    expect(body).toContain('value="New"');
    // The field that was refused has the focus, and no other.
    const focused = String(body).match(/<(?:input|select)[^>]*autofocus[^>]*>/g) ?? [];
    expect(focused.map((each) => / name="([^"]*)"/.exec(each)?.[1])).toEqual([field]);
    expect(await db.select().from(users)).toEqual(before);
  });

  it("are edited, as by the API", async () => {
    const user = await make.user();
    const path = `${USERS}/${user.id}/edit`;
    const edit = {
      email: `changed-${user.email}`,
      full_name: "Changed",
      website: "https://changed.example",
      visibility: "private",
      max_repo_creation: "7",
      active: "on",
      prohibit_login: "on",
    };
    const token = formTokenOf((await browser.get(path)).body);
    const earlier = /name="updated_at" value="(\d+)"/.exec(String((await browser.get(path)).body));
    expect((await browser.submit(path, edit)).status).toBe(303);
    // A form that was opened before takes nothing back.
    const stale = { ...edit, _csrf: token, updated_at: earlier?.[1] ?? "", admin: "on" };
    expect((await browser.post(path, stale)).status).toBe(409);
    expect(await rowOf(user)).toMatchObject({
      email: `changed-${user.email}`,
      fullName: "Changed",
      visibility: "private",
      repoCountMax: 7,
      isActive: true,
      isAdmin: false,
      isLoginProhibited: true,
      canCreateOrganization: false,
    });
    const before = await rowOf(user);
    const refused = await browser.submit(path, { ...edit, max_repo_creation: "many" });
    expect(refused.status).toBe(422);
    expect(refused.body).toContain('id="max_repo_creation-fault"');
    expect(refused.body).toContain("https://changed.example");
    expect(await rowOf(user)).toEqual(before);
    expect((await browser.get(`${USERS}/999999999/edit`)).status).toBe(404);
    const org = await make.org([admin]);
    expect((await browser.get(`${USERS}/${org.id}`)).status).toBe(404);
  });

  it("are renamed, get keys and badges, and lose their second factors", async () => {
    const user = await make.user({ hasTotp: true });
    const page = `${USERS}/${user.id}`;
    const key = makeSshKey("theirs@example.org");
    await browser.submit(page, { title: "theirs", key: key.line }, `${page}/keys/add`);
    const keysOf = () => db.select().from(publicKeys).where(eq(publicKeys.userId, user.id));
    expect(await keysOf()).toHaveLength(1);
    await browser.submit(page, {}, `${page}/keys/remove`);
    expect(await keysOf()).toEqual([]);

    const slug = freshName("founder");
    await browser.submit(`${ADMIN}/badges`, { slug, description: `First of ${slug}` });
    expect(await bodyOf(`${ADMIN}/badges`)).toContain(`First of ${slug}`);
    await browser.submit(page, { slug }, `${page}/badges/add`);
    const given = () => db.select().from(userBadges).where(eq(userBadges.userId, user.id));
    expect(await given()).toHaveLength(1);
    const unknown = await browser.submit(page, { slug: "unknown" }, `${page}/badges/add`);
    expect(unknown.status).toBe(422);
    await browser.submit(page, {}, `${page}/badges/remove`);
    expect(await given()).toEqual([]);
    await browser.submit(`${ADMIN}/badges`, { slug }, `${ADMIN}/badges/delete`);
    expect(await db.select().from(badges).where(eq(badges.slug, slug))).toEqual([]);

    await browser.submit(page, {}, `${page}/second_factors`);
    expect((await rowOf(user))?.hasTotp).toBe(false);

    const name = `${user.name}-renamed`;
    await browser.submit(page, { new_username: name }, `${page}/rename`);
    expect((await rowOf(user))?.name).toBe(name);
    const taken = await browser.submit(page, { new_username: admin.name }, `${page}/rename`);
    expect(taken.status).toBe(422);
    expect((await rowOf(user))?.name).toBe(name);
  });

  it("are deleted by their name, and purged where they own something", async () => {
    const user = await make.user();
    await make.repo(user);
    const page = `${USERS}/${user.id}`;
    const send = (sent: Record<string, string>) => browser.submit(page, sent, `${page}/delete`);
    const wrong = await send({ confirm_name: "somebody" });
    expect(wrong.status).toBe(422);
    expect(wrong.body).toContain('id="confirm_name-fault"');
    const owning = await send({ confirm_name: user.name });
    expect(owning.status).toBe(422);
    expect(await rowOf(user)).toBeDefined();
    const ofUser = eq(accountDeletions.accountId, user.id);
    expect(await db.select().from(accountDeletions).where(ofUser)).toEqual([]);

    const purged = await send({ confirm_name: user.name, purge: "on" });
    expect(purged.headers.get("Location")).toBe(`${USERS}?deleted=1`);
    expect(await rowOf(user)).toBeUndefined();
    const own = `${USERS}/${admin.id}`;
    const self = await browser.submit(own, { confirm_name: admin.name }, `${own}/delete`);
    expect(self.status).toBe(422);
    expect(await rowOf(admin)).toBeDefined();
  });
});

describe("lists", () => {
  it("have addresses, organizations, repositories and packages of all", async () => {
    const owner = await make.user({ visibility: "private" });
    const org = await make.org([owner], { visibility: "private" });
    const repo = await make.repo(owner, { isPrivate: true, sizeBytes: 5e13 });
    expect(await bodyOf(`${ADMIN}/emails?q=${owner.email}`)).toContain(owner.email);
    expect(await bodyOf(`${ADMIN}/orgs?q=${org.name}`)).toContain(org.name);
    expect(await bodyOf(`${ADMIN}/repos?q=${repo.name}`)).toContain(`${owner.name}/${repo.name}`);
    const pkg = await makePackage(owner);
    expect(await bodyOf(`${ADMIN}/packages`)).toContain(pkg.name);
    expect(await bodyOf(`${ADMIN}/storage`)).toContain(owner.name);
  });

  it("collect the objects of a repository", async () => {
    const repo = await make.repo(admin);
    const path = `${ADMIN}/repos`;
    const form = `${path}/gc`;
    const fields = { repository: `${admin.name}/${repo.name}` };
    const wrong = await browser.submit(path, { ...fields, grace_days: "soon" }, form);
    expect(wrong.status).toBe(422);
    const kept = await db.select().from(auditEvents).where(eq(auditEvents.repoId, repo.id));
    expect(kept).toEqual([]);
    const sent = await browser.submit(path, { ...fields, grace_days: "0" }, form);
    expect(sent.status).toBe(303);
    const [entry] = await db.select().from(auditEvents).where(eq(auditEvents.repoId, repo.id));
    expect(entry).toMatchObject({
      kind: "repository.collection_requested",
      details: { graceDays: 0 },
    });
    const none = await browser.submit(path, { repository: "nobody/nothing" }, form);
    expect(none.status).toBe(404);
  });
});

describe("the schedule", () => {
  const path = `${ADMIN}/monitor/cron`;

  it("runs a task, and says when it ran", async () => {
    expect(await bodyOf(path)).toContain("cleanup_audit_log");
    const isTask = eq(cronRuns.task, "cleanup_audit_log");
    const [before] = await db.select().from(cronRuns).where(isTask);
    const { headers } = await browser.submit(path, { task: "cleanup_audit_log" }, `${path}/run`);
    expect(await bodyOf(headers.get("Location") ?? "")).toContain("cleanup_audit_log has run.");
    const runs = await db.select().from(cronRuns).where(isTask);
    expect(runs).toMatchObject([{ runCount: (before?.runCount ?? 0) + 1 }]);
    expect((await browser.submit(path, { task: "nothing" }, `${path}/run`)).status).toBe(404);
  });
});

describe("queues", () => {
  const path = `${ADMIN}/monitor/queue`;

  it("show what fails without secrets, and try it again", async () => {
    const repo = await make.repo(admin, { isMirror: true });
    await db.insert(pullMirrors).values({
      repoId: repo.id,
      address: "https://elsewhere.example/a.git",
      approverId: admin.id,
      intervalSeconds: 600,
      state: "failing",
      failureCount: 3,
      failingSince: 1000,
      lastError: "it is not there",
      createdAt: 1000,
    });
    const url = "https://receiver.example/hidden-part";
    const hook = { type: "gitea", config: { url, content_type: "json" }, active: true };
    const made = await call("POST", `/repos/${admin.name}/${repo.name}/hooks`, {
      as: admin,
      json: hook,
    });
    const hookId = Number(made.body.id);
    await db.update(hooks).set({ failingSince: 1000, failureCount: 2 }).where(eq(hooks.id, hookId));
    const page = await bodyOf(path);
    expect(page).toContain("it is not there");
    expect(page).toContain(`Webhook ${hookId} to receiver.example`);
    expect(page).not.toContain("hidden-part");

    const send = (kind: string, id: number) =>
      browser.submit(path, { kind, id: String(id) }, `${path}/retry`);
    expect((await send("pull mirror", repo.id)).status).toBe(303);
    const [mirror] = await db.select().from(pullMirrors).where(eq(pullMirrors.repoId, repo.id));
    expect(mirror?.dueAt).not.toBeNull();
    expect((await send("hook", hookId)).status).toBe(303);
    const ofHook = eq(hookDeliveries.hookId, hookId);
    expect(await db.select().from(hookDeliveries).where(ofHook)).toEqual([]);
    expect((await send("hook", 999_999_999)).status).toBe(404);
    expect((await send("mail", 999_999_999)).status).toBe(404);
    expect((await send("anything", 1)).status).toBe(404);
    const kinds = await db.select({ target: auditEvents.target }).from(auditEvents);
    expect(kinds.map(({ target }) => target)).toContain(`pull mirror ${repo.id}`);
  });
});

describe("the settings in force", () => {
  it("show every variable, and no secret", async () => {
    const secrets = {
      FIRST_ADMIN_PASSWORD: "first-secret-password",
      SEALING_KEYS: `key:${btoa("0123456789abcdef0123456789abcdef")}`,
      SIGNING_KEY: (await makeOpenPgpSigningKey()).armored,
      OAUTH_SIGNING_KEYS: "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n",
    };
    expect(Object.keys(secrets).toSorted()).toEqual([...SECRET_NAMES].toSorted());
    const { settings } = parseConfig(secrets);
    expect(settings.map(({ name }) => name)).toEqual(VARIABLE_NAMES);
    const text = JSON.stringify(settings);
    for (const [name, secret] of Object.entries(secrets)) {
      expect(settings.find((each) => each.name === name)).toMatchObject({ value: "set" });
      for (const line of secret.split("\n").filter((each) => each.length > 6)) {
        expect(text).not.toContain(line.trim());
      }
    }

    const set = new Browser(doorsWith({ APP_NAME: "Another forge" }));
    await set.signIn(admin);
    const page = String((await set.get(`${ADMIN}/config`)).body);
    expect(page).toContain("<td>Another forge</td>");
    for (const name of VARIABLE_NAMES) expect(page).toContain(`<code>${name}</code>`);
  });
});

describe("the audit log", () => {
  it("is filtered by kind, actor, owner and day", async () => {
    const user = await make.user();
    await call("PATCH", `/admin/users/${user.name}`, { as: admin, json: { full_name: "A" } });
    const path = `${ADMIN}/audit`;
    expect(await bodyOf(path)).toContain(user.name);
    const edits = await bodyOf(`${path}?kind=user.edited&owner=${user.name}&actor=${admin.name}`);
    expect(edits).toContain("changed: ");
    expect(edits).not.toContain("<code>sign_in.succeeded</code>");
    expect(await bodyOf(`${path}?owner=${user.name}&before=2001-01-01`)).toContain(
      "There are no entries.",
    );
    expect((await browser.get(`${path}?since=x`)).status).toBe(422);
  });
});
