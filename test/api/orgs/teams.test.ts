import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  ACCESS,
  organizationMembers,
  teamMembers,
  teams,
  watches,
} from "../../../src/db/schema/index.ts";
import { auditOf } from "../../support/audit.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsIn } from "../../support/events.ts";
import { make, type TestUser } from "../../support/make.ts";
import { statusesOf } from "../../support/statuses.ts";

interface Row {
  id: number;
}

const isInTeam = async (team: Row, user: Row) =>
  (
    await db
      .select()
      .from(teamMembers)
      .where(and(eq(teamMembers.teamId, team.id), eq(teamMembers.userId, user.id)))
  ).length > 0;

const isInOrg = async (org: Row, user: Row) =>
  (
    await db
      .select()
      .from(organizationMembers)
      .where(and(eq(organizationMembers.orgId, org.id), eq(organizationMembers.userId, user.id)))
  ).length > 0;

/** An organization with an owner and a team with one member. */
async function makeOrg(fields: Parameters<typeof make.org>[1] = {}) {
  const [owner, member] = [await make.user(), await make.user()];
  const org = await make.org([owner], fields);
  const team = await make.team(org);
  await make.member(org, team, member);
  const [owners] = await db
    .select()
    .from(teams)
    .where(and(eq(teams.orgId, org.id), eq(teams.lowerName, "owners")));
  if (!owners) throw new Error("an organization has owners");
  return { org, owners, team, owner, member };
}

const UNKNOWN_UNIT = (field: string) => `[${field}]: must name units that exist, such as repo.code`;

describe("GET /orgs/{org}/teams", () => {
  it("lists the teams by name, for members", async () => {
    const { org, team, member } = await makeOrg();

    const answer = await call("GET", `/orgs/${org.name}/teams`, { as: member });

    expect(answer).toMatchObject({
      status: 200,
      body: [
        { name: "Owners", permission: "owner", includes_all_repositories: true },
        { id: team.id, name: team.name, permission: "read" },
      ],
    });
    expect(answer.headers.get("X-Total-Count")).toBe("2");
  });

  it("requires a member or a site administrator", async () => {
    const { org } = await makeOrg();
    const path = `/orgs/${org.name}/teams`;

    expect((await call("GET", path)).status).toBe(401);
    expect((await call("GET", path, { as: await make.user() })).status).toBe(403);
    expect((await call("GET", path, { as: await make.admin() })).status).toBe(200);
  });
});

describe("GET /teams/{id}", () => {
  it("returns the team with its organization", async () => {
    const { org, team, member } = await makeOrg({
      fullName: "The Analytical Society",
      description: "Engines",
      website: "https://society.example",
      location: "London",
      visibility: "limited",
      canRepoAdminChangeTeamAccess: true,
    });

    const answer = await call("GET", `/teams/${team.id}`, { as: member });

    expect(answer).toMatchObject({
      status: 200,
      body: {
        id: team.id,
        name: team.name,
        description: "",
        organization: {
          id: org.id,
          name: org.name,
          full_name: "The Analytical Society",
          avatar_url: `https://forge.example/avatars/${org.id}`,
          description: "Engines",
          website: "https://society.example",
          location: "London",
          visibility: "limited",
          repo_admin_change_team_access: true,
          username: org.name,
        },
        includes_all_repositories: true,
        can_create_org_repo: false,
        permission: "read",
        units: expect.arrayContaining(["repo.code", "repo.packages"]),
        units_map: expect.objectContaining({ "repo.code": "read" }),
      },
    });
  });

  it("is for its members, owners and site administrators; other members of the organization are forbidden", async () => {
    const { org, owner, team } = await makeOrg();
    const fellow = await make.user();
    await make.member(org, await make.team(org), fellow);
    const path = `/teams/${team.id}`;

    expect((await call("GET", path, { as: owner })).status).toBe(200);
    expect((await call("GET", path, { as: await make.admin() })).status).toBe(200);
    expect(await call("GET", path, { as: fellow })).toMatchObject({
      status: 403,
      body: { message: "Must be a team member" },
    });
    expect(await call("GET", path, { as: await make.user() })).toMatchObject({
      status: 404,
      body: "",
    });
    expect((await call("GET", path)).status).toBe(401);
  });

  it.each(["limited", "private"] as const)(
    "hides a team of a %s organization from a public-only token",
    async (visibility) => {
      const { team, member } = await makeOrg({ visibility });
      const token = await make.token(member, { scopes: "public-only,all" });

      expect((await call("GET", `/teams/${team.id}`, { token })).status).toBe(404);
    },
  );

  it("is not found for an unknown id", async () => {
    const { owner } = await makeOrg();

    for (const id of ["999999999", "0", "abc"]) {
      expect(await call("GET", `/teams/${id}`, { as: owner })).toMatchObject({
        status: 404,
        body: "",
      });
    }
  });
});

