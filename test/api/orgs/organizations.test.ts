import { and, eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  organizationMembers,
  teamMembers,
  teams,
  users,
  type User,
} from "../../../src/db/schema/index.ts";
import { auditOf } from "../../support/audit.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsIn } from "../../support/events.ts";
import { freshName, make } from "../../support/make.ts";
import { makePackage, versionsOf } from "../../support/packages.ts";
import { statusesOf } from "../../support/statuses.ts";
import { logged } from "../../support/usage.ts";

const accountNamed = (name: string) =>
  db.select().from(users).where(eq(users.lowerName, name.toLowerCase()));

/** Makes a user's membership in an organization public. */
const publicize = (org: User, user: User) =>
  db
    .update(organizationMembers)
    .set({ isPublic: true })
    .where(and(eq(organizationMembers.orgId, org.id), eq(organizationMembers.userId, user.id)));

/** The rule for names of accounts, in messages. */
const NAME_RULE =
  "[username]: must consist of ASCII letters and digits, with single dashes, dots and underscores between them";

describe("POST /orgs", () => {
  it("creates an organization with every field, owned by its creator, and records an event", async () => {
    const creator = await make.user();
    const fields = {
      username: freshName("Org"),
      full_name: "The Analytical Society",
      email: "contact@society.example",
      description: "Engines",
      website: "https://society.example",
      location: "London",
      visibility: "limited",
      repo_admin_change_team_access: true,
    };

    const answer = await call("POST", "/orgs", { as: creator, json: fields });

    const { id } = answer.body;
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      ...fields,
      id: expect.any(Number),
      name: fields.username,
      avatar_url: `https://forge.example/avatars/${id}`,
    });
    const owners = await db
      .select({ name: teams.name, access: teams.access, userId: teamMembers.userId })
      .from(teams)
      .innerJoin(teamMembers, eq(teamMembers.teamId, teams.id))
      .where(eq(teams.orgId, id));
    expect(owners).toEqual([{ name: "Owners", access: 4, userId: creator.id }]);
    const path = `/orgs/${fields.username}/members/${creator.name}`;
    expect((await call("GET", path, { as: creator })).status).toBe(204);
    expect(await eventsIn({ id })).toMatchObject([
      { type: "organization.created", actorId: creator.id, payload: { name: fields.username } },
    ]);
  });

  it("needs only a name, and is public by default", async () => {
    const username = freshName("org");

    const answer = await call("POST", "/orgs", { as: await make.user(), json: { username } });

    expect(answer).toMatchObject({
      status: 201,
      body: {
        name: username,
        full_name: "",
        email: "",
        description: "",
        website: "",
        location: "",
        visibility: "public",
        repo_admin_change_team_access: false,
      },
    });
  });

  it.each([
    ["no name", { username: "" }, "[username]: must not be empty"],
    ["a name with a space", { username: "two words" }, NAME_RULE],
    [
      "a name that is too long",
      { username: "x".repeat(41) },
      "[username]: must have at most 40 characters",
    ],
    ["a reserved name", { username: "API" }, "name is reserved [name: API]"],
    [
      "a reserved ending",
      { username: "society.keys" },
      "name pattern is not allowed [pattern: *.keys]",
    ],
    [
      "a visibility that is none",
      { visibility: "secret" },
      "[visibility]: must be one of public, limited, private",
    ],
    ["an e-mail that is none", { email: "society" }, "[email]: must be an e-mail address"],
    // SECURITY: pages render it as a link.
    [
      "a website that is a script",
      { website: "javascript:alert(1)" },
      "[website]: must be a URL with http or https",
    ],
    ["a flag that is a text", { repo_admin_change_team_access: "yes" }, expect.any(String)],
  ])("refuses %s, and creates nothing", async (_, json, message) => {
    const creator = await make.user();
    const fields = { username: freshName("org"), ...json };

    const answer = await call("POST", "/orgs", { as: creator, json: fields });

    expect(answer).toMatchObject({ status: 422, body: { message } });
    expect(await accountNamed(fields.username)).toEqual([]);
    expect(
      await db.select().from(organizationMembers).where(eq(organizationMembers.userId, creator.id)),
    ).toEqual([]);
  });

  it("refuses the name of a user or of another organization, in any case", async () => {
    const creator = await make.user();
    const org = await make.org([creator]);

    for (const taken of [creator, org]) {
      const username = taken.name.toUpperCase();
      expect(await call("POST", "/orgs", { as: creator, json: { username } })).toMatchObject({
        status: 422,
        body: { message: `user already exists [name: ${username}]` },
      });
      expect(await accountNamed(username)).toHaveLength(1);
      expect(await eventsIn(taken)).toEqual([]);
    }
  });

  it("creates one organization for concurrent requests with the same name", async () => {
    const creators = await Promise.all([make.user(), make.user(), make.user()]);
    const username = freshName("org");

    const answers = await Promise.all(
      creators.map((creator) => call("POST", "/orgs", { as: creator, json: { username } })),
    );

    expect(statusesOf(answers)).toEqual([201, 422, 422]);
    expect(await accountNamed(username)).toHaveLength(1);
  });

  it("refuses a user who may not create organizations, unless they administer the site", async () => {
    const user = await make.user({ canCreateOrganization: false });
    const admin = await make.admin({ canCreateOrganization: false });
    const username = freshName("org");

    const answer = await call("POST", "/orgs", { as: user, json: { username } });

    expect(answer.status).toBe(403);
    expect(await accountNamed(username)).toEqual([]);
    expect((await call("POST", "/orgs", { as: admin, json: { username } })).status).toBe(201);
  });

  it("lets a public-only token create public organizations only", async () => {
    const user = await make.user();
    const token = await make.token(user, { scopes: "public-only,all" });
    const [hidden, open] = [freshName("org"), freshName("org")];
    const post = (username: string, visibility: string) =>
      call("POST", "/orgs", { token, json: { username, visibility } });

    expect((await post(hidden, "private")).status).toBe(403);
    expect((await post(hidden, "limited")).status).toBe(403);
    expect(await accountNamed(hidden)).toEqual([]);
    expect((await post(open, "public")).status).toBe(201);
  });

  it("asks anonymous callers to sign in, and refuses tokens without the scope", async () => {
    const user = await make.user();
    const token = await make.token(user, { scopes: "write:user,read:organization" });
    const json = { username: freshName("org") };

    expect((await call("POST", "/orgs", { json })).status).toBe(401);
    expect((await call("POST", "/orgs", { token, json })).status).toBe(403);
    expect(await accountNamed(json.username)).toEqual([]);
  });
});

