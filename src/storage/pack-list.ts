import type { PackRecord, RetiredPack } from "./repository-records.ts";

/**
 * The packs of one repository, in its object's database: those on their way, those it lists, and
 * those it listed until lately.
 *
 * SECURITY: a file of the bucket is always in one of the three, or in no repository at all. An
 * upload is noted before its first byte is written and forgotten only when its pack is listed or
 * its files are gone, so nothing is left behind that nobody knows of.
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

  /** All packs together, in bytes. */
  totalBytes(): number {
    return this.sql
      .exec<{ bytes: number }>("select coalesce(sum(pack_bytes), 0) as bytes from packs")
      .one().bytes;
  }

  /** Lists packs behind all others. */
  add(packs: readonly PackRecord[], isShared = false): void {
    for (const pack of packs) {
      const { position } = this.sql
        .exec<{ position: number }>("select coalesce(max(position), 0) + 1 as position from packs")
        .one();
      this.insert(pack, position, isShared);
    }
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

  /** Notes that another repository lists the same packs from now on. */
  share(): void {
    this.sql.exec("update packs set is_shared = 1 where not is_shared");
  }

  /**
   * Puts a pack in the place of others that hold the same objects. The others are kept for those
   * who are reading them.
   *
   * @returns False, and nothing is changed, if not all of the others are listed.
   */
  replace(oldNames: readonly string[], pack: PackRecord, at: number): boolean {
    const { position, count } = this.sql
      .exec<{ position: number | null; count: number }>(
        `select min(position) as position, count(*) as count from packs
         where name in (select value from json_each(?))`,
        JSON.stringify(oldNames),
      )
      .one();
    if (position === null || count !== oldNames.length) return false;
    this.retire(at, oldNames);
    // SECURITY: the new pack stands where the oldest of the old ones stood, before all later
    // ones: an object's home is its oldest pack, and deltas may point to older packs only.
    this.insert(pack, position, false);
    return true;
  }

  /** Takes packs from the list, all unless `names` says which, and notes when. */
  retire(at: number, names: readonly string[] = this.list().map(({ name }) => name)): void {
    const those = JSON.stringify(names);
    this.sql.exec(
      `insert into retired (name, at, is_shared) select name, ?, is_shared from packs
       where name in (select value from json_each(?))`,
      at,
      those,
    );
    this.sql.exec("delete from packs where name in (select value from json_each(?))", those);
  }

  /** Packs that were taken from the list at `before` or earlier. */
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

  /** Those of `names` that are listed here, or were until after `since`. */
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

  hasUpload(id: string): boolean {
    return this.sql.exec("select 1 from uploads where id = ?", id).toArray().length > 0;
  }

  /** Uploads that began at `before` or earlier. */
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
   * When the first file is to be removed, in milliseconds; undefined if none is left.
   *
   * @param retiredLifeMs How long a pack that was taken from the list is kept.
   * @param uploadLifeMs How long an upload may take.
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

/** Files that are removed in one go. */
const WORK_MAX = 200;

/** A row as the cursor types it. */
type Row<T> = { [K in keyof T]: T[K] & SqlStorageValue };