describe("GET /teams/{id}/members", () => {
  it("lists the members, and returns one by name", async () => {
    const { team, owner, member } = await makeOrg();
    const path = `/teams/${team.id}/members`;

    expect(await call("GET", path, { as: member })).toMatchObject({
      status: 200,
      body: [{ login: member.name }],
    });
    expect(await call("GET", `${path}/${member.name}`, { as: member })).toMatchObject({
      status: 200,
      body: { id: member.id },
    });
    expect((await call("GET", `${path}/${owner.name}`, { as: member })).status).toBe(404);
    expect((await call("GET", path, { as: await make.user() })).status).toBe(404);
  });
});

describe("PUT /teams/{id}/members/{username}", () => {
  it("adds a user to the team and to the organization, and records an event", async () => {
    const { org, team, owner } = await makeOrg();
    const user = await make.user();
    const path = `/teams/${team.id}/members/${user.name}`;

    expect(await call("PUT", path, { as: owner })).toMatchObject({ status: 204, body: "" });

    expect(await isInTeam(team, user)).toBe(true);
    expect(await isInOrg(org, user)).toBe(true);
    const recorded = [
      {
        type: "organization.member_added",
        actorId: owner.id,
        payload: { userId: user.id, teamId: team.id },
      },
    ];
    expect(await eventsIn(org)).toMatchObject(recorded);
    expect((await call("PUT", path, { as: owner })).status).toBe(204);
    expect(await eventsIn(org)).toMatchObject(recorded);
  });

  it("requires an owner of the organization", async () => {
    const { org, team, member } = await makeOrg();
    const user = await make.user();
    const path = `/teams/${team.id}/members/${user.name}`;

    for (const as of [member, user]) expect((await call("PUT", path, { as })).status).toBe(404);
    expect((await call("PUT", path)).status).toBe(401);
    expect(await isInOrg(org, user)).toBe(false);
    expect(await eventsIn(org)).toEqual([]);
  });

  it("is not found for organizations, unknown names and private users", async () => {
    const { org, team, owner } = await makeOrg();
    const hidden = await make.user({ visibility: "private" });

    for (const name of [org.name, "nobody-of-this-name", hidden.name]) {
      const path = `/teams/${team.id}/members/${name}`;
      expect((await call("PUT", path, { as: owner })).status).toBe(404);
    }
    expect(await eventsIn(org)).toEqual([]);
  });
});

