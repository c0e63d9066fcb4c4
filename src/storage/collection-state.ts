import type { CollectionPolicy } from "./collection-policy.ts";
import type { CollectionEpoch, FormerOids } from "./repository-records.ts";

/**
 * How long a job may collect before another one may begin, in milliseconds: longer than the
 * platform lets one run.
 */
const COLLECTION_MS = 20 * 60 * 1000;

/**
 * How much later than noted a change may have been, in milliseconds, so that not every push writes
 * a note.
 */
const NOTE_MS = 60 * 60 * 1000;

/** Rows of the reflog that one call reads. */
const LOG_ROWS_MAX = 20_000;

const KEY = "collection";

/** Times in milliseconds. */
interface StoredState {
  /**
   * The first and the last change since which objects may be unreachable; absent if there is none.
   */
  first?: number;
  last?: number;
  /** When the last search began. */
  searchedAt?: number;
  /** Until when a job has the repository to itself. */
  leasedUntil?: number;
  /** As maintenance saw it last; absent before the first one. */
  policy?: CollectionPolicy;
}

/**
 * When the objects of a repository that nothing reaches are collected, in its Durable Object's
 * storage.
 *
 * A change that may leave objects unreachable is noted. The search is due once the change is as old
 * as the grace period.
 */
export class CollectionState {
  private readonly sql: SqlStorage;
  private readonly kv: SyncKvStorage;

  constructor(sql: SqlStorage, kv: SyncKvStorage) {
    this.sql = sql;
    this.kv = kv;
  }

  /**
   * Grows with each change after which a search that began before, or what relied on its absence,
   * is void.
   */
  get epoch(): CollectionEpoch {
    return {
      collections: this.kv.get<number>("collections") ?? 0,
      adoptions: this.kv.get<number>("adoptions") ?? 0,
    };
  }

  isCurrent({ collections, adoptions }: CollectionEpoch): boolean {
    const { epoch } = this;
    return collections === epoch.collections && adoptions === epoch.adoptions;
  }

  countCollection(): void {
    this.kv.put("collections", this.epoch.collections + 1);
  }

  countAdoption(): void {
    this.kv.put("adoptions", this.epoch.adoptions + 1);
  }

  /** Notes that objects may be unreachable from now on. */
  note(at: number): void {
    const state = this.read();
    if (state.last !== undefined && state.last >= at) return;
    this.kv.put(KEY, { ...state, first: state.first ?? at, last: at + NOTE_MS });
  }

  setPolicy(policy: CollectionPolicy): void {
    const state = this.read();
    const { graceMs, intervalMs } = state.policy ?? {};
    if (graceMs === policy.graceMs && intervalMs === policy.intervalMs) return;
    this.kv.put(KEY, { ...state, policy });
  }

  /** When the next search is due, in milliseconds; undefined if none is. */
  dueAt(): number | undefined {
    const { first, searchedAt = 0, leasedUntil = 0, policy } = this.read();
    if (first === undefined || !policy || policy.intervalMs === null) return undefined;
    return Math.max(first + policy.graceMs, searchedAt + policy.intervalMs, leasedUntil);
  }

  /** Takes the repository for one job; false while another one has it. */
  begin(now: number): boolean {
    const state = this.read();
    if ((state.leasedUntil ?? 0) > now) return false;
    this.kv.put(KEY, { ...state, leasedUntil: now + COLLECTION_MS });
    return true;
  }

  /**
   * Ends a job.
   *
   * @param searchedAt When it began; undefined if it has left something to do.
   * @param horizon Changes up to this time were searched.
   */
  end(searchedAt: number | undefined, horizon: number): void {
    const { leasedUntil: _, ...state } = this.read();
    if (searchedAt === undefined) {
      this.kv.put(KEY, state);
      return;
    }
    const { first, last, ...rest } = state;
    const isLeft = last !== undefined && last > horizon;
    const later = isLeft ? { first: Math.max(first ?? last, horizon), last } : {};
    this.kv.put(KEY, { ...rest, ...later, searchedAt });
  }

  clear(): void {
    this.kv.delete(KEY);
  }

  /**
   * The distinct values that refs had until after `since`, or until a push that is not settled.
   * Without those that a ref has now.
   *
   * @param after The reflog id behind which to read.
   */
  listFormer(since: number, after: number): FormerOids {
    const rows = this.sql
      .exec<{ id: number; oid: string | null }>(
        `select id, case when old_oid not in (select oid from refs) then old_oid end as oid from reflog
         where id > ?1 and old_oid is not null
           and (at > ?2 or id >= (select min(payload ->> 'firstLogId') from outbox))
         order by id limit ?3`,
        after,
        since,
        LOG_ROWS_MAX,
      )
      .toArray();
    const oids = new Set(rows.flatMap(({ oid }) => (oid === null ? [] : [oid])));
    const nextId = rows.length === LOG_ROWS_MAX ? (rows.at(-1)?.id ?? null) : null;
    return { oids: [...oids], nextId };
  }

  private read(): StoredState {
    return this.kv.get<StoredState>(KEY) ?? {};
  }
}
