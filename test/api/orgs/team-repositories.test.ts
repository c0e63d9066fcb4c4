import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { ACCESS, teamRepositories, watches } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsIn } from "../../support/events.ts";
import { make } from "../../support/make.ts";

interface Row {
  id: number;
}

/**
 * An organization with an owner, a team of one member that reaches no repository, and a private
 * repository.
 */
async function makeScene() {
  const [owner, member] = [await make.user(), await make.user()];
  const org = await make.org([owner]);
  const team = await make.team(org, { access: ACCESS.none, units: { code: 1 }, all: false });
  await make.member(org, team, member);
  const repo = await make.repo(org, { isPrivate: true });
  return {
    org,
    owner,
    team,
    member,
    repo,
    path: `/teams/${team.id}/repos/${org.name}/${repo.name}`,
  };
}

const isNamed = async (team: Row, repo: Row) =>
  (
    await db
      .select()
      .from(teamRepositories)
      .where(and(eq(teamRepositories.teamId, team.id), eq(teamRepositories.repoId, repo.id)))
  ).length > 0;

const isWatching = async (user: Row, repo: Row) =>
  (
    await db
      .select()
      .from(watches)
      .where(and(eq(watches.userId, user.id), eq(watches.repoId, repo.id)))
  ).length > 0;

describe("PUT /teams/{id}/repos/{org}/{repo}", () => {
  it("gives the team access to the repository, which its members watch, and records an event", async () => {
    const { org, owner, team, member, repo, path } = await makeScene();
    const shown = `/repos/${org.name}/${repo.name}`;
    expect((await call("GET", shown, { as: member })).status).toBe(404);

    expect(await call("PUT", path, { as: owner })).toMatchObject({ status: 204, body: "" });

    expect((await call("GET", shown, { as: member })).status).toBe(200);
    expect(await isWatching(member, repo)).toBe(true);
    const recorded = [
      {
        type: "team.repository_added",
        actorId: owner.id,
        repoId: null,
        payload: { teamId: team.id, repositoryId: repo.id },
      },
    ];
    expect(await eventsIn(org)).toMatchObject(recorded);
    expect((await call("PUT", path, { as: owner })).status).toBe(204);
    expect(await eventsIn(org)).toMatchObject(recorded);
  });

  it("refuses a member who does not administer the repository, and finds none that they may not see", async () => {
    const { org, team, member, repo, path } = await makeScene();
    const open = await make.repo(org);
    const visible = `/teams/${team.id}/repos/${org.name}/${open.name}`;

    expect((await call("PUT", path, { as: member })).status).toBe(404);
    expect(await call("PUT", visible, { as: member })).toMatchObject({
      status: 403,
      body: { message: "Must have admin-level access to the repository" },
    });
    expect((await call("PUT", visible, { as: await make.user() })).status).toBe(404);
    expect((await call("PUT", visible)).status).toBe(401);
    expect(await isNamed(team, repo)).toBe(false);
    expect(await isNamed(team, open)).toBe(false);
    expect(await eventsIn(org)).toEqual([]);
    await make.collaborator(open, member, 3);
    expect((await call("PUT", visible, { as: member })).status).toBe(204);
  });

  it("refuses members of other teams, however they administer the repository", async () => {
    const { org, path } = await makeScene();
    const other = await make.user();
    await make.member(org, await make.team(org, { access: ACCESS.admin }), other);

    expect(await call("PUT", path, { as: other })).toMatchObject({
      status: 403,
      body: { message: "Must be a team member" },
    });
    expect(await eventsIn(org)).toEqual([]);
  });

  it("finds no repository of another owner, nor an unknown one", async () => {
    const { org, owner, team } = await makeScene();
    const own = await make.repo(owner);
    const put = async (name: string) =>
      (await call("PUT", `/teams/${team.id}/repos/${name}`, { as: owner })).status;

    expect(await put(`${owner.name}/${own.name}`)).toBe(404);
    expect(await put(`${org.name}/no-such-repository`)).toBe(404);
    expect(await eventsIn(org)).toEqual([]);
  });
});