describe("DELETE /teams/{id}/members/{username}", () => {
  it("removes a user from the organization only with their last team", async () => {
    const { org, team, owner, member } = await makeOrg();
    const other = await make.team(org);
    await make.member(org, other, member);

    await call("DELETE", `/teams/${team.id}/members/${member.name}`, { as: owner });
    expect(await isInTeam(team, member)).toBe(false);
    expect(await isInOrg(org, member)).toBe(true);

    await call("DELETE", `/teams/${other.id}/members/${member.name}`, { as: owner });
    expect(await isInOrg(org, member)).toBe(false);
    expect(await eventsIn(org)).toMatchObject([
      { type: "organization.member_removed", payload: { userId: member.id, teamId: team.id } },
      { type: "organization.member_removed", payload: { userId: member.id, teamId: other.id } },
    ]);
  });

  // SECURITY: access ends with the membership, on the next request.
  it("revokes access to the organization's private repositories at once", async () => {
    const { org, team, owner, member } = await makeOrg();
    const repo = await make.repo(org, { isPrivate: true, visibility: "private" });
    const path = `/repos/${org.name}/${repo.name}`;
    expect((await call("GET", path, { as: member })).status).toBe(200);

    await call("DELETE", `/teams/${team.id}/members/${member.name}`, { as: owner });

    expect(await call("GET", path, { as: member })).toMatchObject({ status: 404, body: "" });
  });

  it("requires an owner of the organization", async () => {
    const { org, team, member } = await makeOrg();
    const path = `/teams/${team.id}/members/${member.name}`;

    for (const as of [member, await make.user()]) {
      expect((await call("DELETE", path, { as })).status).toBe(404);
    }
    expect(await isInTeam(team, member)).toBe(true);
    expect(await eventsIn(org)).toEqual([]);
  });

  it("changes nothing for a user who is not in the team", async () => {
    const { org, team, owner } = await makeOrg();
    const stranger = await make.user();

    const path = `/teams/${team.id}/members/${stranger.name}`;
    expect((await call("DELETE", path, { as: owner })).status).toBe(204);
    expect(await eventsIn(org)).toEqual([]);
  });

  it("refuses to remove the last owner", async () => {
    const { org, owners, owner } = await makeOrg();

    const path = `/teams/${owners.id}/members/${owner.name}`;
    expect(await call("DELETE", path, { as: owner })).toMatchObject({
      status: 403,
      body: { message: "the last owner of an organization can't be removed" },
    });
    expect(await isInTeam(owners, owner)).toBe(true);
    expect(await isInOrg(org, owner)).toBe(true);
    expect(await eventsIn(org)).toEqual([]);
  });

  it("keeps one of two owners who are removed concurrently", async () => {
    const pair = [await make.user(), await make.user()];
    const org = await make.org(pair);
    const [owners] = await db.select().from(teams).where(eq(teams.orgId, org.id));

    const answers = await Promise.all(
      pair.map((owner) =>
        call("DELETE", `/teams/${owners?.id}/members/${owner.name}`, { as: owner }),
      ),
    );

    expect(statusesOf(answers)).toEqual([204, 403]);
    const left = await db
      .select()
      .from(organizationMembers)
      .where(eq(organizationMembers.orgId, org.id));
    expect(left).toHaveLength(1);
    expect(await eventsIn(org)).toHaveLength(1);
  });

  it("removes the last member of another team", async () => {
    const { team, owner, member } = await makeOrg();
    expect(team.access).toBe(ACCESS.read);

    const path = `/teams/${team.id}/members/${member.name}`;
    expect((await call("DELETE", path, { as: owner })).status).toBe(204);
  });
});

const teamsOf = (org: Row) => db.select().from(teams).where(eq(teams.orgId, org.id));

