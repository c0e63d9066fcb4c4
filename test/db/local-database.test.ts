import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";

/** Miniflare's simulator of D1, and the local database of `npm start`, which must do the same. */
const simulator = env.COMPARED_DB;
const local = env.COMPARED_LOCAL_DB;

/** What a call came to: its result, or the error's messages. */
async function outcomeOf(db: D1Database, call: (db: D1Database) => unknown): Promise<unknown> {
  try {
    return withoutDifferences(await call(db));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const cause = error.cause instanceof Error ? error.cause.message : undefined;
    return { name: error.name, message: error.message, cause };
  }
}

/**
 * Results without the fields in which the two differ by intent; "the decided differences" tests
 * these.
 */
function withoutDifferences(result: unknown): unknown {
  if (Array.isArray(result)) return result.map(withoutDifferences);
  if (typeof result !== "object" || result === null || !("meta" in result)) return result;
  const { changes, changed_db, rows_read, rows_written } = result.meta as D1Meta;
  return { ...result, meta: { changes, changed_db, rows_read, rows_written } };
}

/** Makes the same call to both databases. @returns What it came to, which is the same. */
async function expectSame(call: (db: D1Database) => unknown): Promise<unknown> {
  const expected = await outcomeOf(simulator, call);
  const actual = await outcomeOf(local, call);
  expect(actual).toEqual(expected);
  // Equality does not regard the order of columns.
  expect(JSON.stringify(actual)).toBe(JSON.stringify(expected));
  return actual;
}

const prepared =
  (sql: string, ...values: unknown[]) =>
  (db: D1Database) =>
    db
      .prepare(sql)
      .bind(...values)
      .all();

const SCHEMA = [
  "pragma foreign_keys = on",
  "create table parents (id integer primary key autoincrement, name text not null unique, n integer check (n < 1000))",
  "create table children (id integer primary key, parent_id integer not null references parents(id) on delete cascade, data any)",
  "create index children_parent on children (parent_id)",
  "create virtual table words using fts5 (word, content='', tokenize='trigram')",
  "create trigger named after insert on parents begin insert into words (rowid, word) values (new.id, new.name); end",
  "create table log (what text)",
  "create trigger logged after delete on parents begin insert into log values ('deleted ' || old.name); end",
  "create trigger refused before update on parents when new.name = 'refused' begin select raise(abort, 'this name is refused'); end",
];

beforeAll(async () => {
  for (const sql of SCHEMA.slice(1)) await expectSame((db) => db.prepare(sql).run());
  for (const name of ["Ada Lovelace", "Grace Hopper", "Edsger"]) {
    await expectSame(prepared("insert into parents (name, n) values (?, ?)", name, name.length));
  }
  await expectSame(
    prepared("insert into children (parent_id, data) values (1, ?), (2, ?)", "x", 2),
  );
});

describe("the values of a statement", () => {
  const values: [string, unknown][] = [
    ["an integer", 42],
    ["a fraction", 1.5],
    ["a large integer", 2 ** 53],
    ["a negative zero", -0],
    ["NaN", Number.NaN],
    ["infinity", Number.POSITIVE_INFINITY],
    ["a text", "naïve 🙂"],
    ["a text with NUL", "a\0b"],
    ["a text with a lone surrogate", "a\ud800b"],
    ["an empty text", ""],
    ["true", true],
    ["false", false],
    ["null", null],
    ["bytes", new Uint8Array([0, 1, 255])],
    ["a buffer", new Uint8Array([7, 8]).buffer],
    ["part of a buffer", new Uint8Array([1, 2, 3, 4]).subarray(1, 3)],
    ["signed bytes", new Int8Array([-1, 2])],
    ["a DataView", new DataView(new ArrayBuffer(2))],
    ["no bytes", new Uint8Array()],
    ["a list of bytes", [1, 2, 3]],
    ["an empty list", []],
    ["a list with a larger number", [1, 256]],
    ["a list of texts", ["a"]],
    ["a bigint", 1n],
    ["undefined", undefined],
    ["a symbol", Symbol("s")],
    ["a function", () => 1],
    ["a date", new Date(0)],
    ["an object", { a: 1 }],
  ];
  for (const [name, value] of values) {
    it(`has ${name}, as with D1`, async () => {
      await expectSame(prepared("select ?1 as value, typeof(?1) as type, hex(?1) as hex", value));
    });
  }

  it("may be used by number, repeatedly and out of order", async () => {
    await expectSame(prepared("select ?2 as b, ?1 as a, ?2 as c", "a", "b"));
  });

  const counts: [string, string, unknown[]][] = [
    ["too few values", "select ?, ?", [1]],
    ["too many values", "select ?", [1, 2]],
    ["no values for a parameter", "select ?", []],
    ["100 values", `select ${"?,".repeat(99)}?`, Array.from({ length: 100 }, (_, at) => at)],
    ["101 values", `select ${"?,".repeat(100)}?`, Array.from({ length: 101 }, (_, at) => at)],
    ["a parameter by name", "select :name", ["x"]],
  ];
  for (const [name, sql, list] of counts) {
    it(`has ${name}, as with D1`, async () => {
      await expectSame(prepared(sql, ...list));
    });
  }
});

