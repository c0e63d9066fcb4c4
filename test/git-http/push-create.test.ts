import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { ACCESS, collaborations, repositories } from "../../src/db/schema/index.ts";
import { visit } from "../support/call.ts";
import { db } from "../support/db.ts";
import { askBatch, makeLargeFile, upload } from "../support/large-files.ts";
import { freshName, make } from "../support/make.ts";
import { makeCommit, pushCommands } from "../support/push.ts";
import { doorsWith } from "../support/service.ts";

const open = doorsWith({ ENABLE_PUSH_CREATE_USER: "true", ENABLE_PUSH_CREATE_ORG: "true" });

interface Name {
  owner: string;
  name: string;
}

const ask = (
  door: typeof visit,
  as: { token: string },
  { owner, name }: Name,
  service = "receive",
) => door("GET", `/${owner}/${name}.git/info/refs?service=git-${service}-pack`, { as });

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
  it("creates it for its owner, private, when it comes and not when it asks", async () => {
    const owner = await make.user();
    const at = { owner: owner.name, name: freshName("new") };
    const asked = await ask(open, owner, at);
    expect([asked.status, asked.body]).toEqual([200, expect.stringContaining("capabilities^{}")]);
    expect(await rowsOf(owner, at)).toEqual([]);

    const { commands, pack } = first("created");
    const pushed = await pushCommands(owner, at, commands, { pack, visit: open });
    expect(pushed.body).toContain("ok refs/heads/main");
    const [row] = await rowsOf(owner, at);
    expect(row).toMatchObject({ isPrivate: true, isEmpty: false });
    // Reading creates nothing, and the second push finds what the first one made.
    const other = { ...at, name: freshName("none") };
    expect((await ask(open, owner, other, "upload")).status).toBe(404);
    expect((await ask(open, owner, at)).body).toContain("refs/heads/main");
  });

  // A client sends large files before the push that needs them.
  it("creates it when large files are announced, and not when they are asked for", async () => {
    const owner = await make.user();
    const at = { owner: owner.name, name: freshName("large") };
    const { oid, size } = makeLargeFile("large");
    const announce = (operation: string, as: { token: string }, door = open) =>
      askBatch(at, operation, [{ oid, size }], { as }, door);
    expect((await announce("download", owner)).status).toBe(404);
    expect((await announce("upload", await make.user())).status).toBe(404);
    expect((await announce("upload", owner, visit)).body.message).toMatch(/^Push to create is not/);
    expect((await upload(owner, at, makeLargeFile("large"), open)).status).toBe(404);
    const strict = doorsWith({ ENABLE_PUSH_CREATE_USER: "true", LFS_MAX_BATCH_SIZE: "1" });
    const two = [1, 2].map(() => ({ oid, size }));
    expect((await askBatch(at, "upload", two, { as: owner }, strict)).status).toBe(413);
    expect(await rowsOf(owner, at)).toEqual([]);
    const { status, body } = await announce("upload", owner);
    expect([status, Object.keys(body.objects[0].actions)]).toEqual([200, ["upload", "verify"]]);
    expect(await rowsOf(owner, at)).toMatchObject([{ isPrivate: true, isEmpty: true }]);
    expect((await upload(owner, at, makeLargeFile("large"), open)).status).toBe(200);
  });

  it("creates it in an organization for those who may create there, and public if so configured", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    const maker = await make.user();
    await make.member(org, await make.team(org, { access: 1, all: false, creates: true }), maker);
    const at = { owner: org.name, name: freshName("new") };
    const door = doorsWith({
      ENABLE_PUSH_CREATE_ORG: "true",
      DEFAULT_PUSH_CREATE_PRIVATE: "false",
    });
    const { commands, pack } = first("in an organization");
    const pushed = await pushCommands(maker, at, commands, { pack, visit: door });
    expect(pushed.body).toContain("ok refs/heads/main");
    const [row] = await rowsOf(org, at);
    expect(row).toMatchObject({ isPrivate: false });
    expect(
      await db
        .select()
        .from(collaborations)
        .where(eq(collaborations.repoId, row?.id ?? 0)),
    ).toMatchObject([{ userId: maker.id, access: ACCESS.admin }]);
  });

  it("says how to create it to those who may, where pushes may not", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    for (const [account, owners, path] of [
      [owner.name, "users", "user/repos"],
      [org.name, "organizations", `orgs/${org.name}/repos`],
    ] as const) {
      const answer = await ask(visit, owner, { owner: account, name: "missing" });
      expect([answer.status, answer.body]).toEqual([
        403,
        `Push to create is not enabled for ${owners}.\n${account}/missing does not exist: ` +
          `create it first, with POST https://forge.example/api/v1/${path}\n`,
      ]);
    }
  });

  // Else a push would tell which private repositories exist.
  it("is to all others what a push to a hidden one is", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    const member = await make.user();
    await make.member(org, await make.team(org, { access: 1, all: false }), member);
    const places = [
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
      for (const { account, name } of places) {
        for (const door of [visit, open]) {
          const hidden = await ask(door, caller, { owner: account.name, name });
          const missing = await ask(door, caller, { owner: account.name, name: "missing" });
          const nobody = await ask(door, caller, { owner: "nobody-at-all", name: "missing" });
          expect(hidden.status).toBe(404);
          expect([missing.status, missing.body]).toEqual([hidden.status, hidden.body]);
          expect([nobody.status, nobody.body]).toEqual([hidden.status, hidden.body]);
        }
      }
    }
    expect((await open("GET", `/${owner.name}/x/info/refs?service=git-receive-pack`)).status).toBe(
      401,
    );
  });

  it("refuses a token without the scopes that creating takes, and a name that can't be", async () => {
    const owner = await make.user();
    const at = { owner: owner.name, name: freshName("new") };
    const narrow = { token: await make.token(owner, { scopes: "write:repository" }) };
    const refused = await ask(open, narrow, at);
    expect([refused.status, refused.body]).toEqual([403, expect.stringContaining("write:user")]);
    const wide = { token: await make.token(owner, { scopes: "write:repository,write:user" }) };
    expect((await ask(open, wide, at)).status).toBe(200);
    const wrong = await ask(open, owner, { ...at, name: "a.wiki" });
    expect([wrong.status, wrong.body]).toEqual([422, expect.stringContaining("not allowed")]);
    const { commands, pack } = first("refused");
    for (const [as, name] of [
      [{ ...owner, ...narrow }, at.name],
      [owner, "a.wiki"],
    ] as const) {
      await pushCommands(as, { ...at, name }, commands, { pack, visit: open });
      expect(await rowsOf(owner, { ...at, name })).toEqual([]);
    }
  });
});