describe("POST /orgs/{org}/teams", () => {
  const create = (org: { name: string }, as: object, json: object) =>
    call("POST", `/orgs/${org.name}/teams`, { ...as, json });

  it("creates a team with every field, without its creator, and records an event", async () => {
    const { org, owner } = await makeOrg();

    const answer = await create(
      org,
      { as: owner },
      {
        name: "Engines",
        description: "Builds them",
        permission: "write",
        units: ["repo.code", "repo.pulls"],
        includes_all_repositories: true,
        can_create_org_repo: true,
      },
    );

    expect(answer).toMatchObject({
      status: 201,
      body: {
        name: "Engines",
        description: "Builds them",
        organization: { id: org.id, name: org.name },
        permission: "none",
        units: ["repo.code", "repo.pulls"],
        units_map: { "repo.code": "write", "repo.pulls": "write" },
        includes_all_repositories: true,
        can_create_org_repo: true,
      },
    });
    const { id } = answer.body;
    expect((await call("GET", `/teams/${id}`, { as: owner })).body).toEqual(answer.body);
    expect((await call("GET", `/teams/${id}/members`, { as: owner })).body).toEqual([]);
    expect(await eventsIn(org)).toMatchObject([
      { type: "team.created", actorId: owner.id, payload: { teamId: id, name: "Engines" } },
    ]);
  });

  it.each([
    [{ permission: "read", units: ["repo.wiki"] }, "none", { "repo.wiki": "read" }],
    // A permission that is missing, or that no team can be given, grants nothing.
    [{ units: ["repo.code"] }, "none", { "repo.code": "none" }],
    [{ permission: "owner", units: ["repo.code"] }, "none", { "repo.code": "none" }],
    [
      { permission: "write", units: ["repo.wiki"], units_map: { "repo.code": "read" } },
      "none",
      { "repo.code": "read" },
    ],
    // A mode for each unit takes precedence over any permission but `admin`.
    [{ permission: "loc", units_map: { "repo.code": "read" } }, "none", { "repo.code": "read" }],
    [{ permission: "loc", units_map: { "repo.wiki": "none" } }, "none", { "repo.wiki": "none" }],
    [
      { units_map: { "repo.code": "owner", "repo.issues": "admin" } },
      "none",
      { "repo.code": "none", "repo.issues": "admin" },
    ],
  ])("grants what is sent: %o", async (grants, permission, units_map) => {
    const { org, owner } = await makeOrg();

    const answer = await create(org, { as: owner }, { name: "some", ...grants });

    expect(answer).toMatchObject({ status: 201, body: { permission } });
    expect(answer.body.units_map).toEqual(units_map);
  });

  it("gives a team of administrators every unit, whatever is sent", async () => {
    const { org, owner } = await makeOrg();
    const json = { name: "admins", permission: "admin", units_map: { "repo.code": "read" } };

    const { body } = await create(org, { as: owner }, json);

    expect(body.permission).toBe("admin");
    expect(body.units).toHaveLength(10);
    expect(new Set(Object.values(body.units_map))).toEqual(new Set(["admin"]));
  });

  it.each([
    [{}, "[name]: is required"],
    [
      { name: "a b" },
      "[name]: must consist of ASCII letters, digits, dashes, dots and underscores",
    ],
    [{ name: "n".repeat(256) }, "[name]: must have at most 255 characters"],
    [{ name: "New" }, "name is reserved [name: New]"],
    [{ name: "x", permission: "read" }, "[units]: must have at least 1 unit"],
    [{ name: "x", units: [] }, "[units]: must have at least 1 unit"],
    [{ name: "x", units: ["repo.x", "repo.code"] }, UNKNOWN_UNIT("units")],
    [{ name: "x", units_map: { x: "read", "repo.code": "read" } }, UNKNOWN_UNIT("units_map")],
    [
      { name: "x", permission: "loc", units: ["repo.code"] },
      "[permission]: must be one of none, read, write, admin, owner",
    ],
    [
      { name: "x", units_map: { "repo.code": "much" } },
      "[units_map]: must map units to none, read, write, admin, owner",
    ],
    [
      { name: "x", description: "d".repeat(256) },
      "[description]: must have at most 255 characters",
    ],
  ])("refuses %o", async (json, message) => {
    const { org, owner } = await makeOrg();

    expect(await create(org, { as: owner }, json)).toMatchObject({
      status: 422,
      body: { message },
    });
    expect(await teamsOf(org)).toHaveLength(2);
    expect(await eventsIn(org)).toEqual([]);
  });

  it("refuses a name that another team of the organization has, in any case", async () => {
    const { org, owner, team } = await makeOrg();
    const { org: other, owner: otherOwner } = await makeOrg();
    const units = ["repo.code"];

    for (const name of [team.name.toUpperCase(), "OWNERS"]) {
      expect(await create(org, { as: owner }, { name, units })).toMatchObject({
        status: 422,
        body: { message: `team already exists [org_id: ${org.id}, name: ${name}]` },
      });
    }
    const elsewhere = await create(other, { as: otherOwner }, { name: team.name, units });
    expect(elsewhere.status).toBe(201);
    expect(await eventsIn(org)).toEqual([]);
  });

  it("refuses everybody but owners and administrators", async () => {
    const { org, member } = await makeOrg();
    const json = { name: "mine", units: ["repo.code"] };

    expect((await create(org, { as: member }, json)).status).toBe(403);
    expect((await create(org, { as: await make.user() }, json)).status).toBe(403);
    expect((await create(org, {}, json)).status).toBe(401);
    expect(await teamsOf(org)).toHaveLength(2);
    expect(await eventsIn(org)).toEqual([]);
    expect((await create(org, { as: await make.admin() }, json)).status).toBe(201);
  });
});

