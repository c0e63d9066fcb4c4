import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { ACCESS, organizationMembers, teamMembers, teams } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsIn } from "../../support/events.ts";
import { make } from "../../support/make.ts";
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

    expect((await call("PUT", path, { as: member })).status).toBe(403);
    expect((await call("PUT", path, { as: user })).status).toBe(404);
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

    expect((await call("DELETE", path, { as: member })).status).toBe(403);
    expect((await call("DELETE", path, { as: await make.user() })).status).toBe(404);
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
