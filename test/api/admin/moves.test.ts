import { env } from "cloudflare:workers";
import { desc, eq, sql } from "drizzle-orm";
import { afterEach, describe, expect, it } from "vitest";

import { moveTriggers } from "../../../src/db/moves/move-triggers.ts";
import {
  auditEvents,
  idRanges,
  repositories,
  repositoryMoves,
  timelineEntries,
} from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { makeIssue } from "../../support/issues.ts";
import { make } from "../../support/make.ts";
import { serviceWith } from "../../support/service.ts";
import { makeMove } from "./moves.samples.ts";
import { makeShard } from "./shards.samples.ts";
import { migrate } from "../../support/migrate.ts";

const moves = () => db.select().from(repositoryMoves).orderBy(desc(repositoryMoves.id));
const auditOf = (actorId: number) =>
  db.select().from(auditEvents).where(eq(auditEvents.actorId, actorId));

/** In the first database, whether or not there are shards. */
const OF_FIRST = { shard: 0 };

await migrate(env.TEST_SHARD_2);

/** A shard with a database, and the service that has it. */
async function openShard(values: Parameters<typeof makeShard>[0] = {}) {
  const { id } = await makeShard(values);
  return { id, service: serviceWith({}, { [`SHARD_${id}`]: env.TEST_SHARD_2 }) };
}

describe("POST /admin/repos/{owner}/{repo}/move", () => {
  it("starts a move, and records who did", async () => {
    const admin = await make.admin();
    const repo = await make.repo(await make.user(), OF_FIRST);
    const { id, service } = await openShard();
    const path = `/admin/repos/${repo.owner}/${repo.name}/move`;

    const { status, body } = await service("POST", path, { as: admin, json: { shard: id } });

    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(Number),
      repository: `${repo.owner}/${repo.name}`,
      source: 0,
      target: id,
      state: "copying",
      reason: "",
      freeze_count: 0,
      row_counts: {},
      created_at: expect.any(String),
      moved_at: "1970-01-01T00:00:00Z",
      finished_at: "1970-01-01T00:00:00Z",
    });
    expect((await moves())[0]).toMatchObject({ repoId: repo.id, source: 0, target: id });
    expect(await auditOf(admin.id)).toMatchObject([
      {
        kind: "repository.move_started",
        repoId: repo.id,
        target: String(id),
        details: { source: 0, target: id },
      },
    ]);

    const again = await service("POST", path, { as: admin, json: { shard: id } });
    expect(again).toMatchObject({ status: 409, body: { message: /moves already/ } });
    expect(await auditOf(admin.id)).toHaveLength(1);
    await db.delete(repositoryMoves).where(eq(repositoryMoves.id, body.id));
  });

  it("refuses what can't move, and writes nothing", async () => {
    const admin = await make.admin();
    const owner = await make.user();
    const repo = await make.repo(owner, OF_FIRST);
    const { id, service } = await openShard();
    const before = (await moves()).length;
    const path = `/admin/repos/${repo.owner}/${repo.name}/move`;
    const json = { shard: id };
    const start = (sending: object, at = path) => service("POST", at, { json, ...sending });
    const reader = await make.token(admin, { scopes: "read:admin" });

    expect((await start({})).status).toBe(401);
    expect((await start({ as: owner })).status).toBe(403);
    expect((await start({ token: reader })).status).toBe(403);
    expect((await start({ as: admin }, `/admin/repos/${repo.owner}/none/move`)).status).toBe(404);
    for (const shard of [0, -1, 2048, 1.5, "1", null, 999, (await makeShard()).id]) {
      expect((await start({ as: admin, json: { shard } })).status, `${shard}`).toBe(422);
    }
    const unready = await openShard({ seededAt: null });
    const early = await unready.service("POST", path, { as: admin, json: { shard: unready.id } });
    expect(early.status).toBe(422);

    await db.update(repositories).set({ shard: id }).where(eq(repositories.id, repo.id));
    expect((await start({ as: admin })).status).toBe(409);
    await db.update(repositories).set({ shard: 0 }).where(eq(repositories.id, repo.id));
    expect((await moves()).length).toBe(before);
    expect(await auditOf(admin.id)).toEqual([]);
  });
});

