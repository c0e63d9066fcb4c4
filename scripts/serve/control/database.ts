import type { Database } from "../migrate.ts";
import type { CallControl } from "./client.ts";

type Row = Record<string, unknown>;

/** The service's database, for what happens before and beside requests. */
export class ControlledDatabase implements Database {
  readonly #call: CallControl;

  constructor(call: CallControl) {
    this.#call = call;
  }

  prepare(sql: string): ControlledStatement {
    return new ControlledStatement(this, sql, []);
  }

  /** Runs all statements, or none. @returns The rows of each. */
  async batch(statements: ControlledStatement[]): Promise<Row[][]> {
    const sent = statements.map(({ sql, values }) => ({ sql, values: [...values] }));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the form of the Worker's answer.
    return (await this.#call({ kind: "batch", statements: sent })) as Row[][];
  }
}

class ControlledStatement {
  readonly #database: ControlledDatabase;
  readonly sql: string;
  readonly values: readonly unknown[];

  constructor(database: ControlledDatabase, sql: string, values: readonly unknown[]) {
    this.#database = database;
    this.sql = sql;
    this.values = values;
  }

  bind(...values: unknown[]): ControlledStatement {
    return new ControlledStatement(this.#database, this.sql, values);
  }

  async all(): Promise<{ results: Row[] }> {
    const [results = []] = await this.#database.batch([this]);
    return { results };
  }

  run(): Promise<unknown> {
    return this.all();
  }
}