describe("the rows of a statement", () => {
  const statements: [string, string][] = [
    ["of every type", "select 1, 1.5, 'text', null, x'00ff', 9007199254740993, 1e400, -1e400"],
    ["with two columns of a name", "select 1 as a, 2 as b, 3 as a"],
    ["with columns that are numbers", "select 'b' as '2', 'a' as '1', 'c' as 'x'"],
    ["with a column __proto__", "select 1 as __proto__, 2 as a"],
    ["of no row", "select id, name from parents where id < 0"],
    [
      "of joined tables",
      "select * from parents join children on parent_id = parents.id order by 1",
    ],
    ["of JSON", `select key, value, type from json_each('{"a": [1, 2], "b": null}')`],
    ["of full-text search", "select rowid from words where words match 'Love' order by rowid"],
    ["of a pragma", "pragma table_info(children)"],
    ["of other pragmas", "pragma foreign_key_list(children)"],
    ["of sequences", "select name, seq from sqlite_sequence"],
    ["of a plan", "explain query plan select * from children where parent_id = 1"],
    [
      "of a CTE",
      "with recursive n(i) as (select 1 union all select i + 1 from n where i < 5) select i from n",
    ],
    ["of a pragma that checks", "pragma foreign_key_check"],
    [
      "of many",
      "with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000) select i, 'row ' || i from n",
    ],
    ["of a comment before it", "-- why\nselect 1 as a"],
    ["of several statements", "select 1 as a; select 2 as b"],
    ["of a statement that ends twice", "select 1 as a;;"],
  ];
  for (const [name, sql] of statements) {
    it(`are those of D1: ${name}`, async () => {
      await expectSame((db) => db.prepare(sql).all());
      await expectSame((db) => db.prepare(sql).run());
      await expectSame((db) => db.prepare(sql).raw());
      await expectSame((db) => db.prepare(sql).raw({ columnNames: true }));
      await expectSame((db) => db.prepare(sql).first());
      await expectSame((db) => db.batch([db.prepare(sql), db.prepare("select 1")]));
    });
  }

  it("have a first one, and of it a column", async () => {
    const statement = "select id, name, null as none from parents order by id";
    await expectSame((db) => db.prepare(statement).first("name"));
    await expectSame((db) => db.prepare(statement).first("none"));
    await expectSame((db) => db.prepare(statement).first("other"));
    await expectSame((db) => db.prepare("select 1 where 0").first("other"));
  });
});

describe("a refused statement", () => {
  const statements: [string, string][] = [
    ["of a unique column", "insert into parents (name) values ('Edsger')"],
    ["of a column that is not null", "insert into parents (name) values (null)"],
    ["of a check", "insert into parents (name, n) values ('n', 5000)"],
    ["of a foreign key", "insert into children (parent_id) values (999)"],
    ["of a primary key", "insert into children (id, parent_id) values (1, 1)"],
    ["of a trigger", "update parents set name = 'refused' where id = 1"],
    ["of a table that does not exist", "select * from nowhere"],
    ["of a column that does not exist", "select nothing from parents"],
    ["of its syntax", "selec 1"],
    ["that is not complete", "select"],
    ["that is empty", ""],
    ["that is white space", " \n "],
    ["that is a comment", "  -- nothing"],
    ["that is a comment from its first character", "-- nothing"],
    ["that opens a transaction", "begin"],
    ["that ends one", "commit"],
    ["that rolls back", "rollback"],
    ["that opens a savepoint", "savepoint a"],
    ["that attaches a database", "attach ':memory:' as other"],
    ["that vacuums", "vacuum"],
    ["of an internal table", "select * from _cf_KV"],
    ["that creates an internal table", "create table _cf_other (a)"],
    ["of a pragma that D1 refuses", "pragma journal_mode = delete"],
    ["of another such pragma", "pragma cache_size = 1"],
    ["of a function that D1 refuses", "select load_extension('x')"],
    ["of a temporary table", "create temp table t (a)"],
    ["of a value of 3 MB", "select length(zeroblob(3000000))"],
    ["of 101 KB", `select '${"x".repeat(101_000)}'`],
    ["of JSON that is invalid", "select json('{')"],
    ["of a large compound", `select 1 ${"union all select 1 ".repeat(600)}`],
    ["of a full-text query that is invalid", `select rowid from words where words match '"'`],
    ["that fails in its second part", "insert into log values ('half'); select * from nowhere"],
  ];
  for (const [name, sql] of statements) {
    it(`has D1's error, and writes nothing: ${name}`, async () => {
      await expectSame((db) => db.prepare(sql).run());
      await expectSame((db) =>
        db.batch([db.prepare("insert into log values ('batch')"), db.prepare(sql)]),
      );
      const written = await expectSame((db) => db.prepare("select what from log").raw());
      expect(written).not.toContainEqual(["half"]);
      await expectSame((db) => db.prepare("select count(*) from parents").raw());
    });
  }
});