describe("GET /orgs/{org}", () => {
  it("shows the contact address to signed-in callers only", async () => {
    const org = await make.org([], { email: "contact@society.example" });
    const emailFor = async (sending: object) =>
      (await call("GET", `/orgs/${org.name}`, sending)).body.email;
    expect(await emailFor({})).toBe("");
    expect(await emailFor({ as: await make.user() })).toBe("contact@society.example");
  });

  const SEEN_BY = {
    public: ["anonymous", "publicOnly", "stranger", "member", "admin"],
    limited: ["stranger", "member", "admin"],
    private: ["member", "admin"],
  } as const;

  it.each(Object.entries(SEEN_BY))("shows a %s organization to %j", async (visibility, seers) => {
    const member = await make.user();
    const org = await make.org([member], { visibility: visibility as User["visibility"] });
    const callers = {
      anonymous: undefined,
      publicOnly: await make.token(member, { scopes: "public-only,all" }),
      stranger: (await make.user()).token,
      member: member.token,
      admin: (await make.admin()).token,
    };

    const answers: Record<string, string> = {};
    for (const [who, token] of Object.entries(callers)) {
      const answer = await call("GET", `/orgs/${org.name}`, token === undefined ? {} : { token });
      answers[who] = answer.status === 200 ? "seen" : `${answer.status}${answer.body}`;
    }

    const isSeer = (who: string) => (seers as readonly string[]).includes(who);
    expect(answers).toEqual(
      Object.fromEntries(Object.keys(callers).map((who) => [who, isSeer(who) ? "seen" : "404"])),
    );
  });

  it("is not found for a user or an unknown name", async () => {
    const user = await make.user();

    for (const name of [user.name, "nobody-of-this-name"]) {
      expect((await call("GET", `/orgs/${name}`, { as: user })).status).toBe(404);
    }
  });

  it("finds a name in any case", async () => {
    const org = await make.org([]);

    const answer = await call("GET", `/orgs/${org.name.toUpperCase()}`);

    expect(answer).toMatchObject({ status: 200, body: { name: org.name, username: org.name } });
  });
});