describe("DELETE /teams/{id}/repos/{org}/{repo}", () => {
  it("takes the repository from the team, and watches from members who saw it by that alone", async () => {
    const { org, owner, team, member, repo, path } = await makeScene();
    const reader = await make.user();
    await make.member(org, team, reader);
    await make.collaborator(repo, reader, 1);
    await call("PUT", path, { as: owner });

    expect(await call("DELETE", path, { as: owner })).toMatchObject({ status: 204, body: "" });

    expect((await call("GET", `/repos/${org.name}/${repo.name}`, { as: member })).status).toBe(404);
    expect(await isWatching(member, repo)).toBe(false);
    expect(await isWatching(reader, repo)).toBe(true);
    expect((await eventsIn(org)).slice(1)).toMatchObject([
      {
        type: "team.repository_removed",
        payload: { teamId: team.id, repositoryId: repo.id },
      },
    ]);
    expect((await call("DELETE", path, { as: owner })).status).toBe(204);
    expect(await eventsIn(org)).toHaveLength(2);
  });

  it("takes nothing from a team with all repositories", async () => {
    const { org, owner, repo } = await makeScene();
    const all = await make.team(org);

    const path = `/teams/${all.id}/repos/${org.name}/${repo.name}`;
    expect((await call("DELETE", path, { as: owner })).status).toBe(204);
    expect((await call("GET", path, { as: owner })).status).toBe(200);
    expect(await eventsIn(org)).toEqual([]);
  });

  it("refuses a member who does not administer the repository", async () => {
    const { owner, team, member, repo, path } = await makeScene();
    await call("PUT", path, { as: owner });

    expect((await call("DELETE", path, { as: member })).status).toBe(403);
    expect((await call("DELETE", path, { as: await make.user() })).status).toBe(404);
    expect((await call("DELETE", path)).status).toBe(401);
    expect(await isNamed(team, repo)).toBe(true);
  });
});

describe("GET /teams/{id}/repos", () => {
  it("lists the team's repositories by name, and returns one", async () => {
    const { org, owner, team, member, repo, path } = await makeScene();
    const first = await make.repo(org, { name: "a-first", isPrivate: true });
    const list = `/teams/${team.id}/repos`;
    expect((await call("GET", list, { as: member })).body).toEqual([]);
    await call("PUT", path, { as: owner });
    await call("PUT", `${list}/${org.name}/${first.name}`, { as: owner });

    const answer = await call("GET", list, { as: member });

    expect(answer).toMatchObject({
      status: 200,
      body: [
        { id: first.id, permissions: { admin: false, push: false, pull: true } },
        { id: repo.id },
      ],
    });
    expect(answer.headers.get("X-Total-Count")).toBe("2");
    expect((await call("GET", `${list}?limit=1&page=2`, { as: member })).body).toMatchObject([
      { id: repo.id },
    ]);
    expect(await call("GET", path, { as: member })).toMatchObject({
      status: 200,
      body: { id: repo.id, full_name: `${org.name}/${repo.name}` },
    });
  });

  it("includes repositories that are created later, for a team with all of them", async () => {
    const { org, owner } = await makeScene();
    const all = await make.team(org);
    const json = { name: "later", private: true };
    expect((await call("POST", `/orgs/${org.name}/repos`, { as: owner, json })).status).toBe(201);

    const path = `/teams/${all.id}/repos/${org.name}/later`;
    expect((await call("GET", path, { as: owner })).status).toBe(200);
  });

  it("is for members of the team, owners and administrators", async () => {
    const { org, owner, team, path } = await makeScene();
    const fellow = await make.user();
    await make.member(org, await make.team(org), fellow);
    await call("PUT", path, { as: owner });

    for (const each of [`/teams/${team.id}/repos`, path]) {
      expect((await call("GET", each, { as: await make.admin() })).status).toBe(200);
      expect((await call("GET", each, { as: fellow })).status).toBe(403);
      expect((await call("GET", each, { as: await make.user() })).status).toBe(404);
      expect((await call("GET", each)).status).toBe(401);
    }
  });

  // SECURITY: a token for public resources sees no private repository of a public organization.
  it("shows a public-only token public repositories only", async () => {
    const { org, owner, team, path } = await makeScene();
    const open = await make.repo(org);
    await call("PUT", path, { as: owner });
    await call("PUT", `/teams/${team.id}/repos/${org.name}/${open.name}`, { as: owner });
    const token = await make.token(owner, { scopes: "public-only,all" });

    expect((await call("GET", `/teams/${team.id}/repos`, { token })).body).toMatchObject([
      { id: open.id },
    ]);
    expect((await call("GET", path, { token })).status).toBe(404);
  });
});
