import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { emailAddresses, users } from "../../../src/db/schema/index.ts";
import { openIsolatedService } from "../../support/isolated-service.ts";
import { basic, call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsIn } from "../../support/events.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { serviceWith } from "../../support/service.ts";
import { statusesOf } from "../../support/statuses.ts";

const PASSWORD = "correct horse";
const accountNamed = (name: string) =>
  db.select().from(users).where(eq(users.lowerName, name.toLowerCase()));

/** The required fields of a new user. */
function newUser() {
  const username = freshName("New");
  return { username, email: `${username}@example.com`, password: PASSWORD };
}

const post = (admin: TestUser, json: object) => call("POST", "/admin/users", { as: admin, json });
const patch = (admin: TestUser, user: { name: string }, json: object) =>
  call("PATCH", `/admin/users/${user.name}`, { as: admin, json });

/** The rule for names of accounts, in messages. */
const NAME_RULE =
  "[username]: must consist of ASCII letters and digits, with single dashes, dots and underscores between them";

describe("POST /admin/users", () => {
  it("creates a user who can sign in, and records an event", async () => {
    const admin = await make.admin();
    const fields = newUser();

    const answer = await post(admin, { ...fields, must_change_password: false });

    expect(answer).toMatchObject({
      status: 201,
      body: {
        id: expect.any(Number),
        login: fields.username,
        email: fields.email,
        is_admin: false,
        active: true,
        restricted: false,
        visibility: "public",
        login_name: "",
        source_id: 0,
      },
    });
    const headers = basic(fields.username, PASSWORD);
    expect((await call("GET", "/user", { headers })).body.id).toBe(answer.body.id);
    expect(await eventsIn(answer.body)).toMatchObject([
      { type: "user.created", actorId: admin.id, payload: { name: fields.username } },
    ]);
  });

  it("stores every field", async () => {
    const fields = {
      ...newUser(),
      full_name: "Ada Lovelace",
      login_name: "ada@elsewhere",
      source_id: 0,
      restricted: true,
      visibility: "limited",
      send_notify: true,
      created_at: "2015-12-10T12:30:00+02:00",
    };

    expect(await post(await make.admin(), fields)).toMatchObject({
      status: 201,
      body: {
        full_name: "Ada Lovelace",
        login_name: "ada@elsewhere",
        source_id: 0,
        restricted: true,
        visibility: "limited",
        // Back-dated, and returned in UTC.
        created: "2015-12-10T10:30:00Z",
      },
    });
  });

  it("requires the user to change the password first, unless disabled", async () => {
    const fields = newUser();
    await post(await make.admin(), fields);

    const headers = basic(fields.username, PASSWORD);
    expect(await call("GET", "/user", { headers })).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining("change your password") },
    });
  });

  it("refuses an unknown login source, and creates no user", async () => {
    const fields = { ...newUser(), source_id: 3, login_name: "ada" };
    expect(await post(await make.admin(), fields)).toMatchObject({
      status: 422,
      body: { message: expect.stringMatching(/^\[source_id\]/) },
    });
    expect(await accountNamed(fields.username)).toEqual([]);
  });

  it.each([
    ["no password", { password: "" }, 400, "PasswordIsRequired"],
    [
      "a password that is too short",
      { password: "1234567" },
      400,
      expect.stringMatching(/^PasswordIsRequired/),
    ],
    [
      "a password that is too long",
      { password: "x".repeat(256) },
      422,
      "[password]: must have at most 255 characters",
    ],
    ["no name", { username: "" }, 422, "[username]: must not be empty"],
    ["a name that can't be", { username: "-ada" }, 422, NAME_RULE],
    ["a reserved name", { username: "Ghost" }, 422, "name is reserved [name: Ghost]"],
    ["no e-mail", { email: "" }, 422, "[email]: must not be empty"],
    ["an e-mail that is none", { email: "ada" }, 422, "[email]: must be an e-mail address"],
    [
      "a visibility that is none",
      { visibility: "secret" },
      422,
      "[visibility]: must be one of public, limited, private",
    ],
    [
      "a time that is none",
      { created_at: "yesterday" },
      422,
      expect.stringMatching(/^\[created_at\]/),
    ],
    ["a source that is none", { source_id: -1 }, 422, expect.stringMatching(/^\[source_id\]/)],
  ])("refuses %s, and creates no user", async (_, json, status, message) => {
    const admin = await make.admin();
    const fields = { ...newUser(), ...json };

    const answer = await post(admin, fields);

    expect(answer).toMatchObject({ status, body: { message } });
    expect(await accountNamed(fields.username)).toEqual([]);
    const { email } = fields;
    expect(await db.select().from(emailAddresses).where(eq(emailAddresses.email, email))).toEqual(
      [],
    );
  });

  it("refuses an existing name of a user or organization, and an existing email address, in any case", async () => {
    const admin = await make.admin();
    const user = await make.user();
    const org = await make.org([user]);

    for (const { name } of [user, org]) {
      const username = name.toUpperCase();
      expect(await post(admin, { ...newUser(), username })).toMatchObject({
        status: 422,
        body: { message: `user already exists [name: ${username}]` },
      });
    }
    const fields = { ...newUser(), email: user.email.toUpperCase() };
    expect(await post(admin, fields)).toMatchObject({
      status: 422,
      body: { message: `e-mail already in use [email: ${fields.email}]` },
    });
    expect(await accountNamed(fields.username)).toEqual([]);
    expect(await eventsIn(user)).toEqual([]);
  });

  it("creates one user for concurrent requests with the same name", async () => {
    const admin = await make.admin();
    const { username } = newUser();

    const answers = await Promise.all(
      [1, 2, 3].map((at) =>
        post(admin, { ...newUser(), username, email: `${at}${username}@a.example` }),
      ),
    );

    expect(statusesOf(answers)).toEqual([201, 422, 422]);
    expect(await accountNamed(username)).toHaveLength(1);
  });

  it("requires an administrator whose token has the admin scope", async () => {
    const admin = await make.admin();
    const callers = {
      anonymous: { status: 401, sending: {} },
      user: { status: 403, sending: { as: await make.user() } },
      scope: {
        status: 403,
        sending: { token: await make.token(admin, { scopes: "write:user,read:admin" }) },
      },
      publicOnly: {
        status: 403,
        sending: { token: await make.token(admin, { scopes: "public-only,all" }) },
      },
      bound: { status: 403, sending: { token: await make.token(admin, { repos: [] }) } },
    };
    const json = newUser();

    for (const { status, sending } of Object.values(callers)) {
      expect((await call("POST", "/admin/users", { ...sending, json })).status).toBe(status);
    }
    expect(await accountNamed(json.username)).toEqual([]);
  });
});