describe("PATCH /teams/{id}", () => {
  const UNIT_TEAM = { access: ACCESS.none, units: { code: 2, wiki: 1 } } as const;

  it("changes what is sent, keeps the rest, and records what changed", async () => {
    const { org, owner } = await makeOrg();
    const team = await make.team(org, { ...UNIT_TEAM, all: false });
    const path = `/teams/${team.id}`;

    const json = { name: "Renamed", description: "now", can_create_org_repo: true };
    const answer = await call("PATCH", path, { as: owner, json });

    expect(answer).toMatchObject({
      status: 200,
      body: {
        id: team.id,
        ...json,
        organization: null,
        includes_all_repositories: false,
        units_map: { "repo.code": "write", "repo.wiki": "read" },
      },
    });
    const { organization: _, ...shown } = (await call("GET", path, { as: owner })).body;
    expect(answer.body).toEqual({ ...shown, organization: null });
    expect((await call("PATCH", path, { as: owner, json })).status).toBe(200);
    expect((await call("PATCH", path, { as: owner, json: {} })).body).toEqual(answer.body);
    expect(await eventsIn(org)).toMatchObject([
      {
        type: "team.edited",
        payload: { teamId: team.id, changed: ["canCreateOrgRepo", "description", "name"] },
      },
    ]);
  });

  it.each([
    [{ permission: "write", units: ["repo.issues"] }, { "repo.issues": "write" }],
    [{ units_map: { "repo.code": "read" } }, { "repo.code": "read" }],
    // Without a permission a unit keeps its mode, and a new one gets none.
    [{ units: ["repo.code", "repo.issues"] }, { "repo.code": "write", "repo.issues": "none" }],
    // A permission alone takes rights away and gives none.
    [{ permission: "read" }, { "repo.code": "read", "repo.wiki": "read" }],
    [{ permission: "write" }, { "repo.code": "write", "repo.wiki": "read" }],
  ])("changes units: %o", async (json, units_map) => {
    const { org, owner } = await makeOrg();
    const team = await make.team(org, UNIT_TEAM);

    const { body } = await call("PATCH", `/teams/${team.id}`, { as: owner, json });

    expect(body.units_map).toEqual(units_map);
  });

  it("makes a team one of administrators, and takes that away again", async () => {
    const { org, owner } = await makeOrg();
    const team = await make.team(org, UNIT_TEAM);
    const edit = async (json: object) =>
      (await call("PATCH", `/teams/${team.id}`, { as: owner, json })).body;

    expect(await edit({ permission: "admin" })).toMatchObject({ permission: "admin" });
    expect(await edit({ units: ["repo.code"] })).toMatchObject({ permission: "admin" });
    const demoted = await edit({ permission: "read" });
    expect(demoted.permission).toBe("none");
    expect(new Set(Object.values(demoted.units_map))).toEqual(new Set(["read"]));
  });

  it("includes all repositories only together with a permission", async () => {
    const { org, owner } = await makeOrg();
    const team = await make.team(org, { ...UNIT_TEAM, all: false });
    const edit = async (json: object) =>
      (await call("PATCH", `/teams/${team.id}`, { as: owner, json })).body;

    const alone = await edit({ includes_all_repositories: true });
    expect(alone.includes_all_repositories).toBe(false);
    const both = await edit({ permission: "write", includes_all_repositories: true });
    expect(both).toMatchObject({
      includes_all_repositories: true,
      units_map: { "repo.code": "write", "repo.wiki": "read" },
    });
  });

  // SECURITY: access ends with the edit, on the next request.
  it("takes access away at once, and ends watches of what members may not see any more", async () => {
    const { org, team, owner, member } = await makeOrg();
    const hidden = await make.repo(org, { isPrivate: true });
    const open = await make.repo(org);
    for (const { name } of [hidden, open]) {
      await call("PUT", `/repos/${org.name}/${name}/subscription`, { as: member });
    }

    const json = { permission: "read", includes_all_repositories: false };
    expect((await call("PATCH", `/teams/${team.id}`, { as: owner, json })).status).toBe(200);

    const path = `/repos/${org.name}/${hidden.name}`;
    expect((await call("GET", path, { as: member })).status).toBe(404);
    const left = await db.select().from(watches).where(eq(watches.userId, member.id));
    expect(left.map(({ repoId }) => repoId)).toEqual([open.id]);
  });

  it("changes only the description of the team of owners", async () => {
    const { org, owners, owner } = await makeOrg();
    const path = `/teams/${owners.id}`;
    const json = {
      name: "Owners",
      description: "chiefs",
      permission: "read",
      units: ["repo.code"],
      includes_all_repositories: false,
      can_create_org_repo: false,
    };

    expect(await call("PATCH", path, { as: owner, json })).toMatchObject({
      status: 200,
      body: {
        description: "chiefs",
        permission: "owner",
        includes_all_repositories: true,
        can_create_org_repo: true,
      },
    });
    expect(await eventsIn(org)).toMatchObject([{ payload: { changed: ["description"] } }]);
    expect(await call("PATCH", path, { as: owner, json: { name: "Bosses" } })).toMatchObject({
      status: 422,
      body: { message: "[name]: must be Owners: the team of owners can't be renamed" },
    });
  });

  it("refuses a name that is taken or invalid", async () => {
    const { org, owner, team } = await makeOrg();
    const other = await make.team(org);

    for (const name of [other.name, "owners", "a b", "new", ""]) {
      const answer = await call("PATCH", `/teams/${team.id}`, { as: owner, json: { name } });
      expect(answer.status).toBe(422);
    }
    expect(await eventsIn(org)).toEqual([]);
  });

  it("is not found for anybody but owners and administrators", async () => {
    const { org, owner, team, member } = await makeOrg();
    const path = `/teams/${team.id}`;
    const json = { description: "mine" };
    const narrow = await make.token(owner, { scopes: "public-only,all" });

    for (const as of [member, await make.user()]) {
      expect(await call("PATCH", path, { as, json })).toMatchObject({ status: 404, body: "" });
    }
    expect((await call("PATCH", path, { json })).status).toBe(401);
    expect((await call("PATCH", "/teams/999999999", { as: owner, json })).status).toBe(404);
    expect(await eventsIn(org)).toEqual([]);
    expect((await call("PATCH", path, { token: narrow, json })).status).toBe(200);
    await call("PATCH", `/orgs/${org.name}`, { as: owner, json: { visibility: "private" } });
    expect((await call("PATCH", path, { token: narrow, json })).status).toBe(404);
    expect((await call("PATCH", path, { as: await make.admin(), json })).status).toBe(200);
  });
});

