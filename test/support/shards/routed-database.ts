import { toSnakeCase } from "drizzle-orm/casing";

import { SIDES } from "../../../scripts/check/crossings/sides.ts";
import { copiedTables, SHARD_OWNED } from "../../../src/db/copies/copied-tables.ts";
import type { D1 } from "../../../src/db/meter.ts";
import { IDS_PER_RANGE } from "../../../src/domain/shards/id-ranges.ts";
import { allValues, comparedValues, insertedValues, limitOf } from "./statement-values.ts";

/** A statement of a test. */
export interface Given {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** The first database, and the shards by their numbers. */
export interface Databases {
  readonly all: readonly D1Database[];
  /** Called after a write of a database. */
  readonly onWrite: (number: number) => void;
  /** Awaited before a read: what the service does in shards, or brings back from them, after a request. */
  readonly settle: () => Promise<void>;
}

const NAMED = /\b(?:from|join|into|update)\s+["`]?(\w+)["`]?/gi;
const WRITES =
  /^\s*(?:insert(?:\s+or\s+\w+)?\s+into|update(?:\s+or\s+\w+)?|delete\s+from)\s+["`]?(\w+)["`]?/i;

const OWNED: ReadonlySet<string> = new Set(SHARD_OWNED.map(toSnakeCase));
/** Tables of shards that have copies of some rows and own the others. */
const PARTLY_COPIED = copiedTables()
  .filter(({ ownBy }) => ownBy !== undefined)
  .map(({ name }) => name);
/** Whose rows about a repository are in its shard and, for what happened in the first database, there. */
const OF_BOTH: ReadonlySet<string> = new Set(["events", "audit_events"]);

/**
 * The databases of a service with shards as if they were one, for tests that look at rows, or make them: each statement goes to the
 * database with these rows, which ids of a shard and of repositories tell, or else to all, and their rows are returned together.
 */
export class RoutedDatabase implements D1 {
  readonly #databases: Databases;
  readonly #shardOf = new Map<number, number>();

  constructor(databases: Databases) {
    this.#databases = databases;
  }

  prepare(text: string): D1PreparedStatement {
    return new RoutedStatement(this, { text, values: [] }) as unknown as D1PreparedStatement;
  }

  /** One batch for statements in a row that are about one database. */
  async batch<T>(statements: D1PreparedStatement[]): Promise<D1Result<T>[]> {
    const given = statements.map((each) => (each as unknown as RoutedStatement).given);
    const routes = await Promise.all(given.map((each) => this.#route(each)));
    const results: D1Result<T>[] = [];
    for (let at = 0; at < given.length;) {
      const { numbers, isUnlocked } = routes[at] as Route;
      let end = at + 1;
      if (numbers.length === 1 && !isUnlocked) {
        while (end < given.length && isSame(routes[end] as Route, numbers)) end++;
        const number = numbers[0] as number;
        const d1 = this.#open(number);
        const list = given.slice(at, end);
        for (const each of list) await this.#giveCopy(each, number);
        const part = list.map(({ text, values }) => d1.prepare(text).bind(...values));
        results.push(...(await d1.batch<T>(part)));
        this.#databases.onWrite(number);
      } else {
        results.push((await this.run(given[at] as Given, "all")) as D1Result<T>);
      }
      at = end;
    }
    return results;
  }

  /** Runs a statement in the databases that it is about. */
  async run(given: Given, method: "all" | "run" | "raw"): Promise<unknown> {
    const { numbers, isUnlocked } = await this.#route(given);
    const target = WRITES.exec(given.text)?.[1];
    if (target === undefined) await this.#databases.settle();
    const results: unknown[] = [];
    for (const number of numbers) {
      const d1 = this.#open(number);
      await this.#giveCopy(given, number);
      const text = target === undefined ? await this.#readOnce(given, numbers, number) : given.text;
      const statement = d1.prepare(text).bind(...given.values);
      if (number !== 0 && isUnlocked) {
        const lock = (is: number) => d1.prepare(`update shard_copies set is_copying = ${is}`);
        await d1.batch([lock(1), statement, lock(0)]);
      } else results.push(await statement[method]());
      if (target !== undefined) this.#databases.onWrite(number);
    }
    return merged(results, given);
  }

  /**
   * The text of a read for one of several databases, so that each row is found once. Of a relayed event, whoever asks for those of a
   * repository finds the row of its shard, in its place among the shard's own, and others that of the first database.
   */
  async #readOnce(
    { text, values }: Given,
    numbers: readonly number[],
    number: number,
  ): Promise<string> {
    const [, shard, ...others] = [0, ...numbers.filter((each) => each !== 0)];
    const isOfOne = others.length === 0;
    if (number !== 0) return withoutCopies(text, { hasRelayed: isOfOne });
    const ids = repositoriesOf({ text, values });
    if (shard === undefined || !isOfOne || !EVENTS.test(text) || ids.length === 0) return text;
    const { results } = await this.#open(shard)
      .prepare(
        `select original_id as id from events
        where repo_id in (${ids.join()}) and original_id is not null`,
      )
      .all<{ id: number }>();
    const relayed = results.map(({ id }) => id).join();
    return text.replaceAll(
      EVENTS,
      `from (select * from events where id not in (${relayed})) as "events"`,
    );
  }

  #open(number: number): D1Database {
    const found = this.#databases.all[number];
    if (!found) throw new Error(`there is no shard ${number}`);
    return found;
  }

  /** The databases of a statement, in the order of their numbers. */
  async #route(given: Given): Promise<Route> {
    const { text } = given;
    const target = WRITES.exec(text)?.[1]?.toLowerCase();
    const named = [...text.matchAll(NAMED)].map(([, name = ""]) => name.toLowerCase());
    if (target === "repositories") return this.#routeRepositories(given);
    const decisive = target === undefined ? named : [target];
    if (!decisive.some(isOfShards)) return { numbers: [0] };
    const first = named.filter((name) => SIDES.get(name) === "first" && !isPackages(name));
    const number = await this.#findShard(given);
    if (first.length > 0 && number !== 0) {
      throw new Error(`a shard has no ${first.join(" ")}: ${text}`);
    }
    const isAdded = /^\s*insert/i.test(text);
    if (number === undefined) {
      // What has no repository, and is of nothing in a shard.
      const isOfFirst = isAdded || (target !== undefined && PARTLY_COPIED.includes(target));
      return { numbers: isOfFirst ? [0] : this.#databases.all.map((_, at) => at) };
    }
    const isOfBoth = !isAdded && number !== 0 && decisive.some((name) => OF_BOTH.has(name));
    return { numbers: isOfBoth ? [0, number] : [number] };
  }

  /** A repository's row is in the first database, but for what belongs to its shard. */
  async #routeRepositories(given: Given): Promise<Route> {
    const [, changes] = /^\s*update\s+["`]?repositories["`]?\s+set\s([^]*)/i.exec(given.text) ?? [];
    if (changes === undefined) return { numbers: [0] };
    const columns = [...changes.replace(/\bwhere\b[^]*/i, "").matchAll(/["`]?(\w+)["`]?\s*=/g)].map(
      ([, name = ""]) => toSnakeCase(name),
    );
    const owned = columns.filter((name) => OWNED.has(name));
    const number = await this.#findShard(given);
    if (owned.length === 0 || number === 0) return { numbers: [0] };
    if (owned.length === columns.length && number !== undefined) return { numbers: [number] };
    const others = this.#databases.all.map((_, at) => at).slice(1);
    return { numbers: [0, ...(number === undefined ? others : [number])], isUnlocked: true };
  }

  /** @returns undefined if the statement's values do not tell it, or tell several. */
  async #findShard(given: Given): Promise<number | undefined> {
    const found = new Set<number>();
    for (const value of allValues(given.text, given.values)) {
      const number = typeof value === "number" ? Math.floor(value / IDS_PER_RANGE) : 0;
      if (number > 0 && number < this.#databases.all.length) found.add(number);
    }
    if (found.size === 0) {
      for (const number of await this.#shardsOf(given)) found.add(number);
    }
    return found.size === 1 ? [...found][0] : undefined;
  }

  /** The shards of the repositories that a statement is about, or of the packages' owners. */
  async #shardsOf(given: Given): Promise<number[]> {
    const isAboutPackages = isPackages(tableOf(given.text));
    const numbers = await Promise.all(
      isAboutPackages
        ? ownersOf(given).map((id) => this.#shardOfPackages(id))
        : repositoriesOf(given).map((id) => this.#shardOfRepository(id)),
    );
    return numbers.filter((number) => number !== undefined);
  }

  /** Packages of an account without a choice are in the first database. */
  async #shardOfPackages(ownerId: number): Promise<number> {
    const row = await this.#open(0)
      .prepare("select shard from package_shards where owner_id = ?")
      .bind(ownerId)
      .first<{ shard: number }>();
    return row?.shard ?? 0;
  }

  /** Lets the database of a package get a copy of the repository that it is linked to, as linking does. */
  async #giveCopy(given: Given, number: number): Promise<void> {
    if (number === 0 || !/^\s*(?:insert|update)/i.test(given.text)) return;
    if (tableOf(given.text) !== "packages") return;
    for (const id of repositoriesOf(given)) {
      await this.#open(0)
        .prepare("insert or ignore into shard_repositories (shard_id, repo_id) values (?, ?)")
        .bind(number, id)
        .run();
      this.#databases.onWrite(0);
    }
  }

  async #shardOfRepository(id: number): Promise<number | undefined> {
    const known = this.#shardOf.get(id);
    if (known !== undefined) return known;
    const row = await this.#open(0)
      .prepare("select shard from repositories where id = ?")
      .bind(id)
      .first<{ shard: number }>();
    // A deleted one is in none; another test may change the shard of one that is in the first database.
    if (row && row.shard > 0) this.#shardOf.set(id, row.shard);
    return row?.shard;
  }
}