const EDITS = {
  full_name: "Ada Lovelace",
  login_name: "ada@elsewhere",
  website: "https://ada.example",
  location: "London",
  description: "Writes programs",
  restricted: true,
  visibility: "private",
  prohibit_login: true,
  active: false,
};

describe("PATCH /admin/users/{username}", () => {
  it.each(Object.entries(EDITS))("changes %s and leaves the rest", async (field, value) => {
    const [admin, user] = [await make.admin(), await make.user()];
    const before = (await call("GET", `/users/${user.name}`, { as: admin })).body;

    const answer = await patch(admin, user, { [field]: value });

    expect(answer).toMatchObject({ status: 200, body: { ...before, [field]: value } });
    expect(await eventsIn(user)).toMatchObject([{ type: "user.edited", actorId: admin.id }]);
  });

  it.each([
    ["admin", { admin: true }, { isAdmin: true }],
    [
      "allow_create_organization",
      { allow_create_organization: false },
      { canCreateOrganization: false },
    ],
    ["max_repo_creation", { max_repo_creation: 3 }, { repoCountMax: 3 }],
    ["must_change_password", { must_change_password: true }, { mustChangePassword: true }],
  ])("changes %s", async (_, json, row) => {
    const [admin, user] = [await make.admin(), await make.user()];

    expect((await patch(admin, user, json)).status).toBe(200);
    expect(await accountNamed(user.name)).toMatchObject([row]);
  });

  it("sets a new password, and the old one is refused", async () => {
    const [admin, user] = [await make.admin(), await make.userWithPassword()];

    await patch(admin, user, { password: "battery staple" });

    const statusFor = async (password: string) =>
      (await call("GET", "/user", { headers: basic(user.name, password) })).status;
    expect(await statusFor("battery staple")).toBe(200);
    expect(await statusFor(user.password)).toBe(401);
  });

  it("makes an email address the primary one, whether new or already the user's", async () => {
    const [admin, user] = [await make.admin(), await make.user()];
    const email = `${freshName("mail")}@example.com`;

    expect((await patch(admin, user, { email })).body.email).toBe(email);
    expect((await patch(admin, user, { email: user.email })).body.email).toBe(user.email);

    expect((await call("GET", "/user/emails", { as: user })).body).toMatchObject([
      { email: user.email, primary: true, verified: true },
      { email, primary: false, verified: true },
    ]);
  });

  it("refuses another user's email address, and changes nothing", async () => {
    const [admin, user, other] = [await make.admin(), await make.user(), await make.user()];

    const answer = await patch(admin, user, { email: other.email, full_name: "Ada" });

    expect(answer.status).toBe(400);
    expect(await accountNamed(user.name)).toMatchObject([{ email: user.email, fullName: "" }]);
    expect((await call("GET", "/user/emails", { as: user })).body).toMatchObject([
      { email: user.email, primary: true },
    ]);
    expect(await eventsIn(user)).toEqual([]);
  });

  it.each([
    ["a password that is too short", { password: "1234567" }, 400],
    ["an e-mail that is none", { email: "ada" }, 400],
    ["no e-mail", { email: "" }, 400],
    // SECURITY: pages render it as a link.
    ["a website that is a script", { website: "javascript:alert(1)" }, 422],
    ["a website with a blank in its host", { website: "http://a b" }, 422],
    ["a visibility that is none", { visibility: "secret" }, 422],
    ["a limit that is none", { max_repo_creation: -2 }, 422],
    ["a flag that is a text", { admin: "yes" }, 422],
  ])("refuses %s, and changes nothing", async (_, json, status) => {
    const [admin, user] = [await make.admin(), await make.user()];

    expect((await patch(admin, user, { full_name: "Ada", ...json })).status).toBe(status);
    expect(await accountNamed(user.name)).toMatchObject([
      { fullName: "", website: "", isAdmin: false, updatedAt: user.updatedAt },
    ]);
    expect(await eventsIn(user)).toEqual([]);
  });

  it("disables an account at once", async () => {
    const [admin, user] = [await make.admin(), await make.user()];

    await patch(admin, user, { active: false });

    expect((await call("GET", "/user", { as: user })).status).toBe(403);
  });

  it("is not found for an organization or an unknown name", async () => {
    const admin = await make.admin();
    const org = await make.org([admin]);

    for (const account of [org, { name: "nobody-of-this-name" }]) {
      const answer = await patch(admin, account, { full_name: "Ada" });
      expect(answer).toMatchObject({ status: 404, body: "" });
    }
    expect(await eventsIn(org)).toEqual([]);
  });

  it("requires an administrator whose token has the admin scope", async () => {
    const [admin, user] = [await make.admin(), await make.user()];
    const token = await make.token(admin, { scopes: "read:admin,write:user" });
    const path = `/admin/users/${user.name}`;

    expect((await call("PATCH", path, { as: user, json: { admin: true } })).status).toBe(403);
    expect((await call("PATCH", path, { token, json: { admin: true } })).status).toBe(403);
    expect((await call("PATCH", path, { json: { admin: true } })).status).toBe(401);
    expect(await accountNamed(user.name)).toMatchObject([{ isAdmin: false }]);
  });
});

