import { is, Param, SQL, sql } from "drizzle-orm";

/**
 * The texts of a statement in one bound value: D1 binds 100 at most, and the parts of a compound select repeat their
 * conditions. `table` is the first common table expression of the statement.
 */
export class Arguments {
  readonly #values: unknown[] = [];

  /** A text as an expression; a parameter of a prepared statement stays one. */
  text(value: string | SQL): SQL {
    if (typeof value !== "string") return value;
    return sql.raw(`(select list ->> ${this.#add(value)} from arguments)`);
  }

  /** The values of a list as a subquery for `in`. */
  list(values: readonly (number | string)[]): SQL {
    const at = this.#add(values);
    return sql.raw(`(select value from json_each((select list -> ${at} from arguments)))`);
  }

  /** The common table expression, once all texts are known. */
  table(): SQL {
    return sql`arguments(list) as materialized (select ${JSON.stringify(this.#values)})`;
  }

  #add(value: unknown): number {
    const json = JSON.stringify(value);
    const at = this.#values.findIndex((each) => JSON.stringify(each) === json);
    return at >= 0 ? at : this.#values.push(value) - 1;
  }
}

/**
 * An integer as it is, without a bound value; a parameter of a prepared statement stays one.
 *
 * @throws Error for anything else, which could change the statement.
 */
export function integer(value: number | SQL): SQL {
  if (typeof value !== "number") return value;
  if (!Number.isSafeInteger(value)) throw new Error("not an integer");
  return sql.raw(String(value));
}

/** A statement's part with its integers as they are, so that it may be repeated without more bound values. */
export function withIntegers(query: SQL): SQL {
  const chunks = query.queryChunks.map((chunk) => {
    if (is(chunk, SQL)) return withIntegers(chunk);
    const value: unknown = is(chunk, Param) ? chunk.value : chunk;
    return typeof value === "number" && Number.isSafeInteger(value) ? integer(value) : chunk;
  });
  return new SQL(chunks);
}

/** A condition's result as SQLite stores it. */
export const bit = (value: boolean): SQL => sql.raw(value ? "1" : "0");