describe("a move to a shard with a smaller number", () => {
  /** A repository of a shard, and the service that has both databases. */
  async function makeScene() {
    await migrate(env.TEST_SHARD_1);
    const [admin, repo] = [await make.admin(), await make.repo(await make.user())];
    const [to, from] = [await makeShard(), await makeShard()];
    await db.update(repositories).set({ shard: from.id }).where(eq(repositories.id, repo.id));
    const service = serviceWith(
      {},
      { [`SHARD_${to.id}`]: env.TEST_SHARD_1, [`SHARD_${from.id}`]: env.TEST_SHARD_2 },
    );
    const path = `/admin/repos/${repo.owner}/${repo.name}/move`;
    const start = () => service("POST", path, { as: admin, json: { shard: to.id } });
    return { admin, repo, from, to, start };
  }

  it("starts as another", async () => {
    const { from, to, start } = await makeScene();
    const { status, body } = await start();
    expect({ status, body }).toMatchObject({
      status: 201,
      body: { source: from.id, target: to.id, state: "copying" },
    });
    await db.delete(repositoryMoves).where(eq(repositoryMoves.id, body.id));
  });

  it.each([
    ["directly", []],
    ["by a third shard", [3000]],
  ])("is refused while another repository moves the other way, %s", async (_how, between) => {
    const { admin, from, to, start } = await makeScene();
    const stops = [to.id, ...between, from.id];
    const others = [];
    for (const [at, target] of stops.slice(1).entries()) {
      others.push(await makeMove({ source: stops[at] as number, target, state: "following" }));
    }
    const before = (await moves()).length;

    expect(await start()).toMatchObject({ status: 409, body: { message: /^another repository/ } });
    expect((await moves()).length).toBe(before);
    expect(await auditOf(admin.id)).toEqual([]);

    for (const { id } of others) {
      await db.update(repositoryMoves).set({ state: "cleaning" }).where(eq(repositoryMoves.id, id));
    }
    expect((await start()).status).toBe(201);
    await db.delete(repositoryMoves).where(eq(repositoryMoves.source, from.id));
  });

  it("is refused where it needs a new range of ids, and none is left", async () => {
    const { admin, from, to, start } = await makeScene();
    await db.insert(idRanges).values([
      { number: 2046, shardId: to.id },
      { number: 2047, shardId: from.id },
    ]);

    expect(await start()).toMatchObject({ status: 409, body: { message: /none is left/ } });
    expect(await auditOf(admin.id)).toEqual([]);

    // Without need it starts.
    await db.update(idRanges).set({ number: 5 }).where(eq(idRanges.shardId, from.id));
    expect((await start()).status).toBe(201);
    await db.delete(repositoryMoves).where(eq(repositoryMoves.source, from.id));
    await db.delete(idRanges);
  });
});

describe("GET /admin/moves", () => {
  it("lists moves, newest first, by page, and shows each", async () => {
    const admin = await make.admin();
    const [first, second] = [
      await makeMove(),
      await makeMove({ state: "done", rowCounts: { issues: 3 }, movedAt: 0, finishedAt: 60_000 }),
    ];
    const all = await call("GET", "/admin/moves?limit=50", { as: admin });
    const ids = all.body.map(({ id }: { id: number }) => id);
    expect(all.status).toBe(200);
    expect(ids).toEqual(ids.toSorted((one: number, other: number) => other - one));
    expect(all.headers.get("X-Total-Count")).toBe(String(ids.length));
    const page = await call("GET", `/admin/moves?limit=1&page=${ids.indexOf(first.id) + 1}`, {
      as: admin,
    });
    expect(page.body).toMatchObject([{ id: first.id, repository: "octo/hello" }]);
    expect(await call("GET", `/admin/moves/${second.id}`, { as: admin })).toMatchObject({
      status: 200,
      body: {
        id: second.id,
        state: "done",
        row_counts: { issues: 3 },
        finished_at: "1970-01-01T00:01:00Z",
      },
    });
  });

  it("is for administrators, and does not know other moves", async () => {
    const { id } = await makeMove();
    for (const path of ["/admin/moves", `/admin/moves/${id}`]) {
      expect((await call("GET", path)).status).toBe(401);
      expect((await call("GET", path, { as: await make.user() })).status).toBe(403);
    }
    const admin = await make.admin();
    for (const other of ["0", "999999", "-1", "x"]) {
      expect((await call("GET", `/admin/moves/${other}`, { as: admin })).status).toBe(404);
    }
  });
});