describe("DELETE /teams/{id}", () => {
  it("deletes the team, and members leave the organization with their last one", async () => {
    const { org, team, owner, member } = await makeOrg();
    const both = await make.user();
    await make.member(org, team, both);
    await make.member(org, await make.team(org), both);
    const hidden = await make.repo(org, { isPrivate: true });
    await call("PUT", `/repos/${org.name}/${hidden.name}/subscription`, { as: member });
    await call("PUT", `/repos/${org.name}/${hidden.name}/subscription`, { as: both });

    expect(await call("DELETE", `/teams/${team.id}`, { as: owner })).toMatchObject({
      status: 204,
      body: "",
    });

    expect(await isInOrg(org, member)).toBe(false);
    expect(await isInOrg(org, both)).toBe(true);
    const watching = await db.select().from(watches).where(eq(watches.repoId, hidden.id));
    expect(watching.map(({ userId }) => userId)).toEqual([both.id]);
    const path = `/repos/${org.name}/${hidden.name}`;
    expect((await call("GET", path, { as: member })).status).toBe(404);
    expect((await eventsIn(org)).filter(({ type }) => type.startsWith("team"))).toMatchObject([
      { type: "team.deleted", payload: { teamId: team.id, name: team.name } },
    ]);
    expect((await call("DELETE", `/teams/${team.id}`, { as: owner })).status).toBe(404);
  });

  it("refuses to delete the team of owners", async () => {
    const { org, owners, owner } = await makeOrg();

    expect(await call("DELETE", `/teams/${owners.id}`, { as: owner })).toMatchObject({
      status: 403,
      body: { message: "the team of owners can't be deleted" },
    });
    expect(await isInTeam(owners, owner)).toBe(true);
    expect(await eventsIn(org)).toEqual([]);
  });

  it("is not found for anybody but owners and administrators", async () => {
    const { org, team, member } = await makeOrg();
    const path = `/teams/${team.id}`;

    for (const as of [member, await make.user()]) {
      expect((await call("DELETE", path, { as })).status).toBe(404);
    }
    expect((await call("DELETE", path)).status).toBe(401);
    expect(await isInTeam(team, member)).toBe(true);
    expect(await eventsIn(org)).toEqual([]);
    expect((await call("DELETE", path, { as: await make.admin() })).status).toBe(204);
  });
});

