import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { users } from "../../../src/db/schema/index.ts";
import { basic, call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsIn } from "../../support/events.ts";
import { freshName, make } from "../../support/make.ts";

const NEVER = "1970-01-01T00:00:00Z";

describe("GET /user", () => {
  it("returns the caller in the contract's fields, with both name fields", async () => {
    const user = await make.user({ fullName: "Ada Lovelace" });

    const answer = await call("GET", "/user", { as: user });

    expect(answer).toMatchObject({
      status: 200,
      body: {
        id: user.id,
        login: user.name,
        username: user.name,
        full_name: "Ada Lovelace",
        email: user.email,
        avatar_url: `https://forge.example/avatars/${user.id}`,
        html_url: `https://forge.example/${user.name}`,
        created: "1970-01-01T00:00:01Z",
        last_login: NEVER,
        visibility: "public",
      },
    });
  });

  it("returns the caller's own sign-in fields", async () => {
    const fields = {
      isAdmin: true,
      isRestricted: true,
      loginName: "ada@elsewhere",
      loginSourceId: 3,
      language: "de-DE",
      lastLoginAt: 5000,
    };
    const user = await make.user(fields);

    expect((await call("GET", "/user", { as: user })).body).toMatchObject({
      is_admin: true,
      restricted: true,
      active: true,
      prohibit_login: false,
      login_name: "ada@elsewhere",
      source_id: 3,
      language: "de-DE",
      last_login: "1970-01-01T00:00:05Z",
    });
  });

  it("asks anonymous callers to sign in", async () => {
    expect(await call("GET", "/user")).toMatchObject({
      status: 401,
      body: { message: "token is required", url: "https://forge.example/api/swagger" },
    });
  });

  it("refuses a token without a scope for users", async () => {
    const user = await make.user();
    const token = await make.token(user, { scopes: "write:repository" });

    expect((await call("GET", "/user", { token })).status).toBe(403);
  });

  // SECURITY: a public-only token sees its own user like everybody else: the email address is not
  // public.
  it("returns only public fields for a public-only token", async () => {
    const user = await make.user({ isAdmin: true, loginName: "hidden" });
    const token = await make.token(user, { scopes: "public-only,all" });

    expect(await call("GET", "/user", { token })).toMatchObject({
      status: 200,
      body: {
        login: user.name,
        email: `${user.lowerName}@noreply.forge.example`,
        is_admin: false,
        login_name: "",
      },
    });
  });

  it.each(["limited", "private"] as const)(
    "hides a %s user from their own public-only token",
    async (visibility) => {
      const user = await make.user({ visibility });
      const token = await make.token(user, { scopes: "public-only,all" });

      expect(await call("GET", "/user", { token })).toMatchObject({
        status: 403,
        body: { message: "token scope is limited to public users" },
      });
    },
  );
});

describe("GET /users/{username}", () => {
  it("hides the private fields from callers other than the account and administrators", async () => {
    const fields = { isAdmin: true, loginName: "x", loginSourceId: 3, language: "de-DE" };
    const user = await make.user({ ...fields, lastLoginAt: 5000 });
    const hidden = {
      is_admin: false,
      active: false,
      restricted: false,
      prohibit_login: false,
      login_name: "",
      source_id: 0,
      language: "",
      last_login: NEVER,
    };

    const path = `/users/${user.name}`;
    expect((await call("GET", path)).body).toMatchObject(hidden);
    expect((await call("GET", path, { as: await make.user() })).body).toMatchObject(hidden);
    expect((await call("GET", path, { as: await make.admin() })).body).toMatchObject({
      is_admin: true,
      active: true,
      login_name: "x",
      source_id: 3,
      language: "de-DE",
      last_login: "1970-01-01T00:00:05Z",
    });
  });

  it("shows the email address only to signed-in callers", async () => {
    const user = await make.user();
    const other = await make.user();
    const publicOnly = await make.token(other, { scopes: "public-only,all" });
    const placeholder = `${user.lowerName}@noreply.forge.example`;

    const emailFor = async (sending: object) =>
      (await call("GET", `/users/${user.name}`, sending)).body.email;
    expect(await emailFor({ as: other })).toBe(user.email);
    expect(await emailFor({})).toBe(placeholder);
    expect(await emailFor({ token: publicOnly })).toBe(placeholder);
  });

  it("shows a hidden email address only to its owner and to administrators", async () => {
    const user = await make.user({ isEmailHidden: true });

    const emailFor = async (caller: { token: string }) =>
      (await call("GET", `/users/${user.name}`, { as: caller })).body.email;
    expect(await emailFor(user)).toBe(user.email);
    expect(await emailFor(await make.admin())).toBe(user.email);
    expect(await emailFor(await make.user())).toBe(`${user.lowerName}@noreply.forge.example`);
  });

  it("finds a name in any case, and returns it in its original case", async () => {
    const user = await make.user();

    const answer = await call("GET", `/users/${user.name.toUpperCase()}`);

    expect(answer).toMatchObject({ status: 200, body: { login: user.name } });
  });

  it("is not found for a private user, and for a limited one without signing in", async () => {
    const hidden = await make.user({ visibility: "private" });
    const limited = await make.user({ visibility: "limited" });
    const other = await make.user();

    const statusFor = async (user: { name: string }, sending: object) =>
      (await call("GET", `/users/${user.name}`, sending)).status;
    expect(await statusFor(hidden, { as: other })).toBe(404);
    expect(await statusFor(hidden, { as: hidden })).toBe(200);
    expect(await statusFor(limited, {})).toBe(404);
    expect(await statusFor(limited, { as: other })).toBe(200);
  });
});

