import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { discardedObjects, repositories } from "../../src/db/schema/index.ts";
import { removeLooseFiles } from "../../src/domain/code/lfs/remove-loose-files.ts";
import { maintainRepository } from "../../src/domain/code/git/maintain-repository.ts";
import type { RepositoryLocation } from "../../src/storage/repository-records.ts";
import { UPLOAD_LIFE_MS } from "../../src/storage/retention.ts";
import { call } from "../support/call.ts";
import { History } from "../support/commits.ts";
import { db } from "../support/db.ts";
import { eventsOf, typesOf } from "../support/events.ts";
import { failCalls, failing, serveFailing } from "../support/faults.ts";
import { git, placeOf, readAllObjects } from "../support/git.ts";
import {
  fetchObject,
  largeFilesOf,
  lfsSizeOf,
  looseOf,
  makeLargeFile,
  objectsOf,
  pathTo,
  upload,
} from "../support/large-files.ts";
import { freshName, make, type TestRepo, type TestUser } from "../support/make.ts";
import { systemCtx } from "../support/system.ts";
import {
  filesOf,
  makeCommit,
  pushCommands,
  pushRequest,
  refsOf,
  storePush,
} from "../support/push.ts";

/** Time after the fault at which all abandoned uploads have expired. */
const LATER_MS = 3 * UPLOAD_LIFE_MS;

/** Runs all maintenance that is due, as the alarm and the schedule do eventually. */
async function maintain(location: RepositoryLocation): Promise<void> {
  for (let round = 0; round < 2; round++) {
    await maintainRepository(systemCtx({}, Date.now() + LATER_MS * (round + 1)), location);
  }
}

/** A repository with `count` pushes of one commit and one pack each. */
async function makePushed(count: number): Promise<{ owner: TestUser; repo: TestRepo }> {
  const owner = await make.user();
  const repo = await make.repo(owner);
  for (let at = 0; at < count; at++) {
    const { oid, pack } = makeCommit(freshName("text"));
    await storePush(repo, `refs/heads/${at}`, oid, pack);
  }
  return { owner, repo };
}

/** Incompressible bytes. */
function makeNoise(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += 65_536) {
    crypto.getRandomValues(bytes.subarray(at, Math.min(length, at + 65_536)));
  }
  return bytes;
}

/** A fork by another user. */
async function forkOf(repo: TestRepo): Promise<RepositoryLocation> {
  const as = await make.user();
  const path = `/repos/${repo.owner}/${repo.name}/forks`;
  return placeOf((await call("POST", path, { as, json: {} })).body.id);
}

/** Expects the files of a fork network to be exactly those that its repositories list. */
async function expectNoStrays(network: RepositoryLocation, members: RepositoryLocation[]) {
  const expected = new Set<string>();
  for (const member of members) {
    for (const { name } of (await git.repository(member).snapshot()).packs) {
      for (const kind of ["pack", "idx", "sidecar"]) expected.add(`packs/${name}.${kind}`);
    }
    for (const file of ["HEAD", "packed-refs"]) {
      expected.add(`repositories/${member.objectName}/${file}`);
    }
  }
  const files = (await filesOf(network))
    .filter((key) => !key.includes("/lfs/"))
    .map((key) => key.split("/").slice(2).join("/"));
  expect(files).toEqual([...expected].toSorted());
}

/** The forks that a repository keeps for their first use. */
const pendingOf = ({ objectName }: RepositoryLocation) =>
  runInDurableObject(env.REPOSITORY.getByName(objectName), (_, { storage: { sql } }) =>
    [...sql.exec("select object_name from forks").raw()].flat(),
  );

const rowOf = async (id: number) =>
  (await db.select().from(repositories).where(eq(repositories.id, id)))[0];