describe("GET /orgs/{org}/teams/search", () => {
  const names = (answer: { body: { data: { name: string }[] } }) =>
    answer.body.data.map(({ name }) => name);

  it("searches the caller's own teams by name and description, and all for administrators", async () => {
    const { org, owner, member } = await makeOrg();
    const engines = await make.team(org, { name: "engines" });
    await make.member(org, engines, member);
    await call("PATCH", `/teams/${engines.id}`, {
      as: owner,
      json: { description: "Builds 100%" },
    });
    const search = (query: string, as: TestUser) =>
      call("GET", `/orgs/${org.name}/teams/search?${query}`, { as });

    const found = await search("q=ENGIN", member);
    expect(found).toMatchObject({ status: 200, body: { ok: true } });
    expect(names(found)).toEqual(["engines"]);
    expect(found.headers.get("X-Total-Count")).toBe("1");
    expect(names(await search("q=0%25", member))).toEqual(["engines"]);
    expect(names(await search("q=builds&include_desc=false", member))).toEqual([]);
    expect(names(await search("q=engin", owner))).toEqual([]);
    expect(names(await search("", owner))).toEqual(["Owners"]);
    expect(names(await search("q=engin", await make.admin()))).toEqual(["engines"]);
    expect(names(await search("limit=1&page=2", member))).toHaveLength(1);
  });

  it("requires a member", async () => {
    const { org } = await makeOrg();
    const path = `/orgs/${org.name}/teams/search`;

    expect((await call("GET", path, { as: await make.user() })).status).toBe(403);
    expect((await call("GET", path)).status).toBe(401);
  });
});

describe("GET /user/teams", () => {
  it("lists the caller's teams in all organizations by name, with these", async () => {
    const { org, team, member } = await makeOrg();
    const { org: other } = await makeOrg({ visibility: "private" });
    const second = await make.team(other, { name: "zz-last" });
    await make.member(other, second, member);

    const answer = await call("GET", "/user/teams", { as: member });

    expect(answer).toMatchObject({
      status: 200,
      body: [
        { id: team.id, organization: { name: org.name } },
        { id: second.id, organization: { name: other.name } },
      ],
    });
    expect(answer.headers.get("X-Total-Count")).toBe("2");
    expect((await call("GET", "/user/teams?limit=1&page=2", { as: member })).body).toMatchObject([
      { id: second.id },
    ]);
    // SECURITY: a token for public resources sees no team of a private organization.
    const narrow = await make.token(member, { scopes: "public-only,all" });
    expect((await call("GET", "/user/teams", { token: narrow })).body).toMatchObject([
      { id: team.id },
    ]);
    expect((await call("GET", "/user/teams", { as: await make.user() })).body).toEqual([]);
    expect((await call("GET", "/user/teams")).status).toBe(401);
  });
});

describe("a new member of a team", () => {
  it("watches the repositories that the team lets them see, once", async () => {
    const { org, owner } = await makeOrg();
    const repo = await make.repo(org, { isPrivate: true });
    const [team, blind] = [
      await make.team(org),
      await make.team(org, { access: ACCESS.none, units: { code: 0 } }),
    ];
    const user = await make.user();
    const watched = async () =>
      (await db.select().from(watches).where(eq(watches.userId, user.id))).map(
        ({ repoId }) => repoId,
      );

    await call("PUT", `/teams/${blind.id}/members/${user.name}`, { as: owner });
    expect(await watched()).toEqual([]);
    const path = `/teams/${team.id}/members/${user.name}`;
    await call("PUT", path, { as: owner });
    expect(await watched()).toEqual([repo.id]);

    await call("DELETE", `/repos/${org.name}/${repo.name}/subscription`, { as: user });
    await call("PUT", path, { as: owner });
    expect(await watched()).toEqual([]);
  });
});

