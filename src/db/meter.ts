import { isolateWrites, type WriteScope } from "../lib/writes.ts";
import { effectOf } from "./statement-effect.ts";

/** The D1 usage of a request. */
export interface D1Usage {
  /** Statements and batches sent; a batch counts as one call. */
  calls: number;
  /** Round trips: the length of the longest chain of calls that waited for one another. */
  rounds: number;
  /** Rows as D1 bills them; counted only with `counts.rows`. */
  rowsRead: number;
  rowsWritten: number;
  /**
   * Whether a statement has changed the database, as D1 reports it: a write whose condition failed
   * has not.
   */
  hasWritten: boolean;
  /** The scope of what was read. */
  reads: WriteScope;
}

/** The methods of a D1 database or session that Drizzle calls, which a meter must implement. */
export type D1 = Pick<D1DatabaseSession, "prepare" | "batch">;

/**
 * Wraps `d1` and counts its calls, round trips and rows.
 *
 * Counting rows runs each SELECT twice, since D1 reports rows on `all()` but not on `raw()`, which
 * Drizzle uses because it keeps columns of the same name apart.
 *
 * @param counts.rows Whether to count rows too.
 * @param before Awaited before each call, if given.
 */
export function meterD1(
  d1: D1,
  counts: { rows: boolean },
  before?: () => Promise<void>,
): { d1: MeteredD1; usage: D1Usage } {
  const meter = new Meter(counts.rows, before);
  return { usage: meter.usage, d1: new MeteredD1(d1, meter) };
}

/** A D1 database or session whose calls are counted, and whose writes are followed. */
export class MeteredD1 {
  readonly #d1: D1;
  readonly #meter: Meter;

  constructor(d1: D1, meter: Meter) {
    this.#d1 = d1;
    this.#meter = meter;
  }

  prepare(query: string): D1PreparedStatement {
    const inner = this.#d1.prepare(query);
    return new MeteredStatement(this.#meter, query, inner) as unknown as D1PreparedStatement;
  }

  async batch<T>(statements: D1PreparedStatement[]): Promise<D1Result<T>[]> {
    const metered = statements as unknown as MeteredStatement[];
    const queries = metered.map(({ query }) => query);
    const inner = metered.map((statement) => statement.inner);
    const results = await this.#meter.send(queries, () => this.#d1.batch<T>(inner));
    return results.map((result) => this.#meter.note(result));
  }
}

/** The counters of a request. */
class Meter {
  readonly usage: D1Usage = {
    calls: 0,
    rounds: 0,
    rowsRead: 0,
    rowsWritten: 0,
    hasWritten: false,
    reads: "all",
  };
  readonly countsRows: boolean;
  private readonly before: (() => Promise<void>) | undefined;
  private roundsDone = 0;

  constructor(countsRows: boolean, before: (() => Promise<void>) | undefined) {
    this.countsRows = countsRows;
    this.before = before;
  }

  /** Sends statements by `call`: their writes end what the isolate keeps of earlier reads. */
  send<T>(queries: readonly string[], call: () => Promise<T>): Promise<T> {
    let scope: WriteScope | undefined;
    for (const query of queries) {
      const { reads, writes } = effectOf(query);
      if (reads === "quiet") this.usage.reads = "quiet";
      if (writes && scope !== "all") scope = writes;
    }
    const counted = () => this.#count(call);
    return scope ? isolateWrites.follow(scope, counted) : counted();
  }

  async #count<T>(call: () => Promise<T>): Promise<T> {
    if (this.before) await this.before();
    this.usage.calls += 1;
    // A call is assumed to depend on every call that had completed when it was sent.
    const round = this.roundsDone + 1;
    this.usage.rounds = Math.max(this.usage.rounds, round);
    try {
      return await call();
    } finally {
      this.roundsDone = Math.max(this.roundsDone, round);
    }
  }

  note<R extends D1Result>(result: R): R {
    this.usage.hasWritten ||= result.meta.changed_db;
    this.usage.rowsRead += result.meta.rows_read;
    this.usage.rowsWritten += result.meta.rows_written;
    return result;
  }
}

/** A statement whose calls are counted. */
class MeteredStatement {
  readonly meter: Meter;
  readonly query: string;
  readonly inner: D1PreparedStatement;

  constructor(meter: Meter, query: string, inner: D1PreparedStatement) {
    this.meter = meter;
    this.query = query;
    this.inner = inner;
  }
  bind(...values: unknown[]) {
    return new MeteredStatement(this.meter, this.query, this.inner.bind(...values));
  }
  async all<T>() {
    return this.meter.note(await this.#send(() => this.inner.all<T>()));
  }
  async run<T>() {
    return this.meter.note(await this.#send(() => this.inner.run<T>()));
  }
  async raw<T = unknown[]>(): Promise<T[]> {
    // D1 reports what a statement did on `all()` alone, where the names of a write's columns are
    // unique.
    if (effectOf(this.query).mayWrite) {
      const { results } = await this.all<Record<string, unknown>>();
      return results.map((row) => Object.values(row) as T);
    }
    const rows = await this.#send(() => this.inner.raw<T>());
    if (this.meter.countsRows) this.meter.note(await this.inner.all());
    return rows;
  }

  #send<T>(call: () => Promise<T>): Promise<T> {
    return this.meter.send([this.query], call);
  }
}