describe("POST /admin/moves/{id}/cancel", () => {
  it.each(["copying", "following", "frozen"] as const)("cancels one that is %s", async (state) => {
    const admin = await make.admin();
    const { id } = await makeMove({ state });
    const answer = await call("POST", `/admin/moves/${id}/cancel`, { as: admin });
    expect(answer).toMatchObject({ status: 200, body: { id, state: "reverting" } });
    expect(await auditOf(admin.id)).toMatchObject([
      { kind: "repository.move_cancelled", target: String(id) },
    ]);
  });

  it.each(["moved", "cleaning", "reverting", "done", "failed", "cancelled"] as const)(
    "refuses one that is %s, and changes nothing",
    async (state) => {
      const admin = await make.admin();
      const { id } = await makeMove({ state });
      expect((await call("POST", `/admin/moves/${id}/cancel`, { as: admin })).status).toBe(409);
      expect((await moves()).find((move) => move.id === id)?.state).toBe(state);
      expect(await auditOf(admin.id)).toEqual([]);
    },
  );

  it("is for administrators, and does not know other moves", async () => {
    const { id } = await makeMove();
    const path = `/admin/moves/${id}/cancel`;
    const admin = await make.admin();
    expect((await call("POST", path)).status).toBe(401);
    expect((await call("POST", path, { as: await make.user() })).status).toBe(403);
    expect((await call("POST", "/admin/moves/999999/cancel", { as: admin })).status).toBe(404);
    expect((await moves()).find((move) => move.id === id)?.state).toBe("copying");
  });
});

describe("a repository that is frozen", () => {
  afterEach(async () => {
    await db.run(sql`delete from move_sides`);
    await db.run(sql`delete from moving_repositories`);
    for (const name of moveTriggers().keys()) {
      await db.run(sql`drop trigger if exists ${sql.identifier(name)}`);
    }
  });

  it("is read as before, and answers writes 503 with a time to try again", async () => {
    const owner = await make.user();
    const [repo, other] = [await make.repo(owner, OF_FIRST), await make.repo(owner, OF_FIRST)];
    const [issue, otherIssue] = [await makeIssue(repo), await makeIssue(other)];
    for (const text of moveTriggers().values()) await db.run(sql.raw(text));
    await db.run(sql`insert into move_sides values (1, 1, 1, 1, 0)`);
    await db.run(sql`insert into moving_repositories values (${repo.id}, 1)`);
    const at = (name: string, number: number) => `/repos/${owner.name}/${name}/issues/${number}`;
    const write = (name: string, number: number) =>
      call("POST", `${at(name, number)}/comments`, { as: owner, json: { body: "now" } });

    const refused = await write(repo.name, issue.number);

    expect(refused).toMatchObject({
      status: 503,
      body: { message: "the repository is being moved: try again in a moment" },
    });
    expect(refused.headers.get("Retry-After")).toBe("2");
    expect(
      await db.select().from(timelineEntries).where(eq(timelineEntries.repoId, repo.id)),
    ).toEqual([]);
    expect((await call("GET", at(repo.name, issue.number), { as: owner })).status).toBe(200);
    expect((await write(other.name, otherIssue.number)).status).toBe(201);
    await db.run(sql`update move_sides set is_closed = 0`);
    expect((await write(repo.name, issue.number)).status).toBe(201);
  });
});