describe("a batch", () => {
  it("is one transaction: its results are D1's, with what its triggers changed", async () => {
    const results = await expectSame((db) =>
      db.batch([
        db.prepare("insert into parents (name) values (?) returning id, name").bind("Barbara"),
        db.prepare("update parents set n = 1 where name = ?").bind("Barbara"),
        db.prepare("update parents set n = 1 where name = ?").bind("nobody"),
        db.prepare("select name, n from parents where name = ?").bind("Barbara"),
        db.prepare(
          "with b as (select id from parents where name = 'Barbara') insert into children (parent_id) select id from b",
        ),
        db.prepare("delete from parents where name = ?").bind("Barbara"),
        db.prepare("insert or replace into parents (id, name) values (1, 'Ada Lovelace')"),
        db.prepare("replace into parents (id, name) values (1, 'Ada Lovelace')"),
        db.prepare("insert or ignore into parents (name) values ('Edsger')"),
        db.prepare("select count(*) as n from children"),
      ]),
    );
    expect(results).toHaveLength(10);
  });

  it("writes nothing where its last statement is refused", async () => {
    const refused = await expectSame((db) =>
      db.batch([
        db.prepare("insert into parents (name) values ('rolled back')"),
        db.prepare("delete from children"),
        db.prepare("insert into parents (name) values ('Edsger')"),
      ]),
    );
    expect(refused).toMatchObject({
      message: expect.stringMatching(/^D1_ERROR: UNIQUE constraint failed: parents\.name/),
    });
    const left = await expectSame((db) =>
      db.prepare("select name from parents order by name").raw(),
    );
    expect(left).not.toContainEqual(["rolled back"]);
    await expectSame((db) => db.prepare("select count(*) from children").raw());
  });

  it("may be empty, or have statements that are", async () => {
    await expectSame((db) => db.batch([]));
    await expectSame((db) =>
      db.batch([db.prepare(" "), db.prepare("select 1"), db.prepare("\n  -- a\n")]),
    );
  });

  it("may leave foreign keys broken until its end, and no longer", async () => {
    const deferred = "pragma defer_foreign_keys = on";
    const child = "insert into children (id, parent_id) values (70, 700)";
    const parent = "insert into parents (id, name) values (700, 'late')";
    await expectSame((db) => db.batch([deferred, child, parent].map((sql) => db.prepare(sql))));
    await expectSame((db) => db.batch([child, parent].map((sql) => db.prepare(sql))));
    await expectSame((db) => db.prepare("select id, parent_id from children order by id").raw());
  });

  it("may change the schema", async () => {
    // Not the rows read: the simulator's schema has a table more.
    const rowsOf = async (db: D1Database) => {
      const results = await db.batch(
        [
          "create table changing (a integer primary key, b text not null default 'b') strict",
          "insert into changing (a) values (1), (2)",
          "alter table changing add column c integer",
          "alter table changing rename to changed",
          "create unique index changed_c on changed (c)",
          "create view seen as select a from changed",
          "select * from changed",
          "select * from seen",
          "drop view seen",
          "drop table changed",
          "analyze parents",
        ].map((sql) => db.prepare(sql)),
      );
      return results.map(({ results: rows, meta }) => ({ rows, changes: meta.changes }));
    };
    await expectSame(rowsOf);
    await expectSame((db) => db.prepare("select * from changed").all());
  });

  // Neither reports the violation as one: it is found when the transaction ends, after the
  // results.
  it("is rolled back where a foreign key is broken at its end", async () => {
    for (const db of [simulator, local]) {
      const batch = db.batch([
        db.prepare("pragma defer_foreign_keys = on"),
        db.prepare("insert into children (id, parent_id) values (80, 800)"),
      ]);
      await expect(batch).rejects.toThrow(/internal error|FOREIGN KEY constraint failed/);
      expect(await db.prepare("select id from children where id = 80").all()).toMatchObject({
        results: [],
      });
    }
  });

  it("is as large as D1's simulator takes it", async () => {
    const rows = JSON.stringify(Array.from({ length: 20_000 }, (_, at) => `row ${at}`));
    await expectSame((db) =>
      db.batch([
        db.prepare("insert into log select value from json_each(?)").bind(rows),
        ...Array.from({ length: 1200 }, (_, at) => db.prepare("select ? as at").bind(at)),
        db.prepare("delete from log where what like 'row %'"),
      ]),
    );
  });

  // A call of a Durable Object takes 32 MB; a long text is sent in another way.
  it("may send and return 38 MB", async () => {
    const text = `ü${"x".repeat(1_899_999)}`;
    const rows = await expectSame(async (db) => {
      const insert = db.prepare("insert into log values (?)").bind(text);
      await db.batch(Array.from({ length: 20 }, () => insert));
      const written = await db.prepare("select what from log where what = ?").bind(text).raw();
      await db.prepare("delete from log where what = ?").bind(text).run();
      return written.map(([what]) => String(what).length);
    });
    expect(rows).toEqual(Array.from({ length: 20 }, () => text.length));
  });
});