// These tests depend on all administrators, so they use a separate database without others.
describe("the last administrator", () => {
  const root = { name: "root", password: PASSWORD };
  const second = { name: "second", password: PASSWORD };

  async function openWithRoot() {
    const alone = await openIsolatedService(env.ADMINISTRATORS_DB);
    await alone.setup().createFirstAdministrator({ ...root, email: "root@example.com" });
    const administrators = async () => {
      const rows = await alone.db.select().from(users).where(eq(users.isAdmin, true));
      return rows.filter(({ isActive, isLoginProhibited }) => isActive && !isLoginProhibited);
    };
    return { ...alone, administrators };
  }

  it.each([{ admin: false }, { active: false }, { prohibit_login: true }])(
    "can't be removed by %j",
    async (json) => {
      const { call: ask, administrators } = await openWithRoot();

      const answer = await ask("PATCH", "/admin/users/root", root, { full_name: "Root", ...json });

      expect(answer).toMatchObject({
        status: 400,
        body: { message: "the last administrator can't be removed" },
      });
      expect(await administrators()).toMatchObject([{ name: "root", fullName: "" }]);
    },
  );

  it("can be removed when there is another one", async () => {
    const { call: ask, administrators } = await openWithRoot();
    await addSecond(ask);

    expect((await ask("PATCH", "/admin/users/root", root, { admin: false })).status).toBe(200);
    expect(await administrators()).toMatchObject([{ name: "second" }]);
  });

  it("can't be replaced by one with a disabled account", async () => {
    const { call: ask, administrators } = await openWithRoot();
    await addSecond(ask);
    await ask("PATCH", "/admin/users/second", root, { active: false });

    expect((await ask("PATCH", "/admin/users/root", root, { admin: false })).status).toBe(400);
    expect(await administrators()).toMatchObject([{ name: "root" }]);
  });

  it("is kept when two demote each other concurrently", async () => {
    const { call: ask, administrators } = await openWithRoot();
    await addSecond(ask);

    const answers = await Promise.all([
      ask("PATCH", "/admin/users/second", root, { admin: false }),
      ask("PATCH", "/admin/users/root", second, { admin: false }),
    ]);

    // The second request is refused: for demoting the last administrator, or for no longer being
    // one.
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(await administrators()).toHaveLength(1);
  });

  it("is kept when two delete each other concurrently", async () => {
    const { call: ask, administrators } = await openWithRoot();
    await addSecond(ask);
    const alone = serviceWith({}, { DB: env.ADMINISTRATORS_DB });
    const deletion = (name: string, by: { name: string; password: string }) =>
      alone("DELETE", `/admin/users/${name}?purge=true`, { headers: basic(by.name, by.password) });

    const answers = await Promise.all([deletion("second", root), deletion("root", second)]);

    // The second request is refused: for the last administrator, or because its caller is being
    // deleted.
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 204)).toHaveLength(1);
    expect(await administrators()).toHaveLength(1);
  });

  it("can't delete themselves, and nobody else is there to do it", async () => {
    const { administrators } = await openWithRoot();
    const alone = serviceWith({}, { DB: env.ADMINISTRATORS_DB });
    const headers = basic(root.name, root.password);
    expect((await alone("DELETE", "/admin/users/root", { headers })).status).toBe(422);
    expect(await administrators()).toHaveLength(1);
  });

  async function addSecond(ask: Awaited<ReturnType<typeof openWithRoot>>["call"]) {
    const email = "second@example.com";
    await ask("POST", "/admin/users", root, {
      username: second.name,
      password: second.password,
      email,
      must_change_password: false,
    });
    const answer = await ask("PATCH", "/admin/users/second", root, { admin: true });
    expect(answer.status).toBe(200);
  }
});