describe("lists of organizations", () => {
  const names = (answer: { body: { name: string }[] }) => answer.body.map(({ name }) => name);

  /** The names in `among` that are listed on all pages. */
  async function listAll(path: string, among: User[], sending: object) {
    const listed: string[] = [];
    for (let page = 1; ; page++) {
      const answer = await call("GET", `${path}?limit=50&page=${page}`, sending);
      listed.push(...names(answer));
      if (answer.body.length < 50) break;
    }
    return listed.filter((name) => among.some((org) => org.name === name));
  }

  it("GET /orgs lists the organizations that the caller may see, by name", async () => {
    const member = await make.user();
    const orgs = {
      open: await make.org([member], { name: freshName("a") }),
      limited: await make.org([member], { name: freshName("b"), visibility: "limited" }),
      hidden: await make.org([member], { name: freshName("c"), visibility: "private" }),
    };
    const all = Object.values(orgs);
    const publicOnly = await make.token(member, { scopes: "public-only,all" });

    const { open, limited, hidden } = orgs;
    expect(await listAll("/orgs", all, {})).toEqual([open.name]);
    expect(await listAll("/orgs", all, { token: publicOnly })).toEqual([open.name]);
    expect(await listAll("/orgs", all, { as: await make.user() })).toEqual([
      open.name,
      limited.name,
    ]);
    expect(await listAll("/orgs", all, { as: member })).toEqual([
      open.name,
      limited.name,
      hidden.name,
    ]);
    expect(await listAll("/orgs", all, { as: await make.admin() })).toHaveLength(3);
  });

  it("GET /user/orgs lists the caller's own organizations, public or not", async () => {
    const member = await make.user();
    const open = await make.org([member], { name: freshName("a") });
    const hidden = await make.org([member], { name: freshName("b"), visibility: "private" });
    await make.org([await make.user()]);

    const answer = await call("GET", "/user/orgs", { as: member });

    expect(names(answer)).toEqual([open.name, hidden.name]);
    expect(answer.headers.get("X-Total-Count")).toBe("2");
    expect((await call("GET", "/user/orgs")).status).toBe(401);
  });

  // SECURITY: a membership is private until the member publishes it.
  it.each(["/user/orgs", "/users/{username}/orgs"])(
    "GET %s is complete without a page",
    async (path) => {
      const member = await make.user();
      for (let at = 0; at < 3; at += 1) await make.org([member]);
      const list = async (query: string) => {
        const of = path.replace("{username}", member.name);
        return (await call("GET", `${of}?${query}`, { as: member })).body.length;
      };
      expect([await list("limit=2"), await list("page=1&limit=2")]).toEqual([3, 2]);
    },
  );

  it("GET /user/orgs lists only public memberships for a public-only token", async () => {
    const member = await make.user();
    const published = await make.org([member]);
    await make.org([member]);
    const hidden = await make.org([member], { visibility: "private" });
    await publicize(published, member);
    await publicize(hidden, member);
    const token = await make.token(member, { scopes: "public-only,all" });

    expect(names(await call("GET", "/user/orgs", { token }))).toEqual([published.name]);
    expect(names(await call("GET", `/users/${member.name}/orgs`, { token }))).toEqual([
      published.name,
    ]);
  });

  it("GET /users/{username}/orgs hides private memberships from outsiders", async () => {
    const [member, fellow] = [await make.user(), await make.user()];
    const published = await make.org([member], { name: freshName("a") });
    const concealed = await make.org([member, fellow], { name: freshName("b") });
    const hidden = await make.org([member], { name: freshName("c"), visibility: "private" });
    await publicize(published, member);
    await publicize(hidden, member);

    const listFor = async (caller: { token: string }) =>
      names(await call("GET", `/users/${member.name}/orgs`, { as: caller }));
    expect(await listFor(await make.user())).toEqual([published.name]);
    expect(await listFor(fellow)).toEqual([published.name, concealed.name]);
    expect(await listFor(member)).toEqual([published.name, concealed.name, hidden.name]);
    expect(await listFor(await make.admin())).toEqual([
      published.name,
      concealed.name,
      hidden.name,
    ]);
    expect((await call("GET", `/users/${member.name}/orgs`)).status).toBe(401);
  });
});

