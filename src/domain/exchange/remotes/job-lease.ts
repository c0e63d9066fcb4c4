import { type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import type { imports, pullMirrors, pushMirrors } from "../../../db/schema/index.ts";

/**
 * How long a job has its row without renewing the lease: after that it counts as dead, in
 * milliseconds.
 */
const LEASE_MS = 60_000;
/** How often a running job renews its lease. */
const RENEWAL_MS = 20_000;

/** A table whose rows jobs work on, one job at a time. */
type LeasedTable = typeof pullMirrors | typeof pushMirrors | typeof imports;

/**
 * The right of one job to work on a row, which other jobs respect until it ends or expires.
 *
 * SECURITY: it saves work and is no lock. A job that is late finds its writes refused by `isHeld`.
 */
export class JobLease {
  readonly #db: Ctx["db"];
  readonly #table: LeasedTable;
  readonly #isRow: SQL;
  #until: number;

  private constructor(db: Ctx["db"], table: LeasedTable, isRow: SQL, until: number) {
    this.#db = db;
    this.#table = table;
    this.#isRow = isRow;
    this.#until = until;
  }

  /**
   * Takes the lease of a row.
   *
   * Cost: one statement.
   *
   * @param isRow Names the row, for as long as the job may work on it.
   * @param isDue What holds when the lease is taken, and need not hold later.
   * @returns Undefined if there is no such row, or another job has it.
   */
  static async take(
    { db }: Pick<Ctx, "db">,
    table: LeasedTable,
    { isRow, isDue }: { readonly isRow: SQL; readonly isDue: SQL },
    now = Date.now(),
  ): Promise<JobLease | undefined> {
    const until = now + LEASE_MS;
    const taken = await db.all(
      sql`update ${table} set leased_until = ${until}
        where ${isRow} and ${isDue} and leased_until < ${now} returning leased_until`,
    );
    return taken.length > 0 ? new JobLease(db, table, isRow, until) : undefined;
  }

  /** The condition for writes of the job: it still has the row. */
  get isHeld(): SQL {
    return sql`(${this.#isRow} and ${this.#table.leasedUntil} = ${this.#until})`;
  }

  /**
   * Does work while it keeps the lease.
   *
   * @param work Gets a signal that is aborted when the lease is lost: the row was deleted, or
   *   another job has it.
   */
  async during<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const abort = new AbortController();
    let isRenewing = false;
    const timer = setInterval(() => {
      if (isRenewing) return;
      isRenewing = true;
      this.#renew()
        .then((isKept) => isKept || abort.abort())
        // The next renewal may succeed; if none does, the lease expires.
        .catch(() => undefined)
        .finally(() => (isRenewing = false));
    }, RENEWAL_MS);
    try {
      return await work(abort.signal);
    } finally {
      clearInterval(timer);
    }
  }

  async #renew(): Promise<boolean> {
    const until = Date.now() + LEASE_MS;
    const kept = await this.#db.all(
      sql`update ${this.#table} set leased_until = ${until}
        where ${this.isHeld} returning leased_until`,
    );
    if (kept.length > 0) this.#until = until;
    return kept.length > 0;
  }
}
