import { env } from "cloudflare:workers";
import { and, asc, eq, inArray, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { describe, expect, it } from "vitest";

import { columnsOf, flagColumn, isViolation, openDatabase } from "../../src/db/db.ts";
import { type Params, prepare, SHAPES_MAX } from "../../src/db/prepared.ts";
import { repositories, users } from "../../src/db/schema/index.ts";
import { db } from "../support/db.ts";
import { freshName, make } from "../support/make.ts";

/** How often SQL is built meanwhile. */
async function buildsOf(run: () => PromiseLike<unknown>): Promise<number> {
  const before = db.sqlBuildCount;
  await run();
  return db.sqlBuildCount - before;
}

/** A database that notes the SQL of its statements. */
function spyOnStatements() {
  const texts: string[] = [];
  const spied = openDatabase({
    prepare: (text) => {
      texts.push(text);
      return env.DB.prepare(text);
    },
    batch: (statements) => env.DB.batch(statements),
  });
  return { spied, texts };
}

const named = prepare((builder, p: Params<{ name: string }>) =>
  builder.select().from(users).where(eq(users.lowerName, p.name)),
);

describe("a prepared query", () => {
  it("is built by its first call and only bound by others", async () => {
    const [one, other] = [await make.user(), await make.user()];
    const query = prepare((builder, p: Params<{ name: string }>) =>
      builder.select().from(users).where(eq(users.lowerName, p.name)),
    );
    expect(await buildsOf(() => query(db, { name: one.name }))).toBe(1);
    let found: unknown;
    expect(
      await buildsOf(async () => {
        found = await query(db, { name: other.name });
      }),
    ).toBe(0);
    expect(found).toMatchObject([{ id: other.id }]);
  });

  it("maps rows as an ordinary query does", async () => {
    const owner = await make.user();
    await make.repo(owner);
    const parents = alias(repositories, "parents");
    const select = (builder: typeof db, ownerId: number | Params<{ id: number }>["id"]) =>
      builder
        .select({
          id: repositories.id,
          repo: { id: repositories.id, topics: repositories.topics },
          parent: { id: parents.id, isPrivate: parents.isPrivate },
          owner: columnsOf(users, "o"),
          origin: repositories.origin,
          isOwned: flagColumn(sql`${repositories.ownerId} = ${ownerId}`, "is_owned"),
          total: sql<number>`count(*) over ()`,
        })
        .from(repositories)
        .innerJoin(users, eq(users.id, repositories.ownerId))
        .leftJoin(parents, eq(parents.id, repositories.parentId))
        .where(eq(repositories.ownerId, ownerId));
    const query = prepare((builder, p: Params<{ id: number }>) => select(builder, p.id));
    const rows = await query(db, { id: owner.id });
    expect(rows).toEqual(await select(db, owner.id));
    expect(rows).toMatchObject([{ parent: null, isOwned: true, owner: { isActive: true } }]);
  });

  it("runs in a batch beside ordinary statements, and each counts as one statement", async () => {
    const user = await make.user();
    const before = db.statementCount;
    const [[first], [second]] = await db.batch([
      named(db, { name: user.name }),
      db.select({ id: users.id }).from(users).where(eq(users.id, user.id)),
    ]);
    expect(first?.id).toBe(second?.id);
    expect(first?.isActive).toBe(true);
    expect(db.statementCount - before).toBe(2);
    await named(db, { name: user.name });
    expect(db.statementCount - before).toBe(3);
  });

  it("takes lists as one value, of any length", async () => {
    const made = [await make.user(), await make.user()];
    const query = prepare((builder, p: Params<{ ids: readonly number[] }>) =>
      builder
        .select({ id: users.id })
        .from(users)
        .where(inArray(users.id, p.ids))
        .orderBy(asc(users.id)),
    );
    const ids = made.map(({ id }) => id);
    expect((await query(db, { ids })).map(({ id }) => id)).toEqual(ids);
    const many = [...ids, ...Array.from({ length: 500 }, (_, at) => 1e9 + at)];
    const builds = await buildsOf(async () => {
      expect((await query(db, { ids: many })).map(({ id }) => id)).toEqual(ids);
      expect(await query(db, { ids: [] })).toEqual([]);
    });
    expect(builds).toBe(0);
  });

  it("has one shape for each combination of absent values and booleans, and for each declared shape", async () => {
    const user = await make.user();
    const query = prepare(
      (
        builder,
        p: Params<{ id: number; filter: { name?: string | undefined; isActive?: boolean } }>,
        { order }: { order: "id" | "name" },
      ) =>
        builder
          .select({ id: users.id })
          .from(users)
          .where(
            and(
              eq(users.id, p.id),
              p.filter.name && eq(users.lowerName, p.filter.name),
              p.filter.isActive === undefined ? undefined : eq(users.isActive, p.filter.isActive),
            ),
          )
          .orderBy(order === "id" ? users.id : users.name),
    );
    const { id } = user;
    const builds = await buildsOf(async () => {
      expect(await query(db, { id, filter: {} }, { order: "id" })).toEqual([{ id }]);
      expect(await query(db, { id, filter: { name: undefined } }, { order: "id" })).toHaveLength(1);
      expect(await query(db, { id, filter: { name: "-" } }, { order: "id" })).toEqual([]);
      expect(await query(db, { id, filter: { name: user.name } }, { order: "id" })).toHaveLength(1);
      expect(await query(db, { id, filter: { isActive: true } }, { order: "id" })).toHaveLength(1);
      expect(await query(db, { id, filter: { isActive: false } }, { order: "id" })).toEqual([]);
      expect(await query(db, { id, filter: {} }, { order: "name" })).toEqual([{ id }]);
    });
    expect(builds).toBe(5);
  });

  // SQLite compiles a statement anew whenever a parameter is bound that is a limit itself.
  it("has no limit that is a bare parameter, nor has an ordinary query", async () => {
    const made = [await make.user(), await make.user()];
    const ids = made.map(({ id }) => id);
    const texts: string[] = [];
    const watching = openDatabase({
      prepare: (text) => {
        texts.push(text);
        return env.DB.prepare(text);
      },
      batch: (statements) => env.DB.batch(statements),
    });
    const query = prepare((builder, p: Params<{ ids: readonly number[]; limit: number }>) =>
      builder
        .select({ id: users.id })
        .from(users)
        .where(inArray(users.id, p.ids))
        .orderBy(sql`(select id from ${users} limit ${p.limit})`, asc(users.id))
        .limit(p.limit),
    );
    expect(await query(watching, { ids, limit: 1 })).toEqual([{ id: ids[0] }]);
    const ordinary = watching
      .select({ id: users.id })
      .from(users)
      .where(inArray(users.id, ids))
      .orderBy(asc(users.id))
      .limit(1);
    expect(await ordinary).toEqual([{ id: ids[0] }]);
    expect(texts).toHaveLength(2);
    expect(texts.flatMap((text) => text.match(/limit [^)]*/g))).toEqual([
      "limit +?2",
      "limit +?2",
      "limit +?",
    ]);
  });

  // A caller who varies what is absent can't make an isolate keep more.
  it("keeps a bounded number of shapes, and answers right beyond it", async () => {
    const query = prepare((builder, p: Params<Record<string, number | undefined>>) =>
      builder.all<{ n: number }>(sql`select ${sql.join(Object.values(p), sql` + `)} as n`),
    );
    const ask = (at: number) => query(db, { [`k${at}`]: at });
    for (let at = 0; at < SHAPES_MAX + 10; at += 1) expect(await ask(at)).toEqual([{ n: at }]);
    // What was used last is kept, and what was used first is not.
    expect(await buildsOf(() => ask(SHAPES_MAX + 9))).toBe(0);
    expect(await buildsOf(() => ask(0))).toBe(1);
  });

  it("keeps nothing by value", async () => {
    const query = prepare((builder, p: Params<{ text: string }>) =>
      builder.get<{ text: string }>(sql`select ${p.text} as text`),
    );
    await query(db, { text: "first" });
    const builds = await buildsOf(async () => {
      for (const text of ["'", "text,", "{}", "?", "", "+"]) {
        expect(await query(db, { text })).toEqual({ text });
      }
    });
    expect(builds).toBe(0);
  });

  it("has no bare parameter as a limit, for which SQLite would compile it at each execution", async () => {
    const { spied, texts } = spyOnStatements();
    const made = [await make.user(), await make.user(), await make.user()];
    const query = prepare(
      (
        builder,
        p: Params<{ ids: readonly number[]; most: number; size: number; offset: number }>,
      ) =>
        builder
          .select({ id: users.id })
          .from(users)
          .where(sql`${users.id} in (
          select id from ${users} where ${users.id} in ${p.ids} order by id limit ${p.most}
        )`)
          .orderBy(asc(users.id))
          .limit(p.size)
          .offset(p.offset),
    );
    const ids = made.map(({ id }) => id);
    expect(await query(spied, { ids, most: 2, size: 1, offset: 1 })).toEqual([{ id: ids[1] }]);
    expect(await query(spied, { ids, most: 2, size: 3, offset: 0 })).toEqual([
      { id: ids[0] },
      { id: ids[1] },
    ]);
    expect(texts[0]).toContain("limit +?3 offset +?4");
    for (const text of texts) expect(text).not.toMatch(/(limit|offset)\s+\?/i);
  });

  it("has its own integers in its SQL, and binds those of its callers", async () => {
    const user = await make.user();
    const { spied, texts } = spyOnStatements();
    const query = prepare((builder, p: Params<{ id: number }>) =>
      builder
        .select({ id: users.id, below: sql<number>`1 -${-1}` })
        .from(users)
        .where(and(eq(users.id, p.id), eq(users.isActive, true))),
    );
    expect(await query(spied, { id: user.id })).toEqual([{ id: user.id, below: 2 }]);
    expect(texts[0]).toContain('"users"."id" = ?1 and "users"."is_active" = (1)');
  });

  it("writes, and fails with D1's reason", async () => {
    const user = await make.user();
    const rename = prepare((builder, p: Params<{ id: number; fullName: string | null }>) =>
      builder.update(users).set({ fullName: p.fullName }).where(eq(users.id, p.id)),
    );
    const fullName = freshName("full");
    await rename(db, { id: user.id, fullName });
    expect(await named(db, { name: user.name })).toMatchObject([{ fullName }]);
    const error: unknown = await rename(db, { id: user.id, fullName: null }).catch(
      (reason: unknown) => reason,
    );
    expect(isViolation(error, "NOT NULL", "users.full_name")).toBe(true);
  });

  it("refuses to bind what is no value", () => {
    const query = prepare((builder, p: Params<{ at: object }>) =>
      builder.get(sql`select ${sql.join(Object.values(p))}`),
    );
    expect(() => query(db, { at: new Date(0) })).toThrow("at is not a value");
  });
});