const SETTINGS = {
  full_name: "Ada Lovelace",
  website: "https://ada.example",
  description: "Writes programs",
  location: "London",
  language: "en-GB",
  theme: "dark",
  diff_view_style: "split",
  hide_email: true,
  hide_activity: true,
  email_notifications: "onmention",
};

describe("GET /user/settings", () => {
  it("returns the defaults of a new user", async () => {
    const username = freshName("user");
    const email = `${username}@example.com`;
    const json = { username, email, password: "correct horse", must_change_password: false };
    await call("POST", "/admin/users", { as: await make.admin(), json });
    const headers = basic(username, json.password);

    expect(await call("GET", "/user/settings", { headers })).toMatchObject({
      status: 200,
      body: {
        full_name: "",
        website: "",
        description: "",
        location: "",
        language: "",
        theme: "gitea-auto",
        diff_view_style: "",
        hide_email: false,
        hide_activity: false,
        email_notifications: "enabled",
      },
    });
  });

  it("asks anonymous callers to sign in", async () => {
    expect((await call("GET", "/user/settings")).status).toBe(401);
  });
});

describe("settings and public-only tokens", () => {
  // SECURITY: hidden settings are not public.
  it("are neither readable nor writable", async () => {
    const user = await make.user();
    const token = await make.token(user, { scopes: "public-only,all" });

    const read = await call("GET", "/user/settings", { token });
    const changed = await call("PATCH", "/user/settings", { token, json: { hide_email: true } });

    expect([read.status, changed.status]).toEqual([403, 403]);
    expect(await eventsIn(user)).toEqual([]);
  });
});

describe("PATCH /user/settings", () => {
  it.each(Object.entries(SETTINGS))("changes %s and leaves the rest", async (field, value) => {
    const user = await make.user();
    const before = (await call("GET", "/user/settings", { as: user })).body;

    const answer = await call("PATCH", "/user/settings", { as: user, json: { [field]: value } });

    expect(answer).toMatchObject({ status: 200, body: { ...before, [field]: value } });
    expect((await call("GET", "/user/settings", { as: user })).body).toEqual(answer.body);
    expect(await eventsIn(user)).toMatchObject([{ type: "user.edited", actorId: user.id }]);
  });

  it("clears a text with an empty value, unlike an omitted field", async () => {
    const user = await make.user({ website: "https://ada.example", location: "London" });

    const answer = await call("PATCH", "/user/settings", { as: user, json: { website: "" } });

    expect(answer.body).toMatchObject({ website: "", location: "London" });
  });

  it.each([
    // SECURITY: pages render it as a link.
    [
      "a website that is a script",
      { website: "javascript:alert(1)" },
      "[website]: must be a URL with http or https",
    ],
    [
      "a website that is no address",
      { website: "ada" },
      "[website]: must be a URL with http or https",
    ],
    [
      "a name that is too long",
      { full_name: "x".repeat(101) },
      "[full_name]: must have at most 100 characters",
    ],
    [
      "a diff style that is none",
      { diff_view_style: "diagonal" },
      "[diff_view_style]: must be one of unified, split",
    ],
    ["a flag that is a text", { hide_email: "yes" }, expect.stringContaining("[hide_email]")],
  ])("refuses %s and changes nothing", async (_, json, message) => {
    const user = await make.user();

    const answer = await call("PATCH", "/user/settings", {
      as: user,
      json: { location: "London", ...json },
    });

    expect(answer).toMatchObject({ status: 422, body: { message } });
    expect(await db.select().from(users).where(eq(users.id, user.id))).toMatchObject([
      { website: "", fullName: "", location: "", updatedAt: user.updatedAt },
    ]);
    expect(await eventsIn(user)).toEqual([]);
  });

  it("refuses a token with only the read scope", async () => {
    const user = await make.user();
    const token = await make.token(user, { scopes: "read:user" });

    const answer = await call("PATCH", "/user/settings", { token, json: { location: "London" } });

    expect(answer.status).toBe(403);
    expect(await eventsIn(user)).toEqual([]);
  });
});
