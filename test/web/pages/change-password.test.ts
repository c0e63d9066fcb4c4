import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import { pendingSignIns, sessions, users } from "../../../src/db/schema/index.ts";
import { Browser } from "../../support/browser.ts";
import { basic, call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { make, type TestUser } from "../../support/make.ts";

const PATH = "/user/change_password";
const NEW = "a new password";

let user: TestUser;
let browser: Browser;
beforeEach(async () => {
  user = await make.userWithPassword({ mustChangePassword: true });
  browser = new Browser();
});

const sessionsOf = (of: TestUser) => db.select().from(sessions).where(eq(sessions.userId, of.id));

describe("a sign-in where a new password is due", () => {
  it("starts no session before the password is changed, and leads on afterwards", async () => {
    const fields = { user_name: user.name, password: user.password };
    const path = "/user/login?redirect_to=%2Fuser%2Fsettings";
    const first = await browser.submit(path, fields, "/user/login");

    expect(first.status).toBe(303);
    expect(first.headers.get("Location")).toBe(`${PATH}?redirect_to=%2Fuser%2Fsettings`);
    expect(await sessionsOf(user)).toEqual([]);
    expect((await browser.get("/user/settings/security")).status).toBe(303);

    const there = first.headers.get("Location") ?? "";
    const second = await browser.submit(there, { password: NEW, retype: NEW }, PATH);
    expect(second.status).toBe(303);
    expect(second.headers.get("Location")).toBe("/user/settings");
    expect((await browser.get("/user/settings/security")).status).toBe(200);
    const [row] = await db.select().from(users).where(eq(users.id, user.id));
    expect(row?.mustChangePassword).toBe(false);
    expect((await call("GET", "/user", { headers: basic(user.name, NEW) })).status).toBe(200);
    const old = await call("GET", "/user", { headers: basic(user.name, user.password) });
    expect(old.status).toBe(401);
  });

  it.each([
    ["a short one", { password: "short", retype: "short" }, "at least 8 characters"],
    ["two that differ", { password: NEW, retype: `${NEW}!` }, "differ"],
    ["the old one", { password: "correct horse", retype: "correct horse" }, "must differ"],
  ])("refuses %s", async (_, fields, message) => {
    await browser.signIn(user);
    const answer = await browser.submit(PATH, fields);

    expect(answer.status).toBe(422);
    expect(answer.body).toContain(message);
    const [row] = await db.select().from(users).where(eq(users.id, user.id));
    expect(row).toMatchObject({ mustChangePassword: true, passwordHash: user.passwordHash });
    expect(await sessionsOf(user)).toEqual([]);
  });

  it("ends after ten minutes", async () => {
    await browser.signIn(user);
    expect((await browser.get(PATH)).status).toBe(200);
    await db
      .update(pendingSignIns)
      .set({ expiresAt: Date.now() - 1 })
      .where(eq(pendingSignIns.userId, user.id));

    expect((await browser.get(PATH)).headers.get("Location")).toBe("/user/login");
  });

  it.each([{ isActive: false }, { isLoginProhibited: true }])(
    "ends when the account is %o",
    async (fields) => {
      await browser.signIn(user);
      await db.update(users).set(fields).where(eq(users.id, user.id));

      expect((await browser.get(PATH)).headers.get("Location")).toBe("/user/login");
    },
  );

  it("is nothing that a reader without it may do", async () => {
    expect((await new Browser().get(PATH)).headers.get("Location")).toBe("/user/login");
  });
});

describe("sessions of a user whom an administrator edits", () => {
  it.each([
    ["a new password", { password: NEW }],
    ["an account that is switched off", { active: false }],
    ["a prohibited sign-in", { prohibit_login: true }],
    ["a password that must be changed", { must_change_password: true }],
  ])("end with %s", async (_, json) => {
    const admin = await make.admin();
    const other = await make.userWithPassword();
    await browser.signIn(other);
    expect(await sessionsOf(other)).toHaveLength(1);
    const edit = { ...json, login_name: "", source_id: 0 };
    expect(
      (await call("PATCH", `/admin/users/${other.name}`, { as: admin, json: edit })).status,
    ).toBe(200);

    expect(await sessionsOf(other)).toEqual([]);
  });

  it("stay with any other edit", async () => {
    const admin = await make.admin();
    const other = await make.userWithPassword();
    await browser.signIn(other);
    const edit = { full_name: "Somebody", login_name: "", source_id: 0 };
    await call("PATCH", `/admin/users/${other.name}`, { as: admin, json: edit });

    expect(await sessionsOf(other)).toHaveLength(1);
  });
});
