import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { branchProtections, type User } from "../../../src/db/schema/index.ts";
import { auditOf } from "../../support/audit.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { make, type TestUser } from "../../support/make.ts";
import { makeRuleset } from "../../support/protections.ts";
import { makeCommit, push, refsOf } from "../../support/push.ts";

const pathOf = ({ name }: User, rest: string | number = "") =>
  `/orgs/${name}/rulesets${rest === "" ? "" : `/${rest}`}`;
const namesOf = async ({ id }: User) =>
  (await db.select().from(branchProtections).where(eq(branchProtections.ownerId, id))).map(
    ({ name }) => name,
  );

async function makeWorld() {
  const [owner, member] = [await make.user(), await make.user()];
  const org = await make.org([owner]);
  const team = await make.team(org, { access: 3 });
  await make.member(org, team, member);
  return { owner, member, org, team };
}

describe("POST /orgs/{org}/rulesets", () => {
  it("stores a ruleset that applies to all repositories that match", async () => {
    const { owner, member, org, team } = await makeWorld();
    const json = {
      rule_name: "main",
      repository_patterns: "api-*",
      enable_push: true,
      enable_push_whitelist: true,
      push_whitelist_usernames: [owner.name],
      push_whitelist_teams: [team.name],
      required_approvals: 2,
    };
    const made = await call("POST", pathOf(org), { as: owner, json });
    expect(made).toMatchObject({ status: 201, body: { ...json, priority: 1 } });
    const got = await call("GET", pathOf(org, made.body.id), { as: owner });
    expect(got).toMatchObject({ status: 200, body: made.body });
    expect((await auditOf(org)).map(({ kind, target }) => [kind, target])).toEqual([
      ["ruleset.created", "main"],
    ]);

    const none = { push_whitelist_teams: [], push_whitelist_usernames: [] };
    await call("PATCH", pathOf(org, made.body.id), { as: owner, json: none });
    const [bound, free] = [
      await make.repo(org, { name: "API-one" }),
      await make.repo(org, { name: "web" }),
    ];
    for (const by of [owner, member]) {
      const { oid, pack } = makeCommit(by.name);
      expect((await push(by, bound, oid, pack)).body).toContain("Not allowed to push");
    }
    const { oid, pack } = makeCommit("free");
    expect((await push(member, free, oid, pack)).body).toContain("ok refs/heads/main");
    expect(await refsOf(bound)).toEqual([]);
  });

  it("lets repositories of the organization begin all the same", async () => {
    const { owner, org } = await makeWorld();
    await makeRuleset(org, { name: "**" });
    const json = { name: "begun", auto_init: true };
    const made = await call("POST", `/orgs/${org.name}/repos`, { as: owner, json });
    expect(made).toMatchObject({ status: 201, body: { empty: false } });
  });

  it.each([
    ["no name", {}, 422],
    ["a bad pattern", { rule_name: "[a" }, 422],
    ["bad repositories", { rule_name: "a", repository_patterns: "b;{" }, 422],
    ["an unknown team", { rule_name: "a", merge_whitelist_teams: ["x"] }, 422],
    ["an unknown user", { rule_name: "a", merge_whitelist_usernames: ["no-such"] }, 422],
    ["a taken name", { rule_name: "taken" }, 409],
  ])("refuses %s, and stores nothing", async (_, json, status) => {
    const { owner, org } = await makeWorld();
    await makeRuleset(org, { name: "taken" });
    expect((await call("POST", pathOf(org), { as: owner, json })).status).toBe(status);
    expect(await namesOf(org)).toEqual(["taken"]);
  });
});

describe("the rulesets of an organization", () => {
  it("are for its owners", async () => {
    const { owner, member, org } = await makeWorld();
    const outsider = await make.user();
    const { id } = await makeRuleset(org);
    const statusesOf = async (as?: TestUser) => {
      const sent = { ...(as && { as }), json: { rule_name: "x" } };
      const seen = as ? { as } : {};
      return [
        (await call("GET", pathOf(org), seen)).status,
        (await call("GET", pathOf(org, id), seen)).status,
        (await call("POST", pathOf(org), sent)).status,
        (await call("PATCH", pathOf(org, id), sent)).status,
        (await call("DELETE", pathOf(org, id), seen)).status,
      ];
    };
    expect(new Set(await statusesOf(member))).toEqual(new Set([403]));
    expect(new Set(await statusesOf(outsider))).toEqual(new Set([403]));
    expect(new Set(await statusesOf())).toEqual(new Set([401]));
    expect(await namesOf(org)).toEqual(["main"]);
    expect(await statusesOf(owner)).toEqual([200, 200, 201, 200, 204]);
  });

  it("are listed by priority, in pages, with a total", async () => {
    const { owner, org } = await makeWorld();
    for (const [name, priority] of [
      ["c", 3],
      ["a", 1],
      ["b", 2],
    ] as const) {
      await makeRuleset(org, { name, priority });
    }
    await makeRuleset((await makeWorld()).org, { name: "other" });
    const list = async (query = "") => {
      const { body, headers } = await call("GET", `${pathOf(org)}${query}`, { as: owner });
      const names = body.map((each: { rule_name: string }) => each.rule_name);
      return { names, total: headers.get("X-Total-Count"), link: headers.get("Link") ?? "" };
    };
    expect(await list()).toMatchObject({ names: ["a", "b", "c"], total: "3" });
    const first = await list("?limit=2");
    expect(first).toMatchObject({ names: ["a", "b"], total: "3" });
    expect(first.link).toContain('rel="next"');
    expect(await list("?limit=2&page=2")).toMatchObject({ names: ["c"] });
  });

  it("are edited and deleted by id, of this organization only", async () => {
    const { owner, org } = await makeWorld();
    const foreign = await makeRuleset(await make.org([await make.user()]));
    const { id } = await makeRuleset(org, { repositoryPatterns: "a" });
    const edit = (json: object, of = id) => call("PATCH", pathOf(org, of), { as: owner, json });
    const edited = await edit({ repository_patterns: "", priority: 4, enable_push: true });
    expect(edited).toMatchObject({
      status: 200,
      body: { repository_patterns: "", priority: 4, enable_push: true, rule_name: "main" },
    });
    expect((await edit({ repository_patterns: "[" })).status).toBe(422);
    expect((await edit({ enable_push: true }, foreign.id)).status).toBe(404);
    const remove = async (of: number) =>
      (await call("DELETE", pathOf(org, of), { as: owner })).status;
    expect([await remove(foreign.id), await remove(id), await remove(id)]).toEqual([404, 204, 404]);
    expect(await namesOf(org)).toEqual([]);
  });
});