describe("PATCH /orgs/{org}", () => {
  const fields = {
    full_name: "The Analytical Society",
    email: "contact@society.example",
    description: "Engines",
    website: "https://society.example",
    location: "London",
    visibility: "limited",
    repo_admin_change_team_access: true,
  };

  it("changes every field, and records what changed", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);

    const answer = await call("PATCH", `/orgs/${org.name}`, { as: owner, json: fields });

    expect(answer).toMatchObject({ status: 200, body: { id: org.id, name: org.name, ...fields } });
    expect((await call("GET", `/orgs/${org.name}`, { as: owner })).body).toEqual(answer.body);
    expect(await eventsIn(org)).toMatchObject([
      {
        type: "organization.edited",
        actorId: owner.id,
        payload: {
          changed: [
            "canRepoAdminChangeTeamAccess",
            "description",
            "email",
            "fullName",
            "location",
            "visibility",
            "website",
          ],
        },
      },
    ]);
  });

  it("empties texts that are not sent, keeps the rest, and records nothing without a change", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    const path = `/orgs/${org.name}`;
    await call("PATCH", path, { as: owner, json: fields });

    const edited = await call("PATCH", path, { as: owner, json: { description: "Only this" } });

    expect(edited.body).toMatchObject({
      ...fields,
      full_name: "",
      website: "",
      location: "",
      description: "Only this",
    });
    const again = await call("PATCH", path, { as: owner, json: { description: "Only this" } });
    expect(again).toMatchObject({ status: 200, body: edited.body });
    expect(await eventsIn(org)).toHaveLength(2);
  });

  it("changes how visible the organization's repositories are", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    const repo = await make.repo(org);
    const path = `/repos/${org.name}/${repo.name}`;
    expect((await call("GET", path)).status).toBe(200);

    await call("PATCH", `/orgs/${org.name}`, { as: owner, json: { visibility: "private" } });

    expect((await call("GET", path)).status).toBe(404);
    expect((await call("GET", `/orgs/${org.name}`)).status).toBe(404);
    expect((await call("GET", path, { as: owner })).status).toBe(200);
  });

  it("refuses everybody but owners and administrators, and shows strangers no private one", async () => {
    const [owner, member] = [await make.user(), await make.user()];
    const org = await make.org([owner], { visibility: "private" });
    await make.member(org, await make.team(org), member);
    const path = `/orgs/${org.name}`;
    const json = { full_name: "Mine" };

    expect(await call("PATCH", path, { as: member, json })).toMatchObject({
      status: 403,
      body: { message: "Must be an organization owner" },
    });
    expect((await call("PATCH", path, { as: await make.user(), json })).status).toBe(404);
    expect((await call("PATCH", path, { json })).status).toBe(401);
    expect(await eventsIn(org)).toEqual([]);
    expect((await call("PATCH", path, { as: await make.admin(), json })).status).toBe(200);
  });

  it.each([
    [{ visibility: "secret" }, "[visibility]: must be one of public, limited, private"],
    [{ website: "javascript:alert(1)" }, "[website]: must be a URL with http or https"],
    [{ website: " https://society.example" }, "[website]: must be a URL with http or https"],
    [{ email: "no address" }, "[email]: must be an e-mail address"],
    [{ full_name: "n".repeat(101) }, "[full_name]: must have at most 100 characters"],
    [{ description: 7 }, "[description]: must be a string"],
  ])("refuses %o", async (json, message) => {
    const owner = await make.user();
    const org = await make.org([owner]);

    const answer = await call("PATCH", `/orgs/${org.name}`, { as: owner, json });

    expect(answer).toMatchObject({ status: 422, body: { message } });
    expect(await eventsIn(org)).toEqual([]);
  });

  // SECURITY: such a token could not see the organization after the edit.
  it("lets no token for public resources hide the organization", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    const token = await make.token(owner, { scopes: "public-only,all" });
    const json = { visibility: "private" };

    expect((await call("PATCH", `/orgs/${org.name}`, { token, json })).status).toBe(403);
    expect(await eventsIn(org)).toEqual([]);
  });
});

