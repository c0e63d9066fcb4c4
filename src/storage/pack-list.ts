import type { PackRecord, RetiredPack } from "./repository-records.ts";

/**
 * The packs of one repository, in its Durable Object's database: uploads, listed packs, and retired
 * packs.
 *
 * SECURITY: every file in the bucket belongs to one of the three tables of some repository. An
 * upload is recorded before its first byte is written, and its row is deleted only when its pack is
 * listed or its files are deleted, so no untracked file stays behind.
 */
export class PackList {
  private readonly sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.sql = sql;
  }

  /** Oldest first. */
  list(): PackRecord[] {
    return this.sql
      .exec<Row<PackRecord>>(
        `select name, checksum, pack_bytes as "packBytes", idx_bytes as "idxBytes",
           sidecar_bytes as "sidecarBytes", object_count as "objectCount"
         from packs order by position`,
      )
      .toArray();
  }

  /** Whether other repositories of the network may list any of some packs. */
  areAnyShared(names: readonly string[]): boolean {
    const found = this.sql.exec(
      "select 1 from packs where is_shared and name in (select value from json_each(?)) limit 1",
      JSON.stringify(names),
    );
    return found.toArray().length > 0;
  }

  /** Names of those that other repositories of the network may list. */
  listShared(): string[] {
    return this.sql
      .exec<{ name: string }>("select name from packs where is_shared order by position")
      .toArray()
      .map(({ name }) => name);
  }

  /** The size of all listed packs, in bytes. */
  totalBytes(): number {
    return this.sql
      .exec<{ bytes: number }>("select coalesce(sum(pack_bytes), 0) as bytes from packs")
      .one().bytes;
  }

  /** Appends packs to the list. */
  add(packs: readonly PackRecord[], isShared = false): void {
    for (const pack of packs) {
      const { position } = this.sql
        .exec<{ position: number }>("select coalesce(max(position), 0) + 1 as position from packs")
        .one();
      this.insert(pack, position, isShared);
    }
  }

  /** Lists packs that are under hold, behind all others. They stay shared. */
  adopt(packs: readonly PackRecord[]): void {
    const listed = new Set(this.list().map(({ name }) => name));
    const added = packs.filter(({ name }) => !listed.has(name));
    // SECURITY: or maintenance would delete a pack of the list with the retired ones.
    this.forgetRetired(added.map(({ name }) => name));
    this.add(added, true);
  }

  /**
   * Puts packs of another repository of the network under hold: as retired packs they are not
   * deleted for as long as readers may need those, and then only if no repository lists them.
   */
  hold(names: readonly string[], at: number): void {
    this.sql.exec(
      `insert into retired (name, at, is_shared)
       select value, ?1, 1 from json_each(?2) where value not in (select name from packs)
       on conflict (name) do update set at = ?1, is_shared = 1`,
      at,
      JSON.stringify(names),
    );
  }

  private insert(pack: PackRecord, position: number, isShared: boolean): void {
    this.sql.exec(
      `insert into packs
         (name, position, checksum, pack_bytes, idx_bytes, sidecar_bytes, object_count, is_shared)
       values (?, ?, ?, ?, ?, ?, ?, ?)`,
      pack.name,
      position,
      pack.checksum,
      pack.packBytes,
      pack.idxBytes,
      pack.sidecarBytes,
      pack.objectCount,
      Number(isShared),
    );
  }

  /** Marks some packs as shared. @returns Those that are listed. */
  shareListed(names: readonly string[]): string[] {
    const namesJson = JSON.stringify(names);
    const isNamed = "name in (select value from json_each(?))";
    this.sql.exec(`update packs set is_shared = 1 where ${isNamed}`, namesJson);
    return this.sql
      .exec<{ name: string }>(`select name from packs where ${isNamed}`, namesJson)
      .toArray()
      .map(({ name }) => name);
  }

  /** Marks all packs as shared, since another repository lists them from now on. */
  share(): void {
    this.sql.exec("update packs set is_shared = 1 where not is_shared");
  }

  /**
   * Replaces packs by one that contains the same objects, or those of them that refs reach. The old
   * packs are retired, so that running reads of them can finish.
   *
   * @param pack Null if nothing of them is left.
   * @param isShared Whether other repositories of the network are to list the new pack.
   * @returns False, and nothing is changed, if not all of the old packs are listed.
   */
  replace(
    oldNames: readonly string[],
    pack: PackRecord | null,
    at: number,
    isShared = false,
  ): boolean {
    const { position, count } = this.sql
      .exec<{ position: number | null; count: number }>(
        `select min(position) as position, count(*) as count from packs
         where name in (select value from json_each(?))`,
        JSON.stringify(oldNames),
      )
      .one();
    if (position === null || count !== oldNames.length) return false;
    this.retire(at, oldNames);
    // SECURITY: the new pack takes the position of the oldest replaced pack, before all later
    // packs: an object is read from the oldest pack that has it, and deltas may refer to older
    // packs only.
    if (pack) this.insert(pack, position, isShared);
    return true;
  }

  /** Moves packs from the list to the retired packs; all packs if `names` is absent. */
  retire(at: number, names: readonly string[] = this.list().map(({ name }) => name)): void {
    const namesJson = JSON.stringify(names);
    this.sql.exec(
      `insert into retired (name, at, is_shared) select name, ?, is_shared from packs
       where name in (select value from json_each(?))`,
      at,
      namesJson,
    );
    this.sql.exec("delete from packs where name in (select value from json_each(?))", namesJson);
  }

  /** Packs retired at `before` or earlier, oldest first. At most `WORK_MAX`. */
  listRetired(before: number): RetiredPack[] {
    return this.sql
      .exec<{ name: string; isShared: number }>(
        `select name, is_shared as "isShared" from retired where at <= ? order by at, name limit ?`,
        before,
        WORK_MAX,
      )
      .toArray()
      .map(({ name, isShared }) => ({ name, isShared: isShared === 1 }));
  }

  forgetRetired(names: readonly string[]): void {
    this.sql.exec(
      "delete from retired where name in (select value from json_each(?))",
      JSON.stringify(names),
    );
  }

  /** The subset of `names` that is listed, or was retired after `since`. */
  findHeld(names: readonly string[], since: number): string[] {
    return this.sql
      .exec<{ value: string }>(
        `select value from json_each(?) where value in (select name from packs)
           or value in (select name from retired where at > ?)`,
        JSON.stringify(names),
        since,
      )
      .toArray()
      .map(({ value }) => value);
  }

  startUpload(id: string, at: number): void {
    this.sql.exec("insert into uploads (id, started_at) values (?, ?)", id, at);
  }

  /** Whether a pack is under hold, or was retired. */
  isHeld(name: string): boolean {
    return this.sql.exec("select 1 from retired where name = ?", name).toArray().length > 0;
  }

  hasUpload(id: string): boolean {
    return this.sql.exec("select 1 from uploads where id = ?", id).toArray().length > 0;
  }

  /** Uploads that began at `before` or earlier, oldest first. At most `WORK_MAX`. */
  listUploads(before: number): string[] {
    return this.sql
      .exec<{ id: string }>(
        "select id from uploads where started_at <= ? order by started_at, id limit ?",
        before,
        WORK_MAX,
      )
      .toArray()
      .map(({ id }) => id);
  }

  forgetUploads(ids: readonly string[]): void {
    this.sql.exec(
      "delete from uploads where id in (select value from json_each(?))",
      JSON.stringify(ids),
    );
  }

  /**
   * When the first retired pack or upload expires, in milliseconds; undefined if there is none.
   *
   * @param retiredLifeMs Retention of a retired pack.
   * @param uploadLifeMs  Maximum duration of an upload.
   */
  dueAt(retiredLifeMs: number, uploadLifeMs: number): number | undefined {
    const { at } = this.sql
      .exec<{ at: number | null }>(
        `select min(at) as at from (
           select min(at) + ? as at from retired
           union all select min(started_at) + ? from uploads)`,
        retiredLifeMs,
        uploadLifeMs,
      )
      .one();
    return at ?? undefined;
  }
}

/** Retired packs and uploads that one maintenance job takes, of each. */
const WORK_MAX = 200;

/** A row as `SqlStorage` types it. */
type Row<T> = { [K in keyof T]: T[K] & SqlStorageValue };
