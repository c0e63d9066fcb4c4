import { is, Placeholder, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { DrizzleQueryError } from "drizzle-orm/errors";
import { QueryPromise } from "drizzle-orm/query-promise";

import { type Database, openBuilder, withNumbers } from "./db.ts";
import { type MapRows, rowMapper, type SelectedFields } from "./row-mapper.ts";

/** A value that each call binds anew. */
type Scalar = string | number | null;

/** A bound value, in the place of a value in a condition, in `limit` and in `offset`. */
export type Slot<V> = SQL<V> & Placeholder<string, V>;

/**
 * The parameters that a query's declaration receives in the place of its arguments: a slot for each
 * text, number and null; for a list a subquery of one column, as `inArray` and `in` take it;
 * booleans and absent values as they are, since they decide about the SQL. Objects are taken apart.
 */
export type Params<A> = { readonly [K in keyof A]: Param<A[K]> };

type Param<V> = V extends undefined | boolean
  ? V
  : V extends Scalar
    ? Slot<V>
    : V extends readonly (infer E)[]
      ? SQL<E>
      : V extends SQL | Date
        ? never
        : V extends object
          ? Params<V>
          : never;

/** Values that are finite by their type: no `string`, no `number`. */
type Finite<V> = V extends string
  ? string extends V
    ? never
    : V
  : V extends number
    ? number extends V
      ? never
      : V
    : V extends (...args: never) => unknown
      ? never
      : V extends object
        ? { [K in keyof V]: Finite<V[K]> }
        : V;

/**
 * Shapes of one query whose SQL is kept. One more displaces the one that was unused for longest.
 */
export const SHAPES_MAX = 64;

/** A query that is declared once and only bound by each call. */
export interface PreparedQuery<A, S, R> {
  (db: Database, args: A, ...shape: ShapeArguments<S>): BoundQuery<R>;
}

type ShapeArguments<S> = unknown extends S ? [] : [shape: Finite<S>];

/**
 * Declares a query at the level of a module. Its SQL is built at the first call, and again only for
 * another shape.
 *
 * The shape consists of the booleans and of the absent values among the arguments, and of the
 * `shape` argument, whose type must be finite: sort orders, units, modes. Values never belong to
 * it.
 *
 * @param build Builds the query, from the parameters alone: whatever else it reads must never
 *   change.
 * @example
 * const namedUser = prepare((db, p: Params<{ name: string }>) =>
 *   db.select().from(users).where(eq(users.lowerName, p.name)),
 * );
 * const [user] = await namedUser(ctx.db, { name });
 */
export function prepare<A, S, Q extends BatchItem<"sqlite">>(
  build: (db: Database, params: Params<A>, shape: S) => Q,
): PreparedQuery<A, S, Q["_"]["result"]> {
  const statementOf = keepShapes<A, S, Statement>((db, ...given) =>
    toStatement(db, build(...given)),
  );
  return (db, args, ...[shape]) => {
    const { kept, bound } = statementOf(db, args, shape as S);
    return new BoundQuery(db, kept, bound);
  };
}

/** The queries of a batch by name; or a list, if at most its first result is read. */
type Queries =
  | Readonly<Record<string, BatchItem<"sqlite"> | undefined>>
  | readonly BatchItem<"sqlite">[];

/** Queries that are declared once and only bound by each call, for one batch. */
export interface PreparedQueries<A, S, Q extends Queries> {
  (db: Database, args: A, ...shape: ShapeArguments<S>): BoundQueries<Q>;
}

type BoundQueries<Q extends Queries> = { [Name in keyof Q]: Bound<Q[Name]> };

type Bound<Q> = Q extends BatchItem<"sqlite"> ? BoundQuery<Q["_"]["result"]> : undefined;

/**
 * The same for several queries with the same arguments, which are sent in one batch.
 *
 * @example
 * const { rows, counted } = await batch(db, pageAndTotal(db, { repoId, limit, offset }));
 */
export function prepareAll<A, S, const Q extends Queries>(
  build: (db: Database, params: Params<A>, shape: S) => Q,
): PreparedQueries<A, S, Q> {
  type Named = [name: string, statement: Statement];
  const statementsOf = keepShapes((db, ...given: [Database, Params<A>, S]) => {
    const queries = build(...given);
    const named = Object.entries(queries).flatMap(([name, query]): Named[] =>
      query ? [[name, toStatement(db, query)]] : [],
    );
    return { named, isList: Array.isArray(queries) };
  });
  return (db, args, ...[shape]) => {
    const { kept, bound } = statementsOf(db, args, shape as S);
    const queries = kept.named.map(
      ([name, statement]) => [name, new BoundQuery(db, statement, bound)] as const,
    );
    return (
      kept.isList ? queries.map(([, query]) => query) : Object.fromEntries(queries)
    ) as BoundQueries<Q>;
  };
}

/** The statements of a declaration by shape, with the values of a call. */
function keepShapes<A, S, T>(
  build: (db: Database, ...given: [builder: Database, params: Params<A>, shape: S]) => T,
) {
  const built = new Map<string, T>();

  return (db: Database, args: A, shape: S): { kept: T; bound: unknown[] } => {
    const bound: unknown[] = [];
    let key = flatten(args as object, bound);
    if (shape !== undefined) key += JSON.stringify(shape);

    let kept = built.get(key);
    if (kept) {
      // The most recent comes last once something is displaced.
      if (built.size === SHAPES_MAX) {
        built.delete(key);
        built.set(key, kept);
      }
    } else {
      const params = toParams(args as object, { count: 0 }) as Params<A>;
      kept = build(db, openBuilder(), params, shape);
      if (built.size >= SHAPES_MAX) built.delete(built.keys().next().value as string);
      built.set(key, kept);
    }
    return { kept, bound };
  };
}

/** A query of a session with its values: awaited, or one of a batch. */
export class BoundQuery<R> extends QueryPromise<R> implements BatchItem<"sqlite"> {
  declare readonly _: { readonly dialect: "sqlite"; readonly result: R };
  readonly #db: Database;
  readonly #statement: Statement;
  readonly #bound: readonly unknown[];

  constructor(db: Database, statement: Statement, bound: readonly unknown[]) {
    super();
    this.#db = db;
    this.#statement = statement;
    this.#bound = bound;
  }

  /** Its SQL. */
  get text(): string {
    return this.#statement.text;
  }

  /** Names the statement with its values, for this isolate. */
  get identity(): string {
    return `${this.#statement.id} ${JSON.stringify(this.#params())}`;
  }

  async execute(): Promise<R> {
    const { text, run } = this.#statement;
    const params = this.#params();
    try {
      return (await run(this.#db.statement(text).bind(...params))) as R;
    } catch (error) {
      throw new DrizzleQueryError(text, params, error as Error);
    }
  }

  /** @internal Drizzle's session calls it for each query of a batch. */
  _prepare() {
    const { text, ofBatch } = this.#statement;
    return {
      stmt: this.#db.statement(text),
      getQuery: () => ({ sql: text, params: this.#params() }),
      mapResult: ofBatch,
    };
  }

  #params(): unknown[] {
    return this.#statement.params.map((param) =>
      param instanceof Position ? this.#bound[param.at] : param,
    );
  }
}

/** Where a parameter's value stands among the bound values of a call. */
class Position {
  readonly at: number;
  constructor(at: number) {
    this.at = at;
  }
}

/** A query's SQL with what its values and its results need. */
interface Statement {
  /** No other of the isolate has it. */
  readonly id: number;
  readonly text: string;
  /** Values that are the same for each call, and the positions of the others. */
  readonly params: readonly unknown[];
  readonly run: (statement: D1PreparedStatement) => Promise<unknown>;
  /** Maps its result among those of a batch. */
  readonly ofBatch: (result: D1Result) => unknown;
}

/** The properties of Drizzle's queries once they are built. */
interface BuiltQuery {
  getQuery(): { sql: string; params: unknown[]; method?: string };
  fields?: SelectedFields;
  joinsNotNullableMap?: Record<string, boolean>;
  executeMethod?: string;
  customResultMapper?: (rows: unknown[][]) => unknown;
}

let statementCount = 0;

/** Builds a query, which the database counts. */
function toStatement(db: Database, query: BatchItem<"sqlite">): Statement {
  db.noteSqlBuild();
  const { result, params } = withNumbers(() => {
    // oxlint-disable-next-line no-underscore-dangle -- Drizzle's own name.
    const built = (query as unknown as { _prepare(): BuiltQuery })._prepare();
    return { built, ...built.getQuery() };
  });
  const { built, sql: text, method } = result;
  if (built.customResultMapper) throw new Error("relational queries can't be prepared");
  const isSlot = (param: unknown): param is Placeholder => is(param, Placeholder);
  const mapped = built.fields && rowMapper(built.fields, built.joinsNotNullableMap);
  return {
    id: ++statementCount,
    text,
    params: params.map((param) => (isSlot(param) ? new Position(Number(param.name)) : param)),
    ...(mapped ? ofMapped(mapped) : ofRaw(method ?? built.executeMethod)),
  };
}

type Results = Pick<Statement, "run" | "ofBatch">;

const ofMapped = (map: MapRows): Results => ({
  run: async (statement) => map(await statement.raw()),
  // D1 keeps the order of the columns in each object.
  ofBatch: ({ results }) => map(results.map((row) => Object.values(row as object))),
});

/**
 * Statements without selected columns: rows as D1 has them, the first of them, or what became of a
 * write.
 */
function ofRaw(method: string | undefined): Results {
  switch (method) {
    case "all":
      return {
        run: async (statement) => (await statement.all()).results,
        ofBatch: ({ results }) => results,
      };
    case "get":
      return {
        run: async (statement) => (await statement.all()).results[0],
        ofBatch: ({ results }) => results[0],
      };
    case "run":
      return {
        run: (statement) => statement.run(),
        ofBatch: (result) => result,
      };
    default:
      throw new Error(`a statement by ${String(method)} can't be prepared`);
  }
}

/**
 * Appends the values of `args` that are bound to `bound`, in their order, and returns what the SQL
 * depends on: the names of those, and the booleans.
 */
function flatten(args: object, bound: unknown[]): string {
  let key = "";
  for (const [name, value] of Object.entries(args) as [string, unknown][]) {
    if (value === undefined) continue;
    if (typeof value === "boolean") {
      key += value ? `${name}+` : `${name}-`;
    } else if (typeof value !== "object" || value === null) {
      key += `${name},`;
      bound.push(value);
    } else if (Array.isArray(value)) {
      key += `${name}*`;
      bound.push(JSON.stringify(value));
    } else {
      requirePlain(name, value);
      key += `${name}{${flatten(value, bound)}}`;
    }
  }
  return key;
}

/** The parameters of a declaration for arguments, with slots in the order of `flatten`. */
function toParams(args: object, slots: { count: number }): object {
  const params: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(args) as [string, unknown][]) {
    if (value === undefined) continue;
    if (typeof value === "boolean") {
      params[name] = value;
    } else if (typeof value !== "object" || value === null || Array.isArray(value)) {
      const slot = sql`${sql.placeholder(String(slots.count++))}`;
      params[name] = Array.isArray(value) ? sql`(select value from json_each(${slot}))` : slot;
    } else {
      params[name] = toParams(value, slots);
    }
  }
  return params;
}

function requirePlain(name: string, value: object): void {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new Error(`${name} is not a value that a query can bind`);
  }
}
