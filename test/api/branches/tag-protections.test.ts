import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { repositories, tagProtections } from "../../../src/db/schema/index.ts";
import { auditOf } from "../../support/audit.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { makeTagRule } from "../../support/protections.ts";

const pathOf = ({ owner, name }: TestRepo, id?: number) =>
  `/repos/${owner}/${name}/tag_protections${id === undefined ? "" : `/${id}`}`;
const create = (repo: TestRepo, as: TestUser, json: object) =>
  call("POST", pathOf(repo), { as, json });
const patternsOf = async ({ id }: TestRepo) =>
  (await db.select().from(tagProtections).where(eq(tagProtections.repoId, id))).map(
    ({ namePattern }) => namePattern,
  );

async function makeWorld() {
  const [owner, writer] = [await make.user(), await make.user()];
  const repo = await make.repo(owner);
  await make.collaborator(repo, writer, 2);
  return { owner, writer, repo };
}

describe("POST /repos/{owner}/{repo}/tag_protections", () => {
  it("stores a pattern and those who may, without strangers, and records it", async () => {
    const { owner, writer, repo } = await makeWorld();
    const stranger = await make.user();
    const made = await create(repo, owner, {
      name_pattern: "  v*  ",
      whitelist_usernames: [owner.name, stranger.name, writer.name.toUpperCase()],
      whitelist_teams: ["x"],
    });
    expect(made).toMatchObject({
      status: 201,
      body: {
        name_pattern: "v*",
        whitelist_usernames: [writer.name, owner.name],
        whitelist_teams: [],
      },
    });
    const got = await call("GET", pathOf(repo, made.body.id), { as: owner });
    expect(got).toMatchObject({ status: 200, body: made.body });
    expect((await call("GET", pathOf(repo), { as: owner })).body).toEqual([made.body]);
    expect(await auditOf(owner)).toMatchObject([
      { kind: "tag_protection.created", repoId: repo.id, target: "v*" },
    ]);
  });

  it("stores teams of an organization", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    const repo = await make.repo(org);
    const team = await make.team(org, { access: 2 });
    const json = { name_pattern: "/^x[0-9]+$/", whitelist_teams: [team.name] };
    expect((await create(repo, owner, json)).body).toMatchObject(json);
    const unknown = await create(repo, owner, {
      ...json,
      name_pattern: "y",
      whitelist_teams: ["x"],
    });
    expect(unknown).toMatchObject({
      status: 422,
      body: { message: expect.stringMatching(/^team/) },
    });
    expect(await patternsOf(repo)).toEqual(["/^x[0-9]+$/"]);
  });

  it.each([
    ["no pattern", { name_pattern: undefined }, 400, "name_pattern are empty"],
    ["a blank pattern", { name_pattern: "  " }, 400, "name_pattern are empty"],
    ["nobody", { whitelist_usernames: [] }, 400, "both whitelist_usernames"],
    ["an open bracket", { name_pattern: "[a" }, 422, "name_pattern"],
    ["a bad expression", { name_pattern: "/[/" }, 422, "name_pattern"],
    ["an expression that would backtrack", { name_pattern: "/(a)\\1/" }, 422, "name_pattern"],
    ["too large an expression", { name_pattern: "/((a{30}){30}){30}/" }, 422, "name_pattern"],
    ["an unknown user", { whitelist_usernames: ["no-such"] }, 422, "user does not exist"],
    ["a number", { name_pattern: 5 }, 422, "name_pattern"],
  ])("refuses %s, and stores nothing", async (_, fields, status, message) => {
    const { owner, repo } = await makeWorld();
    const json = { name_pattern: "v*", whitelist_usernames: [owner.name], ...fields };
    const answer = await create(repo, owner, json);
    expect(answer).toMatchObject({ status, body: { message: expect.stringContaining(message) } });
    expect(await patternsOf(repo)).toEqual([]);
  });

  it("refuses a pattern that has a rule, and more rules than pushes can read", async () => {
    const { owner, repo } = await makeWorld();
    const json = { name_pattern: "v*", whitelist_usernames: [owner.name] };
    expect((await create(repo, owner, json)).status).toBe(201);
    const again = await create(repo, owner, json);
    expect([again.status, again.body.message]).toEqual([403, "Tag protection already exist"]);
    for (let at = 0; at < 99; at++) await makeTagRule(repo, { namePattern: `w${at}` });
    expect((await create(repo, owner, { ...json, name_pattern: "x" })).status).toBe(422);
    expect(await patternsOf(repo)).toHaveLength(100);
  });

  it("is for administrators of a repository that is not archived", async () => {
    const { owner, writer, repo } = await makeWorld();
    const json = { name_pattern: "v*", whitelist_usernames: [owner.name] };
    expect((await create(repo, writer, json)).status).toBe(403);
    expect((await call("POST", pathOf(repo), { json })).status).toBe(401);
    await db.update(repositories).set({ archivedAt: 1000 }).where(eq(repositories.id, repo.id));
    expect((await create(repo, owner, json)).status).toBe(423);
    expect(await patternsOf(repo)).toEqual([]);
  });
});