describe(
  "after a failure of any storage call, and after a crash of the Worker at it",
  { timeout: 180_000 },
  () => {
    it("a fork that takes packs of its parent, which is deleted then, loses none of them", async () => {
      const most = await failCalls(async (fault) => {
        const [owner, forker] = [await make.user(), await make.user()];
        const repo = await make.repo(owner);
        const history = new History();
        const first = history.commit({ files: { a: "a" } });
        await storePush(repo, "refs/heads/main", first, history.build());
        const path = `/repos/${repo.owner}/${repo.name}/forks`;
        const { body: fork } = await call("POST", path, { as: forker, json: {} });
        const next = history.commit({ files: { a: "b" }, parents: [first] });
        const commands = [{ ref: "refs/heads/main", old: first, new: next }];
        await pushCommands(owner, repo, commands, { pack: history.build() });

        const faults = failing(fault);
        const request = new Request(`http://x/api/v1/repos/${fork.full_name}/merge-upstream`, {
          method: "POST",
          headers: { Authorization: `token ${forker.token}`, "Content-Type": "application/json" },
          body: JSON.stringify({ branch: "main" }),
        });
        const isDone = (await serveFailing(request, faults.bindings))?.status === 200;
        const location = await placeOf(fork.id);
        const [main] = await refsOf(location);
        expect(isDone ? [next] : [first, next]).toContain(main?.oid);
        await call("DELETE", `/repos/${repo.owner}/${repo.name}`, { as: owner });
        for (const each of [repo, location, repo, location]) await maintain(each);
        expect(await readAllObjects(location)).toBe(main?.oid === next ? 6 : 3);
        await expectNoStrays(location, [location]);
        return faults;
      });
      expect(most).toBeGreaterThanOrEqual(8);
    });

    it("a push is applied with one event or not at all, and leaves no stray files", async () => {
      const most = await failCalls(async (fault) => {
        const { owner, repo } = await makePushed(1);
        const before = await refsOf(repo);
        const { oid, pack } = makeCommit(freshName("text"));
        const faults = failing(fault);
        const request = pushRequest(owner, repo, oid, pack, "refs/heads/new");
        const response = await serveFailing(request, faults.bindings);
        // Not `text()`: the runtime logs a warning if the content type is not textual.
        const report = new TextDecoder().decode(await response?.arrayBuffer());
        const isAcknowledged = report.includes("ok refs/heads/new");

        const after = [...before, { name: "refs/heads/new", oid, peeledOid: null }];
        const refs = await refsOf(repo);
        expect([before, after]).toContainEqual(refs);
        expect(isAcknowledged ? refs : after).toEqual(after);
        const isApplied = refs.length === after.length;
        await maintain(repo);
        expect(await refsOf(repo)).toEqual(refs);
        expect(await readAllObjects(repo)).toBe(isApplied ? 6 : 3);
        await expectNoStrays(repo, [repo]);
        const pushEvents = (await eventsOf(repo)).filter(({ payload }) =>
          JSON.stringify(payload).includes("refs/heads/new"),
        );
        expect(pushEvents).toHaveLength(isApplied ? 1 : 0);
        const { packs } = await git.repository(repo).snapshot();
        const sizeBytes = packs.reduce((sum, { packBytes }) => sum + packBytes, 0);
        expect(await rowOf(repo.id)).toMatchObject({ isEmpty: false, sizeBytes });
        return faults;
      });
      expect(most).toBeGreaterThanOrEqual(7);
    });

    it("a push uploaded in several parts leaves no stray files", async () => {
      const { oid, pack } = makeCommit("large", makeNoise(9 * 1024 * 1024));
      let at = 0;
      for (let hasFailed = true; hasFailed; at++) {
        const { owner, repo } = await makePushed(1);
        const before = await refsOf(repo);
        // Only crashes: failures without a crash are covered by the small push.
        const faults = failing({ at, isDone: at % 2 === 0, isDeath: true });
        await serveFailing(pushRequest(owner, repo, oid, pack, "refs/heads/new"), faults.bindings);
        const isApplied = (await refsOf(repo)).length > before.length;
        await maintain(repo);
        expect(await readAllObjects(repo)).toBe(isApplied ? 6 : 3);
        await expectNoStrays(repo, [repo]);
        hasFailed = faults.hasFailed();
      }
      expect(at).toBeGreaterThan(12);
    });

    it("a fork is complete or does not exist, and its parent is unchanged", async () => {
      const most = await failCalls(async (fault) => {
        const { repo } = await makePushed(2);
        const forker = await make.user();
        const refs = await refsOf(repo);
        const faults = failing(fault);
        const request = new Request(`http://x/api/v1/repos/${repo.owner}/${repo.name}/forks`, {
          method: "POST",
          headers: { Authorization: `token ${forker.token}`, "Content-Type": "application/json" },
          body: "{}",
        });
        const response = await serveFailing(request, faults.bindings);
        const isAcknowledged = response?.status === 202;

        const rows = await db.select().from(repositories).where(eq(repositories.parentId, repo.id));
        expect(rows.length).toBeLessThanOrEqual(1);
        expect(rows.length).toBeGreaterThanOrEqual(isAcknowledged ? 1 : 0);
        const [fork] = rows;
        for (const each of fork ? [repo, fork] : [repo]) await maintain(each);
        for (const each of fork ? [repo, fork] : [repo]) {
          expect(await refsOf(each)).toEqual(refs);
          expect(await readAllObjects(each)).toBe(6);
        }
        expect([...faults.objectNames]).toEqual(
          faults.objectNames.size > 0 ? [repo.objectName] : [],
        );
        expect(await pendingOf(repo)).toEqual([]);
        await expectNoStrays(repo, fork ? [repo, fork] : [repo]);
        return faults;
      });
      expect(most).toBeGreaterThanOrEqual(3);
    });

    it("a repository of a template is complete or does not exist, and the template is unchanged", async () => {
      const most = await failCalls(async (fault) => {
        const { owner, repo } = await makePushed(2);
        await db.update(repositories).set({ isTemplate: true }).where(eq(repositories.id, repo.id));
        const refs = await refsOf(repo);
        const faults = failing(fault);
        const path = `/repos/${repo.owner}/${repo.name}/generate`;
        const json = { owner: owner.name, name: freshName("made"), git_content: true };
        const request = new Request(`http://x/api/v1${path}`, {
          method: "POST",
          headers: { Authorization: `token ${owner.token}`, "Content-Type": "application/json" },
          body: JSON.stringify(json),
        });
        const response = await serveFailing(request, faults.bindings);

        const rows = await db.select().from(repositories).where(eq(repositories.name, json.name));
        expect(rows.length).toBeGreaterThanOrEqual(response?.status === 201 ? 1 : 0);
        for (const each of [...rows, repo]) await maintain(each);
        expect(await refsOf(repo)).toEqual(refs);
        for (const row of rows) {
          expect(await refsOf(row)).toHaveLength(1);
          expect(typesOf(await eventsOf(row))).toEqual(["repository.created", "repository.pushed"]);
        }
        expect(await pendingOf(repo)).toEqual([]);
        await expectNoStrays(repo, [repo, ...rows]);
        return faults;
      });
      expect(most).toBeGreaterThanOrEqual(3);
    });

    it("the deletion of a repository leaves a fork that nobody has used complete, and nothing of its own", async () => {
      const most = await failCalls(async (fault) => {
        const { owner, repo } = await makePushed(2);
        const refs = await refsOf(repo);
        const fork = await forkOf(repo);
        const { oid, pack } = makeCommit(freshName("later"));
        await storePush(repo, "refs/heads/later", oid, pack);
        await call("DELETE", `/repos/${repo.owner}/${repo.name}`, { as: owner });
        const faults = failing(fault);
        await maintainRepository(systemCtx(faults.bindings, Date.now()), repo).catch(() => {});
        for (const each of [repo, fork, repo]) await maintain(each);
        expect(await refsOf(fork)).toEqual(refs);
        expect(await readAllObjects(fork)).toBe(6);
        expect(await pendingOf(repo)).toEqual([]);
        await expectNoStrays(fork, [fork]);
        return faults;
      });
      expect(most).toBeGreaterThanOrEqual(8);
    });

    it("a fork that nobody has used, and that is deleted, leaves nothing", async () => {
      const most = await failCalls(async (fault) => {
        const { repo } = await makePushed(1);
        const as = await make.user();
        const path = `/repos/${repo.owner}/${repo.name}/forks`;
        const { body } = await call("POST", path, { as, json: {} });
        const fork = await placeOf(body.id);
        await call("DELETE", `/repos/${body.full_name}`, { as });
        const faults = failing(fault);
        await maintainRepository(systemCtx(faults.bindings, Date.now()), fork).catch(() => {});
        for (const each of [fork, repo]) await maintain(each);
        expect(await pendingOf(repo)).toEqual([]);
        expect(await readAllObjects(repo)).toBe(3);
        await expectNoStrays(repo, [repo]);
        return faults;
      });
      expect(most).toBeGreaterThanOrEqual(5);
    });

    it("a large file is complete or does not exist, and leaves no stray files", async () => {
      const most = await failCalls(async (fault) => {
        const { owner, repo } = await makePushed(1);
        const file = makeLargeFile(freshName("large"));
        const faults = failing(fault);
        const path = pathTo(repo, `objects/${file.oid}/${file.size}`);
        const request = new Request(`http://x${path}`, {
          method: "PUT",
          headers: { Authorization: `token ${owner.token}` },
          body: file.bytes,
        });
        const response = await serveFailing(request, faults.bindings);

        const rows = await objectsOf(repo);
        expect(rows.length).toBeGreaterThanOrEqual(response?.status === 200 ? 1 : 0);
        expect(await lfsSizeOf(repo)).toBe(rows.length * file.size);
        // The sweep deletes loose files and keeps a stored file.
        for (const done of [false, true]) {
          if (done) await removeLooseFiles(systemCtx({}, Date.now() + LATER_MS));
          const { status } = await fetchObject(repo, file.oid);
          expect(status).toBe(rows.length === 1 ? 200 : 404);
        }
        expect([await largeFilesOf(repo), await looseOf(repo)]).toMatchObject([
          { length: rows.length },
          [],
        ]);
        expect((await upload(owner, repo, file)).status).toBe(200);
        expect((await fetchObject(repo, file.oid)).bytes).toEqual(file.bytes);
        expect(await lfsSizeOf(repo)).toBe(file.size);
        return faults;
      });
      expect(most).toBeGreaterThanOrEqual(4);
    });

    it("a join of packs loses no object, and leaves no duplicate", async () => {
      const most = await failCalls(async (fault) => {
        const { repo } = await makePushed(3);
        const refs = await refsOf(repo);
        const { packs } = await git.repository(repo).snapshot();
        const faults = failing(fault);
        const stored = systemCtx(faults.bindings, Date.now()).git.repository(repo);
        await stored.joinPacks(packs, Date.now()).catch(() => {});
        expect(await refsOf(repo)).toEqual(refs);
        expect(await readAllObjects(repo)).toBe(9);
        // The job is repeated, also after one whose answer was lost: then it changes nothing.
        const before = await git.repository(repo).snapshot();
        const repeated = await git.repository(repo).joinPacks(packs, Date.now());
        const after = await git.repository(repo).snapshot();
        const isJoined = before.packs.length === 1;
        expect(repeated.kind).toBe(isJoined ? "stale" : "replaced");
        const [only] = isJoined ? before.packs : after.packs;
        expect(after.packs).toEqual([only]);
        await maintain(repo);
        expect(await refsOf(repo)).toEqual(refs);
        expect(await readAllObjects(repo)).toBe(9);
        await expectNoStrays(repo, [repo]);
        return faults;
      });
      expect(most).toBeGreaterThanOrEqual(8);
    });

    it("a merge of packs loses no object, and leaves no duplicate", async () => {
      const most = await failCalls(async (fault) => {
        const { repo } = await makePushed(3);
        const refs = await refsOf(repo);
        const faults = failing(fault);
        await maintainRepository(systemCtx(faults.bindings, Date.now()), repo).catch(() => {});
        expect(await refsOf(repo)).toEqual(refs);
        expect(await readAllObjects(repo)).toBe(9);
        await maintain(repo);
        expect(await refsOf(repo)).toEqual(refs);
        expect(await readAllObjects(repo)).toBe(9);
        expect((await git.repository(repo).snapshot()).packs).toHaveLength(1);
        await expectNoStrays(repo, [repo]);
        return faults;
      });
      expect(most).toBeGreaterThanOrEqual(8);
    });

    it("a deletion removes all of a repository or nothing, and nothing of its fork", async () => {
      const most = await failCalls(async (fault) => {
        const { owner, repo } = await makePushed(1);
        const [sharedFile, ownFile] = [makeLargeFile(repo.name), makeLargeFile(owner.name)];
        await upload(owner, repo, sharedFile);
        const fork = await forkOf(repo);
        await upload(owner, repo, ownFile);
        const own = makeCommit(freshName("own"));
        await storePush(repo, "refs/heads/own", own.oid, own.pack);
        const faults = failing(fault);
        const request = new Request(`http://x/api/v1/repos/${repo.owner}/${repo.name}`, {
          method: "DELETE",
          headers: { Authorization: `token ${owner.token}` },
        });
        const response = await serveFailing(request, faults.bindings);
        const row = await rowOf(repo.id);
        expect(response?.status === 204 && row !== undefined).toBe(false);
        // If the request did not reach the fault, the maintenance job that it queued does.
        await maintainRepository(systemCtx(faults.bindings, Date.now()), repo).catch(() => {});
        for (const location of [repo, fork]) await maintain(location);
        await removeLooseFiles(systemCtx({}, Date.now() + LATER_MS));
        expect([await largeFilesOf(repo), await looseOf(repo)]).toMatchObject([
          { length: row ? 2 : 1 },
          [],
        ]);

        expect(await refsOf(fork)).toHaveLength(1);
        expect(await readAllObjects(fork)).toBe(3);
        await expectNoStrays(repo, row ? [repo, fork] : [fork]);
        expect(await readAllObjects(repo)).toBe(row ? 6 : 0);
        const left = eq(discardedObjects.objectName, repo.objectName);
        expect(await db.select().from(discardedObjects).where(left)).toEqual([]);
        return faults;
      });
      expect(most).toBeGreaterThanOrEqual(5);
    });
  },
);
