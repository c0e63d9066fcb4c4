import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  organizationMembers,
  teamMembers,
  teams,
  users,
  type User,
} from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsIn } from "../../support/events.ts";
import { freshName, make } from "../../support/make.ts";
import { statusesOf } from "../../support/statuses.ts";

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
