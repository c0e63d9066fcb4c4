import { and, eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import {
  accessTokens,
  auditEvents,
  emailAddresses,
  publicKeys,
  sessions,
  users,
} from "../../../src/db/schema/index.ts";
import { Browser } from "../../support/browser.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { make, type TestUser } from "../../support/make.ts";

const ACCOUNT = "/user/settings/account";
const TOKENS = "/user/settings/tokens";
const KEYS = "/user/settings/keys";
const NEW = "a new password";
const SSH_KEY =
  "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsABgH5C9okWi0dh2l9GKJl alice@laptop";

let user: TestUser;
let browser: Browser;
beforeEach(async () => {
  user = await make.userWithPassword();
  browser = await Browser.signedIn(user);
});

const sessionsOf = (of: TestUser) => db.select().from(sessions).where(eq(sessions.userId, of.id));

describe(`${ACCOUNT}: password`, () => {
  const form = `${ACCOUNT}/password`;
  const fields = { current_password: "correct horse", password: NEW, retype: NEW };

  it("is changed, ends all other sessions, and gives this one a new secret", async () => {
    const other = await Browser.signedIn(user);
    const copy = new Browser();
    for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
    const answer = await browser.submit(ACCOUNT, fields, form);

    expect(answer.status).toBe(303);
    expect((await browser.get(ACCOUNT)).status).toBe(200);
    expect((await other.get(ACCOUNT)).status).toBe(303);
    expect((await copy.get(ACCOUNT)).status).toBe(303);
    expect(await sessionsOf(user)).toHaveLength(1);
    expect((await new Browser().signIn({ name: user.name, password: NEW })).status).toBe(303);
    expect((await new Browser().signIn(user)).status).toBe(401);
  });

  it.each([
    ["a wrong current password", { current_password: "wrong" }, "Your password is not right."],
    ["a short one", { password: "short", retype: "short" }, "at least 8 characters"],
    ["two that differ", { retype: "another" }, "differ"],
  ])("is not changed with %s", async (_, change, message) => {
    const other = await Browser.signedIn(user);
    const answer = await browser.submit(ACCOUNT, { ...fields, ...change }, form);

    expect(answer.status).toBe(422);
    expect(answer.body).toContain(message);
    const [row] = await db.select().from(users).where(eq(users.id, user.id));
    expect(row?.passwordHash).toBe(user.passwordHash);
    expect((await other.get(ACCOUNT)).status).toBe(200);
  });
});

describe(`${ACCOUNT}: notifications by mail`, () => {
  const form = `${ACCOUNT}/notifications`;
  const storedChoice = async () =>
    (await db.select().from(users).where(eq(users.id, user.id)))[0]?.emailNotifications;

  it("are chosen", async () => {
    const fields = { email_notifications: "onmention" };
    expect((await browser.submit(ACCOUNT, fields, form)).status).toBe(303);
    expect(await storedChoice()).toBe("onmention");
    expect((await browser.get(ACCOUNT)).body).toMatch(/<option value="onmention" selected/);
  });

  it("are not changed by an unknown choice", async () => {
    const answer = await browser.submit(ACCOUNT, { email_notifications: "sometimes" }, form);
    expect(answer.status).toBe(422);
    expect(await storedChoice()).toBe("enabled");
  });
});

describe(`${ACCOUNT}: addresses`, () => {
  const addressesOf = async (of: TestUser) =>
    (await db.select().from(emailAddresses).where(eq(emailAddresses.userId, of.id))).map(
      ({ email }) => email,
    );

  it("are added and removed", async () => {
    const email = `second-${user.email}`;
    const fields = { email, current_password: user.password };
    await browser.submit(ACCOUNT, fields, `${ACCOUNT}/emails/add`);
    expect(await addressesOf(user)).toEqual([user.email, email]);
    expect((await browser.get(ACCOUNT)).body).toContain(email);

    await browser.submit(ACCOUNT, {}, `${ACCOUNT}/emails/remove`);
    expect(await addressesOf(user)).toEqual([user.email]);
  });

  it.each([
    [
      "a wrong password",
      (own: TestUser) => ({ email: `second-${own.email}`, current_password: "x" }),
    ],
    ["no address", () => ({ email: "nowhere", current_password: "correct horse" })],
    [
      "an address of the account",
      (own: TestUser) => ({ email: own.email, current_password: "correct horse" }),
    ],
  ])("are not added with %s, and stay typed", async (_, fields) => {
    const answer = await browser.submit(ACCOUNT, fields(user), `${ACCOUNT}/emails/add`);

    expect(answer.status).toBe(422);
    expect(answer.body).toMatch(/id="(?:email|password-for-address)-fault"/);
    expect(answer.body).toContain(`value="${fields(user).email}"`);
    expect(await addressesOf(user)).toEqual([user.email]);
  });

  it("of others are not removed", async () => {
    const stranger = await make.user();
    const second = { email: `second-${user.email}`, current_password: user.password };
    await browser.submit(ACCOUNT, second, `${ACCOUNT}/emails/add`);
    const form = `${ACCOUNT}/emails/remove`;

    expect((await browser.submit(ACCOUNT, { email: stranger.email }, form)).status).toBe(404);
    expect((await browser.submit(ACCOUNT, { email: user.email }, form)).status).toBe(422);
    expect(await addressesOf(stranger)).toEqual([stranger.email]);
  });
});

describe("access tokens", () => {
  it("makes a token, shows it once, and deletes it", async () => {
    const fields = { name: "laptop", "scope-repository": "write", "scope-user": "read" };
    const page = await browser.submit(TOKENS, fields);
    expect(page.status).toBe(200);
    const token = /class="secret">([0-9a-f]{40})</.exec(String(page.body))?.[1] ?? "";
    expect((await call("GET", "/user", { token })).status).toBe(200);
    const [row] = await db
      .select()
      .from(accessTokens)
      .where(and(eq(accessTokens.userId, user.id), eq(accessTokens.name, "laptop")));
    expect(row).toMatchObject({ scopes: "write:repository,read:user", expiresAt: null });

    const listed = await browser.get(TOKENS);
    expect(listed.body).toContain("laptop");
    expect(listed.body).not.toContain(token);
    await browser.submit(TOKENS, { id: String(row?.id) }, `${TOKENS}/delete`);
    expect((await call("GET", "/user", { token })).status).toBe(401);
  });

  it("makes a token that ends, for public things alone", async () => {
    const fields = {
      name: "ci",
      "scope-user": "read",
      public_only: "on",
      expires_at: "2999-12-31",
    };
    await browser.submit(TOKENS, fields);
    const [row] = await db
      .select()
      .from(accessTokens)
      .where(and(eq(accessTokens.userId, user.id), eq(accessTokens.name, "ci")));

    expect(row).toMatchObject({
      scopes: "public-only,read:user",
      expiresAt: Date.UTC(2999, 11, 31, 23, 59, 59),
    });
  });

  it.each([
    ["no name", { name: " ", "scope-user": "read" }, 422],
    ["no scope", { name: "a" }, 400],
    ["an unknown scope", { name: "a", "scope-user": "own" }, 400],
    ["a day that has passed", { name: "a", "scope-user": "read", expires_at: "2020-01-01" }, 422],
    ["a day that is none", { name: "a", "scope-user": "read", expires_at: "2999-99-99" }, 422],
  ])("makes none with %s", async (_, fields, status) => {
    const before = await db.select().from(accessTokens).where(eq(accessTokens.userId, user.id));
    const answer = await browser.submit(TOKENS, fields);

    expect(answer.status).toBe(status);
    expect(answer.body).toContain('role="alert"');
    const after = await db.select().from(accessTokens).where(eq(accessTokens.userId, user.id));
    expect(after).toEqual(before);
  });

  it("deletes no token of somebody else", async () => {
    const stranger = await make.user();
    const [token] = await db
      .select()
      .from(accessTokens)
      .where(eq(accessTokens.userId, stranger.id));
    const answer = await browser.submit(TOKENS, { id: String(token?.id) }, `${TOKENS}/delete`);

    expect(answer.status).toBe(404);
    expect((await call("GET", "/user", { as: stranger })).status).toBe(200);
  });
});

describe("keys", () => {
  const keysOf = (of: TestUser) => db.select().from(publicKeys).where(eq(publicKeys.userId, of.id));

  it("adds an SSH key, by its comment where it has no title, and removes it", async () => {
    await browser.submit(KEYS, { content: SSH_KEY }, `${KEYS}/ssh/add`);
    expect(await keysOf(user)).toMatchObject([{ title: "alice@laptop" }]);
    expect((await browser.get(KEYS)).body).toContain("alice@laptop");

    await browser.submit(KEYS, {}, `${KEYS}/ssh/remove`);
    expect(await keysOf(user)).toEqual([]);
  });

  it.each([
    ["ssh", { content: "no key", title: "key" }],
    ["gpg", { armored: "no key" }],
  ])("refuses what is no key: %s", async (kind, fields) => {
    const answer = await browser.submit(KEYS, fields, `${KEYS}/${kind}/add`);

    expect(answer.status).toBe(422);
    expect(answer.body).toMatch(/id="(?:content|armored)-fault"/);
    expect(answer.body).toContain("\nno key</textarea>");
    expect(await keysOf(user)).toEqual([]);
  });

  const remove = async (kind: string, id: number) => {
    const page = await browser.get(KEYS);
    const token = /name="_csrf" value="([0-9a-f]{64})"/.exec(String(page.body))?.[1] ?? "";
    return browser.post(`${KEYS}/${kind}/remove`, { _csrf: token, id: String(id) });
  };

  it("removes no key of somebody else", async () => {
    const stranger = await make.user();
    const json = { title: "theirs", key: SSH_KEY };
    const { body } = await call("POST", "/user/keys", { as: stranger, json });

    expect((await remove("ssh", body.id)).status).toBe(403);
    expect(await keysOf(stranger)).toMatchObject([{ id: body.id }]);
  });

  it.each(["ssh", "gpg"])("answers 404 for an unknown %s key", async (kind) => {
    expect((await remove(kind, 999_999_999)).status).toBe(404);
  });
});

describe("the audit log", () => {
  it("has sign-ins and ended sessions", async () => {
    await Browser.signedIn(user);
    await browser.submit("/user/settings/security", {}, "/user/settings/security/sessions/end");
    const rows = await db.select().from(auditEvents).where(eq(auditEvents.ownerId, user.id));

    expect(rows.map(({ kind }) => kind)).toEqual([
      "sign_in.succeeded",
      "sign_in.succeeded",
      "session.ended",
    ]);
  });
});
