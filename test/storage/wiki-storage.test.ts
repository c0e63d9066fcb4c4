import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { discardedObjects, events, repositories } from "../../src/db/schema/index.ts";
import { collectObjects } from "../../src/domain/code/git/collect-objects.ts";
import { maintainRepository } from "../../src/domain/code/git/maintain-repository.ts";
import { wikiLocation } from "../../src/domain/code/wiki/to-wiki.ts";
import { only } from "../../src/lib/only.ts";
import { call } from "../support/call.ts";
import { db } from "../support/db.ts";
import { git, readAllObjects } from "../support/git.ts";
import { make, type TestRepo } from "../support/make.ts";
import { History } from "../support/commits.ts";
import { filesOf, makeCommit, push, pushCommands, storeRefs } from "../support/push.ts";
import { systemCtx } from "../support/system.ts";
import { storeWiki } from "../support/wikis.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

const rowOf = async ({ id }: TestRepo) =>
  only(await db.select().from(repositories).where(eq(repositories.id, id)));
const packsOf = async (repo: TestRepo) =>
  (await git.repository(wikiLocation(repo)).snapshot()).packs;
const wikiOf = ({ owner, name }: TestRepo) => ({ owner, name: `${name}.wiki` });

async function makePushed(count: number) {
  const owner = await make.user();
  const repo = await make.repo(owner);
  for (let at = 0; at < count; at++) {
    const { oid, pack } = makeCommit(`${repo.name} ${at}`);
    await push(owner, wikiOf(repo), oid, pack, `refs/heads/${at}`);
  }
  return { owner, repo };
}

describe("maintenance of a wiki", () => {
  it("merges its packs, and counts its size beside that of the code", async () => {
    const { repo } = await makePushed(3);
    await maintainRepository(systemCtx({}, Date.now()), wikiLocation(repo));
    const [pack] = await packsOf(repo);
    expect(await packsOf(repo)).toHaveLength(1);
    expect(await readAllObjects(wikiLocation(repo))).toBe(9);
    const row = await rowOf(repo);
    expect(row).toMatchObject({ wikiSizeBytes: pack?.packBytes, sizeBytes: 0 });
  });

  it("removes what nothing reaches any more", async () => {
    const { owner, repo } = await makePushed(2);
    const refs = (await git.repository(wikiLocation(repo)).snapshot()).refs;
    const last = refs.at(-1);
    await pushCommands(owner, wikiOf(repo), [{ ref: "refs/heads/1", old: last?.oid ?? "" }]);
    await maintainRepository(systemCtx({}, Date.now()), wikiLocation(repo));
    await collectObjects(systemCtx({}, Date.now()), {
      kind: "collect",
      ...wikiLocation(repo),
      askedGraceMs: 0,
    });
    expect(await readAllObjects(wikiLocation(repo))).toBe(3);
    expect(only(await packsOf(repo)).objectCount).toBe(3);
  });

  // A Worker may die between the update of refs and the record of the push.
  it("records a push that was not recorded, once", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const history = new History();
    const oid = history.commit({ files: { "Home.md": "Hi" }, message: "First\n" });
    const refs = [{ ref: "refs/heads/trunk", oid }];
    await storeRefs(repo, refs, history.build(), "unrecorded");
    const isThis = eq(events.repoId, repo.id);
    expect(await db.select().from(events).where(isThis)).toEqual([]);
    for (let times = 0; times < 2; times++) {
      await maintainRepository(systemCtx({}, Date.now()), wikiLocation(repo));
    }
    expect(await rowOf(repo)).toMatchObject({ wikiBranch: "trunk", isEmpty: true });
    expect(await db.select().from(events).where(isThis)).toHaveLength(1);
  });
});

describe("a repository with a wiki", () => {
  it("takes the wiki along where it goes, and leaves it to no fork", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    await storeWiki(repo, { "Home.md": "Hi" });
    const renamed = `${repo.name}-renamed`;
    const path = `/repos/${repo.owner}/${repo.name}`;
    await call("PATCH", path, { as: owner, json: { name: renamed } });
    const page = await call("GET", `/repos/${repo.owner}/${renamed}/wiki/page/Home`);
    expect(page.status).toBe(200);

    const forker = await make.user();
    await call("POST", `/repos/${repo.owner}/${renamed}/forks`, { as: forker, json: {} });
    const fork = `/repos/${forker.name}/${renamed}`;
    await call("PATCH", fork, { as: forker, json: { has_wiki: true } });
    const json = { title: "Home", content_base64: "YQ==" };
    expect((await call("POST", `${fork}/wiki/new`, { as: forker, json })).status).toBe(201);
    expect((await call("GET", `${fork}/wiki/page/Home`)).body.commit_count).toBe(1);
    const original = await call("GET", `/repos/${repo.owner}/${renamed}/wiki/page/Home`);
    expect(original.body.content_base64).toBe(btoa("Hi"));
  });

  it("is deleted with the files of its wiki, and no other one's", async () => {
    const { owner, repo } = await makePushed(2);
    const { repo: neighbour } = await makePushed(1);
    const path = `/repos/${repo.owner}/${repo.name}`;
    expect((await call("DELETE", path, { as: owner })).status).toBe(204);
    const { objectName } = wikiLocation(repo);
    const isWiki = eq(discardedObjects.objectName, objectName);
    for (const days of [0, 20, 40]) {
      const ctx = systemCtx({}, Date.now() + days * DAY_MS);
      await maintainRepository(ctx, wikiLocation(repo));
    }
    expect(await db.select().from(discardedObjects).where(isWiki)).toEqual([]);
    expect(await filesOf(wikiLocation(repo))).toEqual([]);
    expect(await filesOf(wikiLocation(neighbour))).not.toEqual([]);
  });

  it("notes nothing of a wiki that was never made", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    await call("DELETE", `/repos/${repo.owner}/${repo.name}`, { as: owner });
    const { objectName } = wikiLocation(repo);
    const noted = await db
      .select()
      .from(discardedObjects)
      .where(eq(discardedObjects.objectName, objectName));
    expect(noted).toEqual([]);
  });
});
