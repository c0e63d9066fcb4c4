import type {
  PullRefs,
  RefOutcome,
  RefUpdate,
  RequiredRef,
  StoredRef,
} from "./repository-records.ts";

/** The names of pull requests' refs lie between these: "0" is the character after "/". */
const PULLS = "refs/pull/";
const BEHIND_PULLS = "refs/pull0";

const byName = (a: StoredRef, b: StoredRef): number => (a.name < b.name ? -1 : 1);

/** The refs of one repository, in its Durable Object's database. */
export class RefTable {
  private readonly sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.sql = sql;
  }

  /** All refs but those of other pull requests than `pulls`, ordered by name. */
  list(pulls: PullRefs): StoredRef[] {
    if (pulls === "all") return this.select("");
    const before = this.select("where name < ?", PULLS);
    const chosen = [...new Set(pulls === "none" ? [] : pulls)].flatMap((number) =>
      this.select("where name >= ? and name < ?", `${PULLS}${number}/`, `${PULLS}${number}0`),
    );
    const behind = this.select("where name >= ?", BEHIND_PULLS);
    return [...before, ...chosen.toSorted(byName), ...behind];
  }

  /**
   * The refs of pull requests, ordered by name. @param oids Only those with one of these values.
   */
  listPulls(oids?: readonly string[]): StoredRef[] {
    const isPull = "where name >= ? and name < ?";
    if (!oids) return this.select(isPull, PULLS, BEHIND_PULLS);
    const condition = `${isPull} and oid in (select value from json_each(?))`;
    return this.select(condition, PULLS, BEHIND_PULLS, JSON.stringify(oids));
  }

  /** The distinct values of all refs. */
  listOids(): string[] {
    return this.sql
      .exec<{ oid: string }>("select distinct oid from refs")
      .toArray()
      .map(({ oid }) => oid);
  }

  hasPulls(): boolean {
    const found = this.sql.exec(
      "select 1 from refs where name >= ? and name < ? limit 1",
      PULLS,
      BEHIND_PULLS,
    );
    return found.toArray().length > 0;
  }

  private select(where: string, ...bounds: string[]): StoredRef[] {
    return this.sql
      .exec<{ name: string; oid: string; peeledOid: string | null }>(
        `select name, oid, peeled_oid as "peeledOid" from refs ${where} order by name`,
        ...bounds,
      )
      .toArray();
  }

  has(name: string): boolean {
    return this.sql.exec("select 1 from refs where name = ?", name).toArray().length > 0;
  }

  hasValue({ name, oid }: RequiredRef): boolean {
    const found = this.sql.exec("select 1 from refs where name = ? and oid = ?", name, oid);
    return found.toArray().length > 0;
  }

  isEmpty(): boolean {
    return this.sql.exec("select 1 from refs limit 1").toArray().length === 0;
  }

  /**
   * Updates a ref if it still has the expected old oid. Refuses to delete `head` and to create
   * conflicting names.
   *
   * @param head The branch that must not be deleted, if any.
   */
  move(update: RefUpdate, head: string | undefined): RefOutcome {
    const { ref, oldOid, newOid } = update;
    const [row] = this.sql
      .exec<{ oid: string }>("select oid from refs where name = ?", ref)
      .toArray();
    const actualOid = row?.oid ?? null;
    if (actualOid !== oldOid) return { kind: "stale", ref, actualOid };
    if (newOid === null) {
      if (ref === head) return { kind: "default-branch", ref };
      this.sql.exec("delete from refs where name = ?", ref);
      return { kind: "updated", ref };
    }
    const otherRef = oldOid === null ? this.findConflict(ref) : undefined;
    if (otherRef !== undefined) return { kind: "conflict", ref, otherRef };
    this.put({ name: ref, oid: newOid, peeledOid: update.peeledOid });
    return { kind: "updated", ref };
  }

  put({ name, oid, peeledOid }: StoredRef): void {
    this.sql.exec(
      `insert into refs (name, oid, peeled_oid) values (?, ?, ?)
       on conflict (name) do update set oid = excluded.oid, peeled_oid = excluded.peeled_oid`,
      name,
      oid,
      peeledOid,
    );
  }

  clear(): void {
    this.sql.exec("delete from refs");
  }

  /** A ref that conflicts with `ref` as file and directory: git refuses to fetch both. */
  private findConflict(ref: string): string | undefined {
    const inside = this.sql
      .exec<{ name: string }>(
        "select name from refs where name > ? and name < ? limit 1",
        `${ref}/`,
        `${ref}0`, // "0" is the character after "/"
      )
      .toArray();
    if (inside[0]) return inside[0].name;
    const parts = ref.split("/");
    for (let length = parts.length - 1; length > 1; length--) {
      const outer = parts.slice(0, length).join("/");
      if (this.has(outer)) return outer;
    }
    return undefined;
  }
}
