import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { ACCESS, teamRepositories } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsIn } from "../../support/events.ts";
import { make } from "../../support/make.ts";

/**
 * An organization with an owner, a private repository, and teams without and with all repositories.
 */
async function makeScene(fields: Parameters<typeof make.org>[1] = {}) {
  const owner = await make.user();
  const org = await make.org([owner], fields);
  const repo = await make.repo(org, { isPrivate: true });
  const team = await make.team(org, { name: "devs", units: { code: 2 }, access: 0, all: false });
  const all = await make.team(org, { name: "all" });
  return { owner, org, repo, team, all, path: `/repos/${org.name}/${repo.name}/teams` };
}

const namesOf = (answer: { body: { name: string }[] }) => answer.body.map(({ name }) => name);

const teamsNaming = async (repo: { id: number }) =>
  (await db.select().from(teamRepositories).where(eq(teamRepositories.repoId, repo.id))).map(
    ({ teamId }) => teamId,
  );

describe("GET /repos/{owner}/{repo}/teams", () => {
  it("lists the teams that reach the repository, the owners first", async () => {
    const { owner, path } = await makeScene();
    expect(namesOf(await call("GET", path, { as: owner }))).toEqual(["Owners", "all"]);

    await call("PUT", `${path}/devs`, { as: owner });

    const answer = await call("GET", path, { as: owner });
    expect(answer).toMatchObject({
      status: 200,
      body: [
        { name: "Owners", permission: "owner", organization: null },
        { name: "all" },
        { name: "devs", units_map: { "repo.code": "write" } },
      ],
    });
    expect(answer.headers.get("X-Total-Count")).toBe("3");
    expect(namesOf(await call("GET", `${path}?limit=1&page=2`, { as: owner }))).toEqual(["all"]);
  });

  // SECURITY: readers from outside the organization learn nothing of its teams.
  it("is for members of the organization and administrators of the repository", async () => {
    const { org, owner, all, path } = await makeScene();
    const [member, reader, admin] = [await make.user(), await make.user(), await make.user()];
    await make.member(org, all, member);
    const open = await make.repo(org);
    await make.collaborator(open, admin, 3);
    const openPath = `/repos/${org.name}/${open.name}/teams`;

    for (const as of [owner, member, admin, await make.admin()]) {
      expect((await call("GET", openPath, { as })).status).toBe(200);
      expect((await call("GET", `${openPath}/all`, { as })).status).toBe(200);
    }
    expect((await call("GET", openPath, { as: reader })).status).toBe(403);
    expect((await call("GET", `${openPath}/all`, { as: reader })).status).toBe(403);
    expect((await call("GET", `${openPath}/unknown`, { as: reader })).status).toBe(403);
    expect((await call("GET", openPath)).status).toBe(401);
    expect((await call("GET", path, { as: reader })).status).toBe(404);
    expect((await call("GET", path)).status).toBe(404);
  });

  it("returns one team by name in any case, if it reaches the repository", async () => {
    const { owner, path, all } = await makeScene();

    expect(await call("GET", `${path}/ALL`, { as: owner })).toMatchObject({
      status: 200,
      body: { id: all.id, organization: null },
    });
    for (const name of ["devs", "unknown"]) {
      expect((await call("GET", `${path}/${name}`, { as: owner })).status).toBe(404);
    }
  });
});

describe("PUT and DELETE /repos/{owner}/{repo}/teams/{team}", () => {
  it("add and remove a team, and record events", async () => {
    const { org, owner, repo, team, path } = await makeScene();
    const member = await make.user();
    await make.member(org, team, member);
    const shown = `/repos/${org.name}/${repo.name}`;

    expect(await call("PUT", `${path}/DEVS`, { as: owner })).toMatchObject({
      status: 204,
      body: "",
    });
    expect((await call("GET", shown, { as: member })).status).toBe(200);
    expect((await call("DELETE", `${path}/devs`, { as: owner })).status).toBe(204);
    expect((await call("GET", shown, { as: member })).status).toBe(404);

    const payload = { teamId: team.id, repositoryId: repo.id };
    expect(await eventsIn(org)).toMatchObject([
      { type: "team.repository_added", actorId: owner.id, payload },
      { type: "team.repository_removed", actorId: owner.id, payload },
    ]);
  });

  it("refuse to add a team twice, to remove one that is not there, and one with all repositories", async () => {
    const { owner, path } = await makeScene();
    const attempt = async (method: string, name: string) => {
      const answer = await call(method, `${path}/${name}`, { as: owner });
      return [answer.status, answer.body.message];
    };

    expect(await attempt("DELETE", "devs")).toEqual([422, "team 'devs' was not added to repo"]);
    expect(await attempt("PUT", "all")).toEqual([422, "team 'all' is already added to repo"]);
    expect(await attempt("PUT", "owners")).toEqual([422, "team 'Owners' is already added to repo"]);
    expect(await attempt("DELETE", "Owners")).toEqual([
      422,
      "team 'Owners' has all repositories of the organization",
    ]);
    expect((await attempt("PUT", "unknown"))[0]).toBe(404);
    expect((await attempt("DELETE", "unknown"))[0]).toBe(404);
  });

  it("are for administrators; collaborators among them only if the organization allows it", async () => {
    const { org, owner, repo, path } = await makeScene();
    const [writer, admin, teamAdmin] = [await make.user(), await make.user(), await make.user()];
    await make.collaborator(repo, writer, 2);
    await make.collaborator(repo, admin, 3);
    await make.member(org, await make.team(org, { access: ACCESS.admin }), teamAdmin);

    for (const as of [writer, admin]) {
      expect((await call("PUT", `${path}/devs`, { as })).status).toBe(403);
    }
    expect((await call("PUT", `${path}/devs`, { as: await make.user() })).status).toBe(404);
    expect((await call("PUT", `${path}/devs`)).status).toBe(404);
    expect(await teamsNaming(repo)).toEqual([]);
    expect((await call("PUT", `${path}/devs`, { as: teamAdmin })).status).toBe(204);
    expect((await call("DELETE", `${path}/devs`, { as: admin })).status).toBe(403);

    const json = { repo_admin_change_team_access: true };
    await call("PATCH", `/orgs/${org.name}`, { as: owner, json });

    expect((await call("DELETE", `${path}/devs`, { as: writer })).status).toBe(403);
    expect((await call("DELETE", `${path}/devs`, { as: admin })).status).toBe(204);
  });

  it("do not apply to a user's repository", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const path = `/repos/${owner.name}/${repo.name}/teams`;

    for (const [method, at] of [
      ["GET", path],
      ["GET", `${path}/devs`],
      ["PUT", `${path}/devs`],
      ["DELETE", `${path}/devs`],
    ] as const) {
      expect(await call(method, at, { as: owner })).toMatchObject({
        status: 405,
        body: { message: "repo is not owned by an organization" },
      });
    }
  });
});