describe("concurrent calls", () => {
  it("are transactions that follow one another", async () => {
    const increase = (db: D1Database) =>
      db.batch([
        db.prepare("insert into log select 'turn ' || count(*) from log where what like 'turn %'"),
        db.prepare("select count(*) as n from log where what like 'turn %'"),
      ]);
    const all = await expectSame(async (db) => {
      const results = await Promise.all(Array.from({ length: 20 }, () => increase(db)));
      return results.map(([, count]) => count?.results[0]);
    });
    expect(all).toEqual(Array.from({ length: 20 }, (_, at) => ({ n: at + 1 })));
  });
});

describe("exec", () => {
  const texts: [string, string][] = [
    ["one statement", "insert into log values ('exec')"],
    ["a statement a line", "insert into log values ('one');\ninsert into log values ('two');\n"],
    ["a refused line", "insert into log values ('three');\ninsert into nowhere values (1);"],
    ["a statement of two lines", "insert into log\nvalues ('four')"],
    ["nothing", ""],
  ];
  for (const [name, text] of texts) {
    it(`does with ${name} what D1 does`, async () => {
      await expectSame(async (db) => (await db.exec(text)).count);
      await expectSame((db) => db.prepare("select what from log order by rowid").raw());
    });
  }

  it("is no dump", async () => {
    await expectSame((db) => db.dump());
  });
});

describe("a session", () => {
  it("has the bookmark of its last call, and none before", async () => {
    for (const constraint of [undefined, null, "", " first-primary ", "first-unconstrained"]) {
      await expectSame((db) => db.withSession(constraint as string).getBookmark());
    }
    await expectSame((db) => db.withSession("0-an-earlier-one").getBookmark());
    for (const db of [simulator, local]) {
      const session = db.withSession("first-primary");
      await session.prepare("insert into log values ('session')").run();
      const first = session.getBookmark() ?? "";
      await session.batch([session.prepare("select 1"), db.prepare("select 2")]);
      const second = session.getBookmark() ?? "";
      expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{32}$/);
      expect(second > first).toBe(true);
      expect(
        await db.withSession(second).prepare("select count(*) as n from log").first("n"),
      ).toBeGreaterThan(0);
    }
  });

  it("keeps a later bookmark than that of an answer", async () => {
    await expectSame(async (db) => {
      const session = db.withSession("ffffffff-ffffffff-ffffffff-ffffffffffffffffffffffffffffffff");
      await session.prepare("select 1").all();
      return session.getBookmark();
    });
  });
});

describe("the id of the last row", () => {
  it("is that of the row that a statement inserted", async () => {
    for (const db of [simulator, local]) {
      const insert = (id: number | null) =>
        db.prepare("insert into children (id, parent_id) values (?, 1)").bind(id);
      const results = [await insert(4000).run(), ...(await db.batch([insert(5000), insert(null)]))];
      expect(results.map(({ meta }) => meta.last_row_id)).toEqual([4000, 5000, 5001]);
    }
  });
});

describe("the decided differences", () => {
  it("are the server's name, and sizes without the simulator's bookkeeping", async () => {
    const results = await Promise.all([simulator, local].map((db) => db.prepare("select 1").all()));
    expect(results.map(({ meta }) => meta.served_by)).toEqual([
      "miniflare.db",
      "edgeforge.local-database",
    ]);
    for (const { meta } of results) {
      expect(meta.size_after).toBeGreaterThan(0);
      expect(meta.duration).toBeGreaterThanOrEqual(0);
      expect(Object.keys(meta)).toEqual(Object.keys(results[0]?.meta ?? {}));
    }
  });

  // The simulator writes a row of its own after each call, which counts as the last one.
  it("are the id of the last row after other statements: as in D1, that of the last INSERT", async () => {
    await local.prepare("insert into children (id, parent_id) values (6000, 1)").run();
    const read = await local.prepare("select 1").all();
    const updated = await local.prepare("update children set data = 1 where id = 1").run();
    expect([read.meta.last_row_id, updated.meta.last_row_id]).toEqual([6000, 6000]);
  });
});