describe("the audit log", () => {
  it("has each change of teams and members once, and no refused one", async () => {
    const { org, team, owner } = await makeOrg();
    const user = await make.user();
    const repo = await make.repo(org, { isPrivate: true });
    const named = await make.team(org, { all: false });
    const json = { name: "made", permission: "write", units: ["repo.code"] };
    const { body: made } = await call("POST", `/orgs/${org.name}/teams`, { as: owner, json });
    const member = `/teams/${team.id}/members/${user.name}`;
    const repository = `/teams/${named.id}/repos/${org.name}/${repo.name}`;
    for (const [method, path] of [
      ["PATCH", `/teams/${made.id}`],
      ["DELETE", `/teams/${made.id}`],
      ["PUT", member],
      ["PUT", repository],
      ["DELETE", repository],
      ["DELETE", member],
    ] as const) {
      for (const _ of ["first", "again"]) {
        const edit = method === "PATCH" ? { json: { description: "now" } } : {};
        await call(method, path, { as: owner, ...edit });
      }
    }
    await call("PUT", member, { as: owner });
    await call("DELETE", `/orgs/${org.name}/members/${user.name}`, { as: owner });
    await call("PATCH", `/orgs/${org.name}`, { as: owner, json: { full_name: "Society" } });
    await call("DELETE", `/teams/${team.id}/members/${owner.name}`, { as: user });

    const entries = await auditOf(org);
    expect(entries.map(({ kind }) => kind)).toEqual([
      "team.created",
      "team.edited",
      "team.deleted",
      "team.member_added",
      "team.repository_added",
      "team.repository_removed",
      "team.member_removed",
      "team.member_added",
      "organization.member_removed",
      "organization.edited",
    ]);
    expect(entries[3]).toMatchObject({ actorId: owner.id, userId: user.id, target: team.name });
    expect(entries[4]).toMatchObject({ repoName: `${org.name}/${repo.name}`, target: named.name });
  });
});

describe("requests at once", () => {
  it("add a member to a team, or delete it, and leave nobody in the organization without a team", async () => {
    const { org, team, owner } = await makeOrg();
    const user = await make.user();

    const answers = await Promise.all([
      call("PUT", `/teams/${team.id}/members/${user.name}`, { as: owner }),
      call("DELETE", `/teams/${team.id}`, { as: owner }),
    ]);

    expect([
      [204, 204],
      [204, 404],
    ]).toContainEqual(statusesOf(answers));
    expect(await isInOrg(org, user)).toBe(false);
  });

  it("create one team of a name", async () => {
    const { org, owner } = await makeOrg();
    const json = { name: "same", units: ["repo.code"] };

    const answers = await Promise.all(
      [1, 2, 3].map(() => call("POST", `/orgs/${org.name}/teams`, { as: owner, json })),
    );

    expect(statusesOf(answers)).toEqual([201, 422, 422]);
    expect(await teamsOf(org)).toHaveLength(3);
    expect(await eventsIn(org)).toHaveLength(1);
  });
});

describe("a user whom the organization blocks", () => {
  it("joins no team", async () => {
    const { org, team, owner } = await makeOrg();
    const user = await make.user();
    const blocked = await call("PUT", `/orgs/${org.name}/blocks/${user.name}`, { as: owner });
    expect(blocked.status).toBe(204);

    const path = `/teams/${team.id}/members/${user.name}`;
    expect(await call("PUT", path, { as: owner })).toMatchObject({
      status: 403,
      body: { message: "user is blocked" },
    });

    expect(await isInOrg(org, user)).toBe(false);
    expect((await eventsIn(org)).map(({ type }) => type)).toEqual(["block.created"]);
  });
});