describe("POST /orgs/{org}/rename", () => {
  it("renames the organization, whose old name redirects", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    const repo = await make.repo(org);
    const name = freshName("Renamed");

    const path = `/orgs/${org.name}/rename`;
    expect((await call("POST", path, { as: owner, json: { new_name: name } })).status).toBe(204);

    expect((await call("GET", `/orgs/${name}`)).body).toMatchObject({ id: org.id, name });
    const moved = await call("GET", `/orgs/${org.name}/repos?page=1`);
    expect(moved.status).toBe(307);
    expect(moved.headers.get("Location")).toBe(
      `https://forge.example/api/v1/orgs/${name}/repos?page=1`,
    );
    expect((await call("GET", `/repos/${name}/${repo.name}`)).status).toBe(200);
    expect(await eventsIn(org)).toMatchObject([
      { type: "organization.renamed", payload: { from: org.name, to: name } },
    ]);
  });

  it("changes the case of a name, and nothing for the same name", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    const rename = (new_name: string) =>
      call("POST", `/orgs/${org.name}/rename`, { as: owner, json: { new_name } });

    expect((await rename(org.name)).status).toBe(204);
    expect(await eventsIn(org)).toEqual([]);
    expect((await rename(org.name.toUpperCase())).status).toBe(204);
    expect((await call("GET", `/orgs/${org.name}`)).body.name).toBe(org.name.toUpperCase());
  });

  it("refuses names that are taken, reserved or invalid", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    const messageFor = async (new_name: string) => {
      const answer = await call("POST", `/orgs/${org.name}/rename`, {
        as: owner,
        json: { new_name },
      });
      expect(answer.status).toBe(422);
      return answer.body.message;
    };

    expect(await messageFor(owner.name)).toBe(`user already exists [name: ${owner.name}]`);
    expect(await messageFor("api")).toBe("name is reserved [name: api]");
    expect(await messageFor("a/b")).toMatch(/^\[new_name\]: must consist of/);
    expect(await messageFor("")).toBe("[new_name]: must not be empty");
    expect(await eventsIn(org)).toEqual([]);
    expect((await call("GET", `/orgs/${org.name}`)).status).toBe(200);
  });

  it("refuses everybody but owners", async () => {
    const [owner, member] = [await make.user(), await make.user()];
    const org = await make.org([owner]);
    await make.member(org, await make.team(org), member);
    const path = `/orgs/${org.name}/rename`;
    const json = { new_name: freshName("mine") };

    expect((await call("POST", path, { as: member, json })).status).toBe(403);
    expect((await call("POST", path, { as: await make.user(), json })).status).toBe(403);
    expect((await call("POST", path, { json })).status).toBe(401);
    expect(await eventsIn(org)).toEqual([]);
  });
});