describe("PATCH and DELETE /repos/{owner}/{repo}/tag_protections/{id}", () => {
  it("changes what is sent, and deletes once", async () => {
    const { owner, writer, repo } = await makeWorld();
    const { id } = await makeTagRule(repo, { userIds: [writer.id] });
    const edit = (json: object) => call("PATCH", pathOf(repo, id), { as: owner, json });
    const names = { whitelist_usernames: [writer.name] };
    expect((await edit({ name_pattern: "w*" })).body).toMatchObject({
      ...names,
      name_pattern: "w*",
    });
    expect((await edit({})).body).toMatchObject({ ...names, name_pattern: "w*" });
    const emptied = await edit({ name_pattern: " ", whitelist_usernames: [] });
    expect(emptied.body).toMatchObject({ whitelist_usernames: [], name_pattern: "w*" });
    const remove = () => call("DELETE", pathOf(repo, id), { as: owner });
    expect([(await remove()).status, (await remove()).status]).toEqual([204, 404]);
    expect(await patternsOf(repo)).toEqual([]);
    expect((await auditOf(owner)).map(({ kind }) => kind)).toEqual([
      ...Array.from({ length: 3 }, () => "tag_protection.edited"),
      "tag_protection.deleted",
    ]);
  });

  it("refuses rules of other repositories, taken and bad patterns, and writers, and changes nothing", async () => {
    const { owner, writer, repo } = await makeWorld();
    const other = await make.repo(owner);
    const [rule] = [await makeTagRule(repo, {}), await makeTagRule(repo, { namePattern: "taken" })];
    const edit = async (json: object, as = owner, of = repo, id = rule.id) =>
      (await call("PATCH", pathOf(of, id), { as, json })).status;
    expect(await edit({ name_pattern: "z" }, owner, other)).toBe(404);
    expect(await edit({ name_pattern: "z" }, owner, repo, 99_999_999)).toBe(404);
    expect(await edit({ name_pattern: "z" }, writer)).toBe(403);
    expect(await edit({ name_pattern: "taken" })).toBe(403);
    expect(await edit({ name_pattern: "[" })).toBe(422);
    expect(await edit({ whitelist_usernames: ["no-such"] })).toBe(422);
    expect((await call("GET", pathOf(other, rule.id), { as: owner })).status).toBe(404);
    expect((await call("DELETE", pathOf(other, rule.id), { as: owner })).status).toBe(404);
    expect((await call("DELETE", pathOf(repo, rule.id), { as: writer })).status).toBe(403);
    expect((await call("GET", pathOf(repo), { as: writer })).status).toBe(403);
    expect(await patternsOf(repo)).toEqual(["v*", "taken"]);
  });
});