describe("POST /admin/users/{username}/rename", () => {
  const rename = (admin: TestUser, name: string, newName: string) =>
    call("POST", `/admin/users/${name}/rename`, { as: admin, json: { new_username: newName } });

  it("renames the account, and redirects the old name", async () => {
    const [admin, user] = [await make.admin(), await make.user()];
    const repo = await make.repo(user);
    const name = freshName("Renamed");

    expect(await rename(admin, user.name, name)).toMatchObject({ status: 204, body: "" });

    expect((await call("GET", `/users/${name}`)).body).toMatchObject({ id: user.id, login: name });
    const moved = await call("GET", `/users/${user.name}/repos?limit=1`);
    expect(moved.status).toBe(307);
    expect(moved.headers.get("Location")).toBe(
      `https://forge.example/api/v1/users/${name}/repos?limit=1`,
    );
    expect((await call("GET", `/repos/${name}/${repo.name}`)).body.full_name).toBe(
      `${name}/${repo.name}`,
    );
    expect(await eventsIn(user)).toMatchObject([
      { type: "user.renamed", actorId: admin.id, payload: { from: user.name, to: name } },
    ]);
  });

  // A name may equal an earlier part of the path: the redirect must replace the name, not the path.
  it.each(["use", "v1", "ap"])("redirects the old name %s too", async (old) => {
    const [admin, user] = [await make.admin(), await make.user({ name: old })];
    const name = freshName("renamed");
    await rename(admin, user.name, name);

    const moved = await call("GET", `/users/${old}`);

    expect(moved.status).toBe(307);
    expect(moved.headers.get("Location")).toBe(`https://forge.example/api/v1/users/${name}`);
  });

  it("redirects the old name below /admin too, by 307, and changes nothing there", async () => {
    const [admin, user] = [await make.admin(), await make.user()];
    const name = freshName("renamed");
    await rename(admin, user.name, name);

    const edited = await call("PATCH", `/admin/users/${user.name}?a=b`, {
      as: admin,
      json: { full_name: "Ada" },
    });
    expect([edited.status, edited.headers.get("Location")]).toEqual([
      307,
      `https://forge.example/api/v1/admin/users/${name}?a=b`,
    ]);
    expect((await rename(admin, user.name, freshName("again"))).status).toBe(307);
    expect(await accountNamed(name)).toMatchObject([{ fullName: "" }]);
    // SECURITY: only administrators learn that the name was once in use.
    for (const as of [user, await make.user()]) {
      expect((await rename(as, user.name, freshName("again"))).status).toBe(403);
    }
  });

  it("redirects when the old name is written with another case or encoding", async () => {
    const [admin, user] = [await make.admin(), await make.user()];
    const name = freshName("renamed");
    await rename(admin, user.name, name);

    const written = `%${user.name.charCodeAt(0).toString(16)}${user.name.slice(1).toUpperCase()}`;
    const moved = await call("GET", `/users/${written}`);

    expect(moved.status).toBe(307);
    expect(moved.headers.get("Location")).toBe(`https://forge.example/api/v1/users/${name}`);
  });

  it("changes the case of a name without a redirect", async () => {
    const [admin, user] = [await make.admin(), await make.user()];
    const name = user.name.toUpperCase();

    expect((await rename(admin, user.name, name)).status).toBe(204);
    expect((await call("GET", `/users/${user.name}`)).body.login).toBe(name);
  });

  it("frees the old name for another account, which ends the redirect", async () => {
    const [admin, user] = [await make.admin(), await make.user()];
    await rename(admin, user.name, freshName("renamed"));

    const taker = await post(admin, { ...newUser(), username: user.name });

    expect(taker.status).toBe(201);
    expect((await call("GET", `/users/${user.name}`)).body.id).toBe(taker.body.id);
  });

  it("renames back and forth", async () => {
    const [admin, user] = [await make.admin(), await make.user()];
    const name = freshName("renamed");
    await rename(admin, user.name, name);

    expect((await rename(admin, name, user.name)).status).toBe(204);
    expect((await call("GET", `/users/${user.name}`)).body.id).toBe(user.id);
    expect((await call("GET", `/users/${name}`)).status).toBe(307);
  });

  it("refuses a name that is taken, reserved or invalid, and changes nothing", async () => {
    const [admin, user, other] = [await make.admin(), await make.user(), await make.user()];
    const org = await make.org([other]);

    for (const name of [
      other.name.toUpperCase(),
      org.name,
      "api",
      "two words",
      "",
      "x".repeat(41),
    ]) {
      expect((await rename(admin, user.name, name)).status).toBe(422);
    }
    expect(await accountNamed(user.name)).toMatchObject([{ id: user.id, name: user.name }]);
    expect(await eventsIn(user)).toEqual([]);
  });

  it("gives a name to one of two accounts that are renamed to it concurrently", async () => {
    const [admin, first, second] = [await make.admin(), await make.user(), await make.user()];
    const name = freshName("renamed");

    const answers = await Promise.all(
      [first, second].map((user) => rename(admin, user.name, name)),
    );

    expect(statusesOf(answers)).toEqual([204, 422]);
    const recorded = [...(await eventsIn(first)), ...(await eventsIn(second))];
    expect(recorded).toMatchObject([{ type: "user.renamed" }]);
  });

  it("requires an administrator, and is not found for an organization", async () => {
    const [admin, user] = [await make.admin(), await make.user()];
    const org = await make.org([user]);

    expect((await rename(user, user.name, freshName("renamed"))).status).toBe(403);
    expect((await rename(admin, org.name, freshName("renamed"))).status).toBe(404);
    expect(await eventsIn(user)).toEqual([]);
    expect(await eventsIn(org)).toEqual([]);
  });
});

