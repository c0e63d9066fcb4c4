import { beforeAll, describe, expect, it } from "vitest";

import type { TeamUnits, User } from "../../../src/db/schema/index.ts";
import { call, visit } from "../../support/call.ts";
import { MEDIA_TYPE, pathTo } from "../../support/large-files.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { makeCommit, push, storePush } from "../../support/push.ts";
import { pushOf, recordEvent } from "../../support/activities.ts";

let org: User;
let repo: TestRepo;
beforeAll(async () => {
  org = await make.org([await make.user()], { visibility: "private" });
  repo = await make.repo(org, { isPrivate: true });
  const { oid, pack } = makeCommit("a file");
  await storePush(repo, "refs/heads/main", oid, pack);
});

/** Creates a user whose only permissions are those of a team with `units`. */
async function makeMember(units: TeamUnits): Promise<TestUser> {
  const user = await make.user();
  await make.member(org, await make.team(org, { access: 0, units }), user);
  return user;
}

const at = () => `/repos/${repo.owner}/${repo.name}`;

describe("a team with some units", () => {
  it("lets its members see the repository, but not the code without a grant for it", async () => {
    const as = await makeMember({ issues: 2 });

    expect(await call("GET", at(), { as })).toMatchObject({
      status: 200,
      body: { permissions: { admin: false, push: false, pull: false } },
    });
    for (const path of ["/branches", "/contents", "/commits", "/languages", "/git/refs"]) {
      expect(await call("GET", `${at()}${path}`, { as }), path).toMatchObject({ status: 404 });
    }
    const branch = { new_branch_name: "mine", old_branch_name: "main" };
    expect(await call("POST", `${at()}/branches`, { as, json: branch })).toMatchObject({
      status: 404,
    });
    expect(await call("POST", `${at()}/forks`, { as, json: {} })).toMatchObject({ status: 403 });
  });

  it("lets its members read or write the code according to the granted mode", async () => {
    const reader = await makeMember({ code: 1, issues: 2 });
    const writer = await makeMember({ code: 2 });
    const json = { new_branch_name: "theirs", old_branch_name: "main" };

    expect(await call("GET", `${at()}/branches`, { as: reader })).toMatchObject({ status: 200 });
    expect(await call("POST", `${at()}/branches`, { as: reader, json })).toMatchObject({
      status: 403,
      body: { message: "user should have a permission to write to a repo" },
    });
    expect(await call("POST", `${at()}/branches`, { as: writer, json })).toMatchObject({
      status: 201,
    });
    expect(await call("GET", at(), { as: writer })).toMatchObject({
      body: { permissions: { admin: false, push: true, pull: true } },
    });
  });

  it("makes nobody an administrator by granting admin in a unit", async () => {
    const as = await makeMember({ code: 3, issues: 4 });
    const json = { description: "changed" };
    expect(await call("PATCH", at(), { as, json })).toMatchObject({ status: 403 });
  });

  it("shows events of the code only to members who may read it", async () => {
    await recordEvent(repo, await make.user());
    await recordEvent(repo, await make.user(), "repository.pushed", pushOf("refs/heads/main"));
    const reader = await makeMember({ code: 1 });
    const other = await makeMember({ wiki: 1 });

    const eventsFor = async (as: TestUser) => {
      const { events } = (await call("GET", `${at()}/events`, { as })).body;
      return new Set((events as { type: string }[]).map(({ type }) => type));
    };
    expect(await eventsFor(reader)).toEqual(new Set(["repository.created", "repository.pushed"]));
    expect(await eventsFor(other)).toEqual(new Set(["repository.created"]));

    const feedFor = async (as: TestUser) => {
      const { body } = await call("GET", `${at()}/activities/feeds`, { as });
      return new Set((body as { op_type: string }[]).map((each) => each.op_type));
    };
    expect(await feedFor(reader)).toEqual(new Set(["create_repo", "commit_repo"]));
    expect(await feedFor(other)).toEqual(new Set(["create_repo"]));
  });

  it("grants git read or write access according to the mode in the code", async () => {
    const { oid, pack } = makeCommit("another file");
    const outcomes = async (units: TeamUnits) => {
      const as = await makeMember(units);
      const path = `/${repo.owner}/${repo.name}.git/info/refs?service=git-upload-pack`;
      const { status, body } = await push(as, repo, oid, pack, `refs/heads/${as.name}`);
      const isPushed = String(body).includes(`ok refs/heads/${as.name}`);
      return [(await visit("GET", path, { as })).status, status, isPushed];
    };
    expect(await outcomes({ issues: 2 })).toEqual([404, 404, false]);
    expect(await outcomes({ code: 1 })).toEqual([200, 200, false]);
    expect(await outcomes({ code: 2 })).toEqual([200, 200, true]);
  });

  // First that the credential opens the door, then that one without the unit finds nothing behind
  // it.
  it.each([
    ["the API", "GET", () => `/api/v1${at()}/contents`],
    ["an archive by API", "GET", () => `/api/v1${at()}/archive/main.zip`],
    ["an archive", "GET", () => `/${repo.owner}/${repo.name}/archive/main.tar.gz`],
    ["a raw file", "GET", () => `/api/v1${at()}/raw/file`],
    ["git", "GET", () => `/${repo.owner}/${repo.name}.git/info/refs?service=git-upload-pack`],
    ["Git LFS", "POST", () => pathTo(repo, "objects/batch")],
    ["locks of Git LFS", "GET", () => pathTo(repo, "locks")],
  ] as const)("opens %s by the code unit alone", async (door, method, path) => {
    const reader = await makeMember({ code: 1 });
    const other = await makeMember({ issues: 4, wiki: 4, releases: 4 });
    const body = JSON.stringify({
      operation: "download",
      objects: [{ oid: "0".repeat(64), size: 1 }],
    });
    const statusFor = async ({ token }: TestUser) => {
      const headers = { Accept: MEDIA_TYPE, "Content-Type": MEDIA_TYPE };
      const sent = method === "POST" ? { headers, body } : { headers };
      return (await visit(method, path(), { token, ...sent })).status;
    };

    expect(await statusFor(reader), door).toBe(200);
    expect(await statusFor(other), door).toBe(404);
  });

  it("leaves pushes out of feeds for members without the code unit", async () => {
    await recordEvent(repo, await make.user(), "repository.pushed", pushOf("refs/heads/main"));
    const reader = await makeMember({ code: 1 });
    const other = await makeMember({ issues: 1 });
    const pushes = async ({ token }: TestUser) => {
      const { body } = await visit("GET", `/${repo.owner}/${repo.name}.atom`, { token });
      return String(body).split("pushed to").length - 1;
    };

    expect(await pushes(reader)).toBeGreaterThan(0);
    expect(await pushes(other)).toBe(0);
  });

  it("keeps webhooks from members, whatever they may do in its units", async () => {
    const every = await makeMember({ code: 4, issues: 4, pulls: 4, releases: 4, wiki: 4 });
    const url = "https://receiver.example/";
    const json = { type: "gitea", config: { url, content_type: "json" }, events: ["push"] };

    expect((await call("GET", `${at()}/hooks`, { as: every })).status).toBe(403);
    expect((await call("POST", `${at()}/hooks`, { as: every, json })).status).toBe(403);
    const admin = await make.user();
    await make.member(org, await make.team(org, { access: 3, units: {} }), admin);
    expect((await call("GET", `${at()}/hooks`, { as: admin })).status).toBe(200);
  });

  it("is returned with its units and their modes", async () => {
    const as = await make.user();
    const team = await make.team(org, { access: 0, units: { code: 2, packages: 0, wiki: 3 } });
    await make.member(org, team, as);
    expect(await call("GET", `/teams/${team.id}`, { as })).toMatchObject({
      status: 200,
      body: {
        permission: "none",
        units: ["repo.code", "repo.wiki", "repo.packages"],
        units_map: { "repo.code": "write", "repo.wiki": "admin", "repo.packages": "none" },
      },
    });
  });
});
