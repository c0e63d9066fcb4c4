import { type Database, openDatabase } from "../db/db.ts";
import type { D1 } from "../db/meter.ts";

const BINDING = /^SHARD_([1-9]\d{0,3})$/;

/**
 * The databases with repositories' own data, by the number of their shard: those of the bindings `SHARD_<number>`, and the
 * first database. Each is opened when it is first asked for, from its primary.
 *
 * `SHARD_0` is the first database under another name, for tests that tell the two apart.
 */
export class ShardDatabases {
  readonly #bindings: Record<string, D1Database | undefined>;
  readonly #directory: Database;
  readonly #wrap: (d1: D1) => D1;
  #opened: Map<number, Database> | undefined;

  /**
   * @param env The bindings of the Worker.
   * @param directory The first database.
   * @param wrap What each session is wrapped in.
   */
  constructor(env: object, directory: Database, wrap: (d1: D1) => D1 = (d1) => d1) {
    this.#bindings = env as Record<string, D1Database | undefined>;
    this.#directory = directory;
    this.#wrap = wrap;
  }

  /**
   * The database of a shard.
   *
   * @param number 0 for the first database.
   * @throws Error if it has no binding.
   */
  open(number: number): Database {
    const binding = this.#bindings[`SHARD_${number}`];
    if (number === 0 && !binding) return this.#directory;
    if (!binding) throw new Error(`shard ${number} has no binding SHARD_${number}`);
    this.#opened ??= new Map();
    let database = this.#opened.get(number);
    if (!database) {
      database = openDatabase(this.#wrap(binding.withSession("first-primary")), number);
      this.#opened.set(number, database);
    }
    return database;
  }

  /** All shards by number, without the first database. */
  openAll(): ReadonlyMap<number, Database> {
    return new Map(numbersOf(this.#bindings).map((number) => [number, this.open(number)]));
  }
}

/** The numbers of shards, by the bindings, which are the same object for all requests. */
const known = new WeakMap<object, readonly number[]>();

function numbersOf(env: object): readonly number[] {
  let numbers = known.get(env);
  if (!numbers) {
    const found = Object.keys(env).flatMap((name) => BINDING.exec(name)?.[1] ?? []);
    numbers = found.map(Number).toSorted((a, b) => a - b);
    known.set(env, numbers);
  }
  return numbers;
}

/** Whether a Worker has the binding of a shard. */
export const hasShards = (env: object): boolean => numbersOf(env).length > 0;