describe("DELETE /orgs/{org}", () => {
  it("deletes the organization with its teams and memberships, and frees the name", async () => {
    const [owner, member] = [await make.user(), await make.user()];
    const org = await make.org([owner]);
    await make.member(org, await make.team(org), member);

    const { answer, line } = await logged(() => call("DELETE", `/orgs/${org.name}`, { as: owner }));

    expect(answer).toMatchObject({ status: 204, body: "" });
    expect(line.d1Rounds).toBeLessThanOrEqual(3);
    expect((await call("GET", `/orgs/${org.name}`, { as: owner })).status).toBe(404);
    expect(await db.select().from(teams).where(eq(teams.orgId, org.id))).toEqual([]);
    expect((await call("GET", "/user/orgs", { as: member })).body).toEqual([]);
    expect(await eventsIn(org)).toMatchObject([
      { type: "organization.deleted", actorId: owner.id, payload: { name: org.name } },
    ]);
    expect(await auditOf(org)).toMatchObject([
      { kind: "organization.deleted", actorId: owner.id, ownerName: org.name },
    ]);
    expect((await call("DELETE", `/orgs/${org.name}`, { as: owner })).status).toBe(404);
    const json = { username: org.name };
    expect((await call("POST", "/orgs", { as: member, json })).status).toBe(201);
  });

  it("refuses to delete an organization that owns a repository, and changes nothing", async () => {
    const [owner, member] = [await make.user(), await make.user()];
    const org = await make.org([owner]);
    await make.member(org, await make.team(org), member);
    const repo = await make.repo(org, { isPrivate: true });

    expect(await call("DELETE", `/orgs/${org.name}`, { as: owner })).toMatchObject({
      status: 422,
      body: { message: `organization still has ownership of repositories [uid: ${org.id}]` },
    });

    expect((await call("GET", `/repos/${org.name}/${repo.name}`, { as: member })).status).toBe(200);
    expect(await eventsIn(org)).toEqual([]);
  });

  it("refuses to delete an organization that owns a package, and changes nothing", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    const pkg = await makePackage(org);
    expect(await call("DELETE", `/orgs/${org.name}`, { as: owner })).toMatchObject({
      status: 422,
      body: { message: `organization still has ownership of packages [uid: ${org.id}]` },
    });
    expect(await versionsOf(pkg.id)).toEqual(["1.0"]);
    expect(await eventsIn(org)).toEqual([]);
    const path = `/packages/${org.name}/generic/${pkg.name}/1.0`;
    expect((await call("DELETE", path, { as: owner })).status).toBe(204);
    expect((await call("DELETE", `/orgs/${org.name}`, { as: owner })).status).toBe(204);
  });

  it("deletes an organization of more members than one batch removes", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    const team = await make.team(org);
    const prefix = freshName("many");
    const rows = JSON.stringify(Array.from({ length: 5200 }, (_, at) => `${prefix}-${at}`));
    await db.run(sql`
        insert into users (kind, name, lower_name, created_at, updated_at)
        select 'user', value, value, 1000, 1000 from json_each(${rows})`);
    await db.run(sql`
        insert into organization_members (org_id, user_id)
        select ${org.id}, id from users where lower_name like ${`${prefix}-%`}`);
    await db.run(sql`
        insert into team_members (team_id, user_id)
        select ${team.id}, id from users where lower_name like ${`${prefix}-%`}`);

    expect((await call("DELETE", `/orgs/${org.name}`, { as: owner })).status).toBe(204);

    const left = sql`select count(*) as count from organization_members where org_id = ${org.id}`;
    expect(await db.get(left)).toEqual({ count: 0 });
    expect(await eventsIn(org)).toHaveLength(1);
  });

  it("refuses everybody but owners and administrators", async () => {
    const [owner, member] = [await make.user(), await make.user()];
    const org = await make.org([owner]);
    await make.member(org, await make.team(org, { access: 3 }), member);
    const path = `/orgs/${org.name}`;

    expect((await call("DELETE", path, { as: member })).status).toBe(403);
    expect((await call("DELETE", path, { as: await make.user() })).status).toBe(403);
    expect((await call("DELETE", path)).status).toBe(401);
    expect((await call("GET", path)).status).toBe(200);
    expect(await eventsIn(org)).toEqual([]);
    expect((await call("DELETE", path, { as: await make.admin() })).status).toBe(204);
  });
});

