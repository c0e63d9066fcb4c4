import type { RefOutcome, RefUpdate, RequiredRef, StoredRef } from "./repository-records.ts";

/** The refs of one repository, in its Durable Object's database. */
export class RefTable {
  private readonly sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.sql = sql;
  }

  /** All refs, ordered by name. */
  list(): StoredRef[] {
    return this.sql
      .exec<{ name: string; oid: string; peeledOid: string | null }>(
        `select name, oid, peeled_oid as "peeledOid" from refs order by name`,
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
   * Updates a ref if it still has the expected old oid. Refuses to delete `head` and to create conflicting
   * names.
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
