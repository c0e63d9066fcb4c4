import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { auditEvents, repositories, shards } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { freshName, make } from "../../support/make.ts";
import { serviceWith } from "../../support/service.ts";
import { makeShard } from "./shards.samples.ts";

interface Shard {
  id: number;
  is_open: boolean;
  is_ready: boolean;
  repo_count: number;
  size: number;
  measured_at: string;
  created_at: string;
}

const isOpen = async (id: number): Promise<boolean | undefined> =>
  (await db.select().from(shards).where(eq(shards.id, id)))[0]?.isOpen;

const auditOf = (actorId: number) =>
  db.select().from(auditEvents).where(eq(auditEvents.actorId, actorId));

describe("GET /admin/shards", () => {
  it("lists the shards by number, by page", async () => {
    const admin = await make.admin();
    const first = await makeShard({ createdAt: 1_769_846_400_000 });
    const second = await makeShard({
      isOpen: false,
      sizeBytes: 5e9,
      measuredAt: 1_769_846_460_000,
    });

    const { status, body, headers } = await call("GET", "/admin/shards?limit=50", { as: admin });

    expect(status).toBe(200);
    const ids = body.map(({ id }: Shard) => id);
    expect(ids).toEqual(ids.toSorted((one: number, other: number) => one - other));
    expect(headers.get("X-Total-Count")).toBe(String(ids.length));
    expect(body.filter(({ id }: Shard) => id === first.id || id === second.id)).toEqual([
      {
        id: first.id,
        is_open: true,
        is_ready: false,
        repo_count: 0,
        size: 0,
        measured_at: "1970-01-01T00:00:00Z",
        created_at: "2026-01-31T08:00:00Z",
      },
      {
        id: second.id,
        is_open: false,
        is_ready: false,
        repo_count: 0,
        size: 5e9,
        measured_at: "2026-01-31T08:01:00Z",
        created_at: expect.any(String),
      },
    ]);
    const page = await call("GET", `/admin/shards?limit=1&page=${ids.indexOf(second.id) + 1}`, {
      as: admin,
    });
    expect(page.body).toMatchObject([{ id: second.id }]);
  });

  it("says which are ready: those with a binding and all copies", async () => {
    const [one, other] = [await makeShard({ seededAt: null }), await makeShard()];
    const bindings = { [`SHARD_${one.id}`]: env.TEST_SHARD_2 };
    const isReady = async (id: number): Promise<boolean | undefined> => {
      const answer = await serviceWith({}, bindings)("GET", "/admin/shards?limit=50", {
        as: await make.admin(),
      });
      return answer.body.find((each: Shard) => each.id === id)?.is_ready;
    };
    expect(await isReady(one.id)).toBe(false);
    await db.update(shards).set({ seededAt: 1 }).where(eq(shards.id, one.id));
    expect(await isReady(one.id)).toBe(true);
    expect(await isReady(other.id)).toBe(false);
  });

  it("counts the repositories of each, as they are created, move and are deleted", async () => {
    const admin = await make.admin();
    const owner = await make.user();
    const [one, other] = [await makeShard(), await makeShard()];
    const [repo, moved] = [await make.repo(owner), await make.repo(owner)];
    const counts = async (): Promise<number[]> => {
      const { body } = await call("GET", "/admin/shards?limit=50", { as: admin });
      return [one, other].map(({ id }) => body.find((each: Shard) => each.id === id).repo_count);
    };
    const move = (id: number, shard: number) =>
      db.update(repositories).set({ shard }).where(eq(repositories.id, id));

    await move(repo.id, one.id);
    await move(moved.id, one.id);
    expect(await counts()).toEqual([2, 0]);
    await move(moved.id, other.id);
    expect(await counts()).toEqual([1, 1]);
    await db.delete(repositories).where(eq(repositories.id, moved.id));
    expect(await counts()).toEqual([1, 0]);
    await move(repo.id, 0);
    expect(await counts()).toEqual([0, 0]);

    const [row] = await db.select().from(repositories).where(eq(repositories.id, repo.id));
    if (!row) throw new Error("the repository is gone");
    const { id: _, ...columns } = row;
    const name = freshName("born");
    await db.insert(repositories).values({
      ...columns,
      name,
      lowerName: name,
      objectName: crypto.randomUUID(),
      shard: other.id,
    });
    expect(await counts()).toEqual([0, 1]);
  });

  it("is for administrators", async () => {
    expect((await call("GET", "/admin/shards")).status).toBe(401);
    expect((await call("GET", "/admin/shards", { as: await make.user() })).status).toBe(403);
  });
});

describe("PATCH /admin/shards/{id}", () => {
  it("closes a shard and opens it, and records who did", async () => {
    const admin = await make.admin();
    const { id } = await makeShard();
    const edit = (open: boolean) =>
      call("PATCH", `/admin/shards/${id}`, { as: admin, json: { is_open: open } });

    expect(await edit(false)).toMatchObject({ status: 200, body: { id, is_open: false } });
    expect(await isOpen(id)).toBe(false);
    // What is closed already is not closed again.
    expect(await edit(false)).toMatchObject({ status: 200, body: { id, is_open: false } });
    expect(await edit(true)).toMatchObject({ status: 200, body: { id, is_open: true } });
    expect(await isOpen(id)).toBe(true);

    expect(await auditOf(admin.id)).toMatchObject([
      { kind: "shard.closed", target: String(id), ownerId: 0 },
      { kind: "shard.opened", target: String(id), ownerId: 0 },
    ]);
  });

  it("refuses others, and changes nothing", async () => {
    const { id } = await makeShard();
    const reader = await make.token(await make.admin(), { scopes: "read:admin" });
    const path = `/admin/shards/${id}`;
    const json = { is_open: false };
    expect((await call("PATCH", path, { json })).status).toBe(401);
    expect((await call("PATCH", path, { json, as: await make.user() })).status).toBe(403);
    expect((await call("PATCH", path, { json, token: reader })).status).toBe(403);
    expect(await isOpen(id)).toBe(true);
  });

  it.each([{}, { is_open: null }, { is_open: "no" }, { is_open: 0 }])(
    "refuses %j, and changes nothing",
    async (json) => {
      const admin = await make.admin();
      const { id } = await makeShard();
      expect((await call("PATCH", `/admin/shards/${id}`, { as: admin, json })).status).toBe(422);
      expect(await isOpen(id)).toBe(true);
      expect(await auditOf(admin.id)).toEqual([]);
    },
  );

  it("does not know other shards, the first database among them", async () => {
    const admin = await make.admin();
    for (const id of ["0", "999", "-1", "x"]) {
      const json = { is_open: false };
      expect((await call("PATCH", `/admin/shards/${id}`, { as: admin, json })).status).toBe(404);
    }
    expect(await auditOf(admin.id)).toEqual([]);
  });
});
