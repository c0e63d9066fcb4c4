import type { ForkRecord, RepositoryLocation, Seed, SnapshotRecord } from "./repository-records.ts";

/** Refs in a row of a snapshot: it has at most 2 MB, and a name 1,000 bytes. */
const PART_REFS = 500;
/** Such rows, of all versions together, from which on each further fork takes over at once. */
const PARTS_MAX = 2000;
/** Pending forks that one maintenance job looks for. */
const FORKS_MAX = 1000;

/** The refs and packs that a fork takes over. */
type ForkState = Pick<SnapshotRecord, "head" | "refs" | "packs">;

/**
 * The forks of one repository that have not taken over its state yet, in its Durable Object's
 * database: each with the version that was forked. That version is stored only once the repository
 * is about to change.
 */
export class PendingForks {
  private readonly sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.sql = sql;
  }

  /**
   * Adds a fork of a version, the repository's current one. @param seed Of a generated repository.
   */
  add(
    { objectName, networkName }: RepositoryLocation,
    version: number,
    at: number,
    seed: Seed | undefined,
  ): void {
    this.sql.exec(
      "insert into forks (object_name, network_name, version, at, seed) values (?, ?, ?, ?, ?)",
      objectName,
      networkName,
      version,
      at,
      seed === undefined ? null : JSON.stringify(seed),
    );
  }

  /**
   * Stores a version of which there are forks. To be called before each change, in its transaction.
   */
  keep(version: number, read: () => ForkState): void {
    const isNeeded = this.sql.exec(
      `select 1 from forks
       where version = ?1 and not exists (select 1 from fork_states where version = ?1) limit 1`,
      version,
    );
    if (isNeeded.toArray().length === 0) return;
    const { head, refs, packs } = read();
    for (let part = 0; part === 0 || part * PART_REFS < refs.length; part++) {
      const some = refs.slice(part * PART_REFS, (part + 1) * PART_REFS);
      this.sql.exec(
        "insert into fork_states (version, part, payload) values (?, ?, ?)",
        version,
        part,
        JSON.stringify({ head, refs: some, packs: part === 0 ? packs : [] }),
      );
    }
  }

  /**
   * The refs and packs that a fork takes over; undefined if it is not pending.
   *
   * @param version The current version.
   * @param read Reads the current version.
   */
  find(objectName: string, version: number, read: () => ForkState): ForkRecord | undefined {
    const [row] = this.sql
      .exec<{ networkName: string; version: number; seed: string | null }>(
        `select network_name as "networkName", version, seed from forks where object_name = ?`,
        objectName,
      )
      .toArray();
    if (!row) return undefined;
    const state = row.version === version ? read() : this.readState(row.version);
    const location = { objectName, networkName: row.networkName };
    const seed = row.seed === null ? undefined : (JSON.parse(row.seed) as Seed);
    return { location, ...state, seed };
  }

  private readState(version: number): ForkState {
    const parts = this.sql
      .exec<{ payload: string }>(
        "select payload from fork_states where version = ? order by part",
        version,
      )
      .toArray()
      .map(({ payload }) => JSON.parse(payload) as ForkState);
    const [first] = parts;
    if (!first) throw new Error("a forked version that was not kept");
    return { ...first, refs: parts.flatMap(({ refs }) => refs) };
  }

  /** Removes forks, and versions that were stored for them alone. */
  remove(objectNames: readonly string[]): void {
    if (objectNames.length === 0) return;
    const versions = this.sql
      .exec<{ version: number }>(
        `delete from forks where object_name in (select value from json_each(?))
         returning version`,
        JSON.stringify(objectNames),
      )
      .toArray()
      .map(({ version }) => version);
    this.sql.exec(
      `delete from fork_states where version in (select value from json_each(?))
         and version not in (select version from forks)`,
      JSON.stringify(versions),
    );
  }

  /** Whether the stored versions take so much that no more should be needed. */
  isFull(): boolean {
    const { parts } = this.sql
      .exec<{ parts: number }>("select count(*) as parts from fork_states")
      .one();
    return parts >= PARTS_MAX;
  }

  /** Notes that forks exist in the database. */
  confirm(objectNames: readonly string[]): void {
    this.sql.exec(
      "update forks set is_confirmed = 1 where object_name in (select value from json_each(?))",
      JSON.stringify(objectNames),
    );
  }

  /**
   * The oldest forks that are not confirmed, at most `FORKS_MAX`.
   *
   * @param before Only those that were added then or earlier.
   */
  listUnconfirmed(before: number): string[] {
    return this.list("where not is_confirmed and at <= ? order by at", before);
  }

  /** Any forks, at most `FORKS_MAX`. */
  listAny(): string[] {
    return this.list("");
  }

  private list(where: string, ...bounds: number[]): string[] {
    return this.sql
      .exec<{ name: string }>(
        `select object_name as name from forks ${where} limit ?`,
        ...bounds,
        FORKS_MAX,
      )
      .toArray()
      .map(({ name }) => name);
  }

  /** When the oldest fork was added that is not confirmed; undefined if there is none. */
  firstUnconfirmedAt(): number | undefined {
    const { at } = this.sql
      .exec<{ at: number | null }>("select min(at) as at from forks where not is_confirmed")
      .one();
    return at ?? undefined;
  }
}
