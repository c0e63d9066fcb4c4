import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { events, repositories, type User, users } from "../../../src/db/schema/index.ts";
import { OWNER_PERMISSION } from "../../../src/db/schema/access.ts";
import type { RepositoryContext } from "../../../src/shapes/repos/repository.ts";
import { fetchRemote, type FetchPlan } from "../../../src/domain/remotes/fetch-remote.ts";
import type { RemoteLimits } from "../../../src/domain/remotes/smart-http.ts";
import { db } from "../../support/db.ts";
import { readAllObjects } from "../../support/git.ts";
import { make, type TestRepo } from "../../support/make.ts";
import { filesOf, refsOf } from "../../support/push.ts";
import { commitsOn, type GitRemote, makeRemote, openRemote } from "../../support/remotes.ts";
import { systemCtx } from "../../support/system.ts";

/** A repository to take a remote over into. */
async function makeMirror() {
  const owner = await make.user();
  return { owner, repo: await make.repo(owner) };
}

const PLAN: FetchPlan = { prune: true, isFirst: false };

async function sync(
  repo: TestRepo,
  remote: GitRemote,
  plan: Partial<FetchPlan> = {},
  door = "git",
  limits: Partial<RemoteLimits> = {},
) {
  const ctx = systemCtx({}, Date.now());
  const client = openRemote(ctx, remote.url(door), limits);
  return fetchRemote(ctx, await contextOf(repo), client, { ...PLAN, ...plan });
}

async function contextOf(repo: TestRepo): Promise<RepositoryContext> {
  const row = await rowOf(repo);
  const [owner] = await db.select().from(users).where(eq(users.id, row.ownerId));
  return { row, owner: owner as User, permission: OWNER_PERMISSION };
}

const rowOf = async ({ id }: TestRepo) =>
  (await db.select().from(repositories).where(eq(repositories.id, id)))[0] as TestRepo;

const namedRefs = async (repo: TestRepo) =>
  Object.fromEntries((await refsOf(repo)).map(({ name, oid }) => [name, oid]));

const eventsOf = async (repo: TestRepo) =>
  (await db.select().from(events).where(eq(events.repoId, repo.id))).map(({ type, payload }) => ({
    type,
    payload,
  }));

async function makeFilled(count = 5) {
  const remote = await makeRemote();
  await remote.git(["fast-import", "--quiet"], commitsOn("main", count));
  await remote.git(["tag", "-a", "-m", "one", "v1", "main~1"]);
  await remote.git(["update-ref", "refs/notes/x", "main~2"]);
  await remote.git(["update-ref", "refs/pull/1/head", "main~1"]);
  return remote;
}

describe("fetchRemote", () => {
  it.each(["git", "v1", "v0"])("takes over all refs and objects, by %s", async (door) => {
    const remote = await makeFilled();
    const { repo } = await makeMirror();
    const fetched = await sync(repo, remote, { isFirst: true }, door);
    const { "refs/pull/1/head": hidden, ...wanted } = await remote.refs();
    expect(hidden).toBeDefined();
    expect(await namedRefs(repo)).toEqual(wanted);
    expect(fetched).toMatchObject({ head: "refs/heads/main", skipped: [] });
    expect(await readAllObjects(repo)).toBe((await remote.objects()).length);
    expect(await rowOf(repo)).toMatchObject({ isEmpty: false, defaultBranch: "main" });
    expect(await eventsOf(repo)).toEqual([]);

    // Then only what is new is fetched, and what the remote lacks is deleted.
    await remote.git(["fast-import", "--quiet"], commitsOn("main", 1, 5, "refs/heads/main^0"));
    await remote.git(["update-ref", "-d", "refs/notes/x"]);
    await remote.journal();
    const again = await sync(repo, remote, {}, door);
    expect(again.updates.map(({ ref }) => ref)).toEqual(["refs/heads/main", "refs/notes/x"]);
    const { "refs/pull/1/head": _, ...now } = await remote.refs();
    expect(await namedRefs(repo)).toEqual(now);
    expect(await readAllObjects(repo)).toBe((await remote.objects()).length);
    expect(await eventsOf(repo)).toMatchObject([
      { type: "repository.pushed", payload: { isMirror: true, refCount: 2 } },
    ]);
  });

  it("asks at most twice and writes nothing if nothing is new", async () => {
    const remote = await makeFilled();
    const { repo } = await makeMirror();
    await sync(repo, remote);
    const [files, refs] = [await filesOf(repo), await refsOf(repo)];
    await remote.journal();
    const idle = await sync(repo, remote);
    expect(idle).toMatchObject({ updates: [], requestCount: 2, packBytes: 0 });
    expect((await remote.journal()).length).toBe(2);
    expect([await filesOf(repo), await refsOf(repo)]).toEqual([files, refs]);
  });
});