/** A statement that is sent where its values say. */
class RoutedStatement {
  readonly #database: RoutedDatabase;
  readonly given: Given;

  constructor(database: RoutedDatabase, given: Given) {
    this.#database = database;
    this.given = given;
  }

  bind(...values: unknown[]): RoutedStatement {
    return new RoutedStatement(this.#database, { ...this.given, values });
  }
  all(): Promise<unknown> {
    return this.#database.run(this.given, "all");
  }
  run(): Promise<unknown> {
    return this.#database.run(this.given, "run");
  }
  raw(): Promise<unknown> {
    return this.#database.run(this.given, "raw");
  }
}

/** The databases of a statement. */
interface Route {
  readonly numbers: readonly number[];
  /** Whether it writes the shards' copies as copying does. */
  readonly isUnlocked?: boolean;
}

const isSame = ({ numbers, isUnlocked }: Route, others: readonly number[]): boolean =>
  isUnlocked !== true && numbers.length === 1 && numbers[0] === others[0];

/** The table that a statement writes, or reads first. */
const tableOf = (text: string): string =>
  (WRITES.exec(text)?.[1] ?? [...text.matchAll(NAMED)][0]?.[1] ?? "").toLowerCase();

const isPackages = (table: string): boolean => table.startsWith("package");

const isOfShards = (table: string): boolean => {
  const side = SIDES.get(table);
  return side === "own" || side === "each";
};

/** The ids of repositories that a statement compares, or inserts. */
function repositoriesOf({ text, values }: Given): number[] {
  const column = /^\s*update\s+["`]?repositories\b/i.test(text) ? "id" : "repo_id";
  const inserted = insertedValues(text, values, column) ?? [];
  const found =
    inserted.length > 0
      ? inserted
      : [
          ...comparedValues(text, values, column),
          ...comparedValues(text, values, "repositories.id"),
        ];
  return found.filter((value) => typeof value === "number");
}

/** The ids of accounts whose packages a statement compares, or inserts. */
function ownersOf({ text, values }: Given): number[] {
  const inserted = insertedValues(text, values, "owner_id") ?? [];
  const found = inserted.length > 0 ? inserted : comparedValues(text, values, "owner_id");
  return found.filter((value) => typeof value === "number");
}

const EVENTS = /\bfrom\s+"?events"?(?!\w)/gi;

/**
 * A statement that reads what is a shard's own alone, without copies of rows of the first database.
 *
 * @param hasRelayed Whether it reads events of the first database that came to the shard.
 */
const withoutCopies = (text: string, { hasRelayed }: { hasRelayed: boolean }): string =>
  text
    .replaceAll(
      EVENTS,
      `from (
        select * from events where id >= ${IDS_PER_RANGE}${hasRelayed ? "" : " and original_id is null"}
      ) as "events"`,
    )
    .replaceAll(
      new RegExp(`\\bfrom\\s+"?(${PARTLY_COPIED.join("|")})"?(?!\\w)`, "gi"),
      (_, name: string) => `from (select * from ${name} where repo_id is not null) as "${name}"`,
    );

/** The results of several databases as those of one: rows together, counts added. */
function merged(results: readonly unknown[], given: Given): unknown {
  const [first] = results;
  if (results.length <= 1) return first;
  const rows = results.map((each) =>
    Array.isArray(each) ? (each as unknown[]) : (each as D1Result).results,
  );
  const list = mergedRows(rows, given);
  if (Array.isArray(first)) return list;
  const changes = (results as D1Result[]).reduce((sum, { meta }) => sum + meta.changes, 0);
  return { ...(first as D1Result), results: list, meta: { ...(first as D1Result).meta, changes } };
}

const COUNTS = /^\s*select\s+(?:count\s*\(|coalesce\(sum|sum\()/i;
const DESCENDING = /\border by\b[^)]*\bdesc\b[^)]*$/i;

function mergedRows(rows: readonly unknown[][], given: Given): unknown[] {
  if (COUNTS.test(given.text) && rows.every((each) => each.length === 1)) {
    return [rows.map(([row]) => row as object).reduce(added)];
  }
  const inOrder = DESCENDING.test(given.text) ? rows.toReversed() : rows;
  return inOrder.flat().slice(0, limitOf(given.text, given.values));
}

/** Two rows of numbers, added. */
function added(one: object, other: object): object {
  const sums = Object.entries(one).map(([key, value]) => [
    key,
    Number(value) + Number((other as Record<string, unknown>)[key]),
  ]);
  const sum = Object.fromEntries(sums) as object;
  return Array.isArray(one) ? Object.values(sum) : sum;
}
