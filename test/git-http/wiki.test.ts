import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { events, repositories } from "../../src/db/schema/index.ts";
import { wikiLocation } from "../../src/domain/code/wiki/to-wiki.ts";
import { only } from "../../src/lib/only.ts";
import { visit } from "../support/call.ts";
import { db } from "../support/db.ts";
import { make, type TestRepo, type TestUser } from "../support/make.ts";
import { filesOf, makeCommit, push, pushCommands, refsOf } from "../support/push.ts";

/** The wiki of a repository, as a push names it. */
const wikiOf = ({ owner, name }: TestRepo) => ({ owner, name: `${name}.wiki` });

const rowOf = async ({ id }: TestRepo) =>
  only(await db.select().from(repositories).where(eq(repositories.id, id)));

const advertise = (
  { owner, name }: { owner: string; name: string },
  service: "upload" | "receive",
  as?: TestUser,
) =>
  visit("GET", `/${owner}/${name}.git/info/refs?service=git-${service}-pack`, {
    ...(as && { as }),
  });

describe("a push to the wiki of a repository", () => {
  it("makes its git data, beside that of the code", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const { oid, pack } = makeCommit("wiki");

    const pushed = await push(owner, wikiOf(repo), oid, pack, "refs/heads/trunk");

    expect(pushed.body).toContain("ok refs/heads/trunk");
    expect(await refsOf(wikiLocation(repo))).toMatchObject([{ name: "refs/heads/trunk", oid }]);
    expect(await refsOf(repo)).toEqual([]);
    expect(await filesOf(wikiLocation(repo))).not.toEqual([]);
    expect(await filesOf(repo)).toEqual([]);
    const row = await rowOf(repo);
    expect(row).toMatchObject({ wikiBranch: "trunk", isEmpty: true, sizeBytes: 0 });
    expect(row.wikiSizeBytes).toBeGreaterThan(0);
    expect((await advertise(wikiOf(repo), "upload")).body).toContain(oid);
  });

  it("says which pages have changed, once", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const { oid, pack } = makeCommit("no page");
    await push(owner, wikiOf(repo), oid, pack);
    expect(await db.select().from(events).where(eq(events.repoId, repo.id))).toEqual([]);
  });
});

describe("who may use the wiki of a repository by git", () => {
  let owner: TestUser;
  let repo: TestRepo;

  beforeAll(async () => {
    owner = await make.user();
    repo = await make.repo(owner);
  });

  const at = () => wikiOf(repo);

  it("lets everybody read that of a public repository, and makes nothing by it", async () => {
    const answer = await advertise(at(), "upload");
    expect([answer.status, answer.body]).toEqual([200, expect.stringContaining("capabilities^{}")]);
    expect((await advertise(at(), "receive", owner)).status).toBe(200);
  });

  it("refuses readers who push, and stores nothing", async () => {
    const reader = await make.user();
    const { oid, pack } = makeCommit("refused");
    expect((await push(reader, at(), oid, pack)).status).toBe(403);
    expect((await rowOf(repo)).wikiBranch).toBe("");
    expect(await filesOf(wikiLocation(repo))).toEqual([]);
  });

  it("hides that of a private repository, and one whose unit is off", async () => {
    const stranger = await make.user();
    const hidden = await make.repo(owner, { isPrivate: true, visibility: "private" });
    const off = await make.repo(owner, { hasWiki: false });
    const external = await make.repo(owner, { externalWikiUrl: "https://wiki.example" });
    for (const each of [hidden, off, external]) {
      expect((await advertise(wikiOf(each), "upload")).status).toBe(401);
      expect((await advertise(wikiOf(each), "upload", stranger)).status).toBe(404);
      expect((await advertise(wikiOf(each), "receive", stranger)).status).toBe(404);
    }
  });

  it("refuses pushes to that of an archive or a mirror", async () => {
    for (const fields of [{ archivedAt: 1 }, { isMirror: true }]) {
      const readOnly = await make.repo(owner, fields);
      const { oid, pack } = makeCommit("read-only");
      expect((await push(owner, wikiOf(readOnly), oid, pack)).status).toBe(403);
    }
  });

  // SECURITY: the code of a repository may be hidden from those who write its wiki.
  it("asks for the unit of the wiki and not for that of the code", async () => {
    const org = await make.org([owner]);
    const inOrg = await make.repo(org, { isPrivate: true, visibility: "private" });
    const writer = await make.user();
    const coder = await make.user();
    const teamOf = async (units: Record<string, 1 | 2>, user: TestUser) =>
      make.member(org, await make.team(org, { units, all: true }), user);
    await teamOf({ wiki: 2 }, writer);
    await teamOf({ code: 2 }, coder);
    const { oid, pack } = makeCommit("by a team");
    expect((await push(coder, wikiOf(inOrg), oid, pack)).status).toBe(404);
    expect((await push(writer, inOrg, oid, pack)).status).toBe(404);
    expect((await push(writer, wikiOf(inOrg), oid, pack)).body).toContain("ok refs/heads/main");
  });

  it("opens no pull requests and takes no options", async () => {
    const { oid, pack } = makeCommit("for");
    const ref = "refs/for/main";
    const options = ["repo.private=true"];
    const extras = { pack, capabilities: "push-options", options };
    const answer = await pushCommands(owner, at(), [{ ref, new: oid }], extras);
    expect(answer.body).toContain(`ng ${ref}`);
    const pushed = await pushCommands(owner, at(), [{ ref: "refs/heads/main", new: oid }], extras);
    expect(pushed.body).toContain("ok refs/heads/main");
    expect((await rowOf(repo)).isPrivate).toBe(false);
  });
});