describe("GET /users/{username}/orgs/{org}/permissions", () => {
  const NONE = {
    is_owner: false,
    is_admin: false,
    can_write: false,
    can_read: false,
    can_create_repository: false,
  };
  const pathOf = (user: User, org: User) => `/users/${user.name}/orgs/${org.name}/permissions`;

  it("says what the user's teams grant", async () => {
    const [owner, admin, unit, stranger] = [
      await make.user(),
      await make.user(),
      await make.user(),
      await make.user(),
    ];
    const org = await make.org([owner]);
    await make.member(org, await make.team(org, { access: 3 }), admin);
    const maker = await make.team(org, { access: 0, units: { code: 2 }, creates: true });
    await make.member(org, maker, unit);
    const permissionsOf = async (user: typeof owner) => {
      const answer = await call("GET", pathOf(user, org), { as: user });
      expect(answer.status).toBe(200);
      return answer.body;
    };

    expect(await permissionsOf(owner)).toEqual({
      is_owner: true,
      is_admin: true,
      can_write: true,
      can_read: true,
      can_create_repository: true,
    });
    expect(await permissionsOf(admin)).toEqual({
      ...NONE,
      is_admin: true,
      can_write: true,
      can_read: true,
    });
    expect(await permissionsOf(unit)).toEqual({ ...NONE, can_create_repository: true });
    expect(await permissionsOf(stranger)).toEqual(NONE);
  });

  // SECURITY: a membership is private until its member makes it public.
  it("shows outsiders public memberships only", async () => {
    const [owner, stranger] = [await make.user(), await make.user()];
    const org = await make.org([owner]);
    const path = pathOf(owner, org);

    expect((await call("GET", path, { as: stranger })).body).toEqual(NONE);
    await publicize(org, owner);
    expect((await call("GET", path, { as: stranger })).body.is_owner).toBe(true);
  });

  it("finds no organization that the caller may not see, and nothing unknown", async () => {
    const [owner, stranger] = [await make.user(), await make.user()];
    const org = await make.org([owner], { visibility: "private" });
    await publicize(org, owner);
    const narrow = await make.token(owner, { scopes: "public-only,all" });

    expect((await call("GET", pathOf(owner, org), { as: owner })).body.is_owner).toBe(true);
    expect((await call("GET", pathOf(owner, org), { as: stranger })).status).toBe(404);
    expect((await call("GET", pathOf(owner, org), { token: narrow })).status).toBe(404);
    expect((await call("GET", pathOf(owner, owner), { as: owner })).status).toBe(404);
    expect((await call("GET", pathOf(owner, org))).status).toBe(401);
    const unknown = { ...owner, name: "nobody-of-this-name" };
    expect((await call("GET", pathOf(unknown, org), { as: owner })).status).toBe(404);
  });
});

describe("organizations for administrators", () => {
  it("are listed whatever their visibility", async () => {
    const org = await make.org([await make.user()], { visibility: "private" });
    const admin = await make.admin();

    const first = await call("GET", "/admin/orgs?limit=50", { as: admin });
    expect(first.status).toBe(200);
    const total = Number(first.headers.get("X-Total-Count"));
    const names: string[] = [];
    for (let page = 1; page <= Math.ceil(total / 50); page++) {
      const { body } = await call("GET", `/admin/orgs?limit=50&page=${page}`, { as: admin });
      names.push(...body.map(({ name }: { name: string }) => name));
    }
    expect(names).toContain(org.name);
    expect(names).toHaveLength(total);
    expect((await call("GET", "/admin/orgs", { as: await make.user() })).status).toBe(403);
    expect((await call("GET", "/admin/orgs")).status).toBe(401);
  });

  it("are created for a user, who owns them", async () => {
    const [admin, user] = [await make.admin(), await make.user()];
    const path = `/admin/users/${user.name}/orgs`;
    const json = { username: freshName("made"), visibility: "private" };

    const answer = await call("POST", path, { as: admin, json });

    expect(answer).toMatchObject({ status: 201, body: { name: json.username } });
    const rights = `/users/${user.name}/orgs/${json.username}/permissions`;
    expect((await call("GET", rights, { as: user })).body.is_owner).toBe(true);
    expect(await eventsIn(answer.body)).toMatchObject([
      { type: "organization.created", actorId: admin.id },
    ]);
    expect((await call("POST", path, { as: admin, json })).status).toBe(422);
  });

  it("are created by nobody else, and for no user who may not have one", async () => {
    const [admin, user] = [await make.admin(), await make.user()];
    const barred = await make.user({ canCreateOrganization: false });
    const json = { username: freshName("made") };
    const create = async (name: string, sending: object) =>
      (await call("POST", `/admin/users/${name}/orgs`, { json, ...sending })).status;

    expect(await create(user.name, { as: user })).toBe(403);
    expect(await create(user.name, {})).toBe(401);
    expect(await create(barred.name, { as: admin })).toBe(403);
    expect(await create("nobody-of-this-name", { as: admin })).toBe(404);
    expect(await accountNamed(json.username)).toEqual([]);
  });
});