describe("GET /admin/users", () => {
  it("finds users by login source and by login name", async () => {
    const admin = await make.admin();
    const loginSourceId = Math.floor(Math.random() * 1e9) + 1;
    const first = await make.user({ name: freshName("a"), loginSourceId, loginName: "ada" });
    const second = await make.user({ name: freshName("b"), loginSourceId, loginName: "grace" });
    await make.user({ loginName: "ada" });
    const list = async (query: string) => {
      const answer = await call("GET", `/admin/users?${query}`, { as: admin });
      return answer.body.map(({ login }: { login: string }) => login);
    };

    const both = `source_id=${loginSourceId}`;
    expect(await list(both)).toEqual([first.name, second.name]);
    expect(await list(`${both}&login_name=grace`)).toEqual([second.name]);
    expect(await list(`${both}&login_name=nobody`)).toEqual([]);
    expect(await list(`${both}&limit=1&page=2`)).toEqual([second.name]);
    const answer = await call("GET", `/admin/users?${both}`, { as: admin });
    expect(answer.headers.get("X-Total-Count")).toBe("2");
    expect(answer.body[0]).toMatchObject({ login_name: "ada", source_id: loginSourceId });
  });

  it("lists users, including hidden ones, and no organizations", async () => {
    const admin = await make.admin();
    // Names that sort first, so that they are on the first page whatever other users exist.
    const hidden = await make.user({ name: freshName("0"), visibility: "private" });
    const org = await make.org([], { name: freshName("0") });

    const answer = await call("GET", "/admin/users?limit=50", { as: admin });

    const logins = answer.body.map(({ login }: { login: string }) => login);
    expect(logins).toContain(hidden.name);
    expect(logins).not.toContain(org.name);
  });

  it("requires an administrator whose token has the admin scope", async () => {
    const admin = await make.admin();
    const token = await make.token(admin, { scopes: "write:user" });

    expect((await call("GET", "/admin/users")).status).toBe(401);
    expect(await call("GET", "/admin/users", { as: await make.user() })).toMatchObject({
      status: 403,
      body: { message: "user should be the site admin" },
    });
    expect((await call("GET", "/admin/users", { token })).status).toBe(403);
  });
});
