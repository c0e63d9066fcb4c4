import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { ACCESS, collaborations, repositories } from "../../src/db/schema/index.ts";
import { visit } from "../support/call.ts";
import { db } from "../support/db.ts";
import { askBatch, makeLargeFile, upload } from "../support/large-files.ts";
import { freshName, make } from "../support/make.ts";
import { makeCommit, pushCommands } from "../support/push.ts";
import { doorsWith } from "../support/service.ts";

const visitEnabled = doorsWith({ ENABLE_PUSH_CREATE_USER: "true", ENABLE_PUSH_CREATE_ORG: "true" });

interface Name {
  owner: string;
  name: string;
}

const advertise = (
  visitWith: typeof visit,
  as: { token: string },
  { owner, name }: Name,
  service = "receive",
) => visitWith("GET", `/${owner}/${name}.git/info/refs?service=git-${service}-pack`, { as });

const rowsOf = ({ id }: { id: number }, { name }: Name) =>
  db
    .select()
    .from(repositories)
    .where(and(eq(repositories.ownerId, id), eq(repositories.name, name)));

const first = (text: string) => {
  const { oid, pack } = makeCommit(text);
  return { commands: [{ ref: "refs/heads/main", new: oid }], pack };
};

describe("a push to a repository that does not exist", () => {
  it("creates it as private for its owner, at the push and not at the advertisement", async () => {
    const owner = await make.user();
    const at = { owner: owner.name, name: freshName("new") };
    const advertised = await advertise(visitEnabled, owner, at);
    expect([advertised.status, advertised.body]).toEqual([
      200,
      expect.stringContaining("capabilities^{}"),
    ]);
    expect(await rowsOf(owner, at)).toEqual([]);

    const { commands, pack } = first("created");
    const pushed = await pushCommands(owner, at, commands, { pack, visit: visitEnabled });
    expect(pushed.body).toContain("ok refs/heads/main");
    const [row] = await rowsOf(owner, at);
    expect(row).toMatchObject({ isPrivate: true, isEmpty: false });
    // Reading creates nothing, and a second push finds the repository of the first.
    const other = { ...at, name: freshName("none") };
    expect((await advertise(visitEnabled, owner, other, "upload")).status).toBe(404);
    expect((await advertise(visitEnabled, owner, at)).body).toContain("refs/heads/main");
  });

  // A client uploads large files before the push that references them.
  it("creates it at an LFS upload batch, and not at a download batch", async () => {
    const owner = await make.user();
    const at = { owner: owner.name, name: freshName("large") };
    const { oid, size } = makeLargeFile("large");
    const batch = (operation: string, as: { token: string }, visitWith = visitEnabled) =>
      askBatch(at, operation, [{ oid, size }], { as }, visitWith);
    expect((await batch("download", owner)).status).toBe(404);
    expect((await batch("upload", await make.user())).status).toBe(404);
    expect((await batch("upload", owner, visit)).body.message).toMatch(/^Push to create is not/);
    expect((await upload(owner, at, makeLargeFile("large"), visitEnabled)).status).toBe(404);
    const strict = doorsWith({ ENABLE_PUSH_CREATE_USER: "true", LFS_MAX_BATCH_SIZE: "1" });
    const two = [1, 2].map(() => ({ oid, size }));
    expect((await askBatch(at, "upload", two, { as: owner }, strict)).status).toBe(413);
    expect(await rowsOf(owner, at)).toEqual([]);
    const { status, body } = await batch("upload", owner);
    expect([status, Object.keys(body.objects[0].actions)]).toEqual([200, ["upload", "verify"]]);
    expect(await rowsOf(owner, at)).toMatchObject([{ isPrivate: true, isEmpty: true }]);
    expect((await upload(owner, at, makeLargeFile("large"), visitEnabled)).status).toBe(200);
  });

  it("creates it in an organization for members who may create repositories, and public if so configured", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    const creator = await make.user();
    await make.member(org, await make.team(org, { access: 1, all: false, creates: true }), creator);
    const at = { owner: org.name, name: freshName("new") };
    const visitPublic = doorsWith({
      ENABLE_PUSH_CREATE_ORG: "true",
      DEFAULT_PUSH_CREATE_PRIVATE: "false",
    });
    const { commands, pack } = first("in an organization");
    const pushed = await pushCommands(creator, at, commands, { pack, visit: visitPublic });
    expect(pushed.body).toContain("ok refs/heads/main");
    const [row] = await rowsOf(org, at);
    expect(row).toMatchObject({ isPrivate: false });
    expect(
      await db
        .select()
        .from(collaborations)
        .where(eq(collaborations.repoId, row?.id ?? 0)),
    ).toMatchObject([{ userId: creator.id, access: ACCESS.admin }]);
  });

  it("explains to callers who may create it how to do so, if push to create is disabled", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    for (const [account, owners, path] of [
      [owner.name, "users", "user/repos"],
      [org.name, "organizations", `orgs/${org.name}/repos`],
    ] as const) {
      const answer = await advertise(visit, owner, { owner: account, name: "missing" });
      expect([answer.status, answer.body]).toEqual([
        403,
        `Push to create is not enabled for ${owners}.\n${account}/missing does not exist: ` +
          `create it first, with POST https://forge.example/api/v1/${path}\n`,
      ]);
    }
  });

  // SECURITY: otherwise a push would reveal which private repositories exist.
  it("gets other callers the same response as a push to a hidden repository", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    const member = await make.user();
    await make.member(org, await make.team(org, { access: 1, all: false }), member);
    const hiddenRepos = [
      { ...(await make.repo(owner, { isPrivate: true })), account: owner },
      { ...(await make.repo(org, { isPrivate: true })), account: org },
    ];
    const callers = [
      await make.user(),
      member,
      { token: await make.token(owner, { scopes: "public-only,all" }) },
      { token: await make.token(owner, { scopes: "all", repos: [] }) },
    ];
    for (const caller of callers) {
      for (const { account, name } of hiddenRepos) {
        for (const visitWith of [visit, visitEnabled]) {
          const hidden = await advertise(visitWith, caller, { owner: account.name, name });
          const missing = await advertise(visitWith, caller, {
            owner: account.name,
            name: "missing",
          });
          const nobody = await advertise(visitWith, caller, {
            owner: "nobody-at-all",
            name: "missing",
          });
          expect(hidden.status).toBe(404);
          expect([missing.status, missing.body]).toEqual([hidden.status, hidden.body]);
          expect([nobody.status, nobody.body]).toEqual([hidden.status, hidden.body]);
        }
      }
    }
    expect(
      (await visitEnabled("GET", `/${owner.name}/x/info/refs?service=git-receive-pack`)).status,
    ).toBe(401);
  });

  it("refuses a token without the scopes for creating it, and an invalid name", async () => {
    const owner = await make.user();
    const at = { owner: owner.name, name: freshName("new") };
    const narrow = { token: await make.token(owner, { scopes: "write:repository" }) };
    const refused = await advertise(visitEnabled, narrow, at);
    expect([refused.status, refused.body]).toEqual([403, expect.stringContaining("write:user")]);
    const wide = { token: await make.token(owner, { scopes: "write:repository,write:user" }) };
    expect((await advertise(visitEnabled, wide, at)).status).toBe(200);
    const wrong = await advertise(visitEnabled, owner, { ...at, name: "a.rss" });
    expect([wrong.status, wrong.body]).toEqual([422, expect.stringContaining("not allowed")]);
    const { commands, pack } = first("refused");
    for (const [as, name] of [
      [{ ...owner, ...narrow }, at.name],
      [owner, "a.wiki"],
    ] as const) {
      await pushCommands(as, { ...at, name }, commands, { pack, visit: visitEnabled });
      expect(await rowsOf(owner, { ...at, name })).toEqual([]);
    }
  });
});
