import { DurableObject } from "cloudflare:workers";

import { findMerge } from "../git/pack/find-merge.ts";
import { PackList } from "./pack-list.ts";
import { RefTable } from "./ref-table.ts";
import type {
  DoneWork,
  MadeUpdate,
  OutboxEntry,
  PackRecord,
  Push,
  PushOutcome,
  RefOutcome,
  RefUpdate,
  ReplaceOutcome,
  RepositoryLocation,
  RepositorySummary,
  Snapshot,
  Work,
} from "./repository-records.ts";

/** Thrown to undo a transaction, and caught around it. */
const undo = Symbol("undo");

/** How long whoever read the list of packs may go on reading them, in milliseconds: a slow clone. */
export const RETIRED_LIFE_MS = 24 * 60 * 60 * 1000;

/** How long an upload may take, in milliseconds. Whoever takes longer is told to push again. */
export const UPLOAD_LIFE_MS = 24 * 60 * 60 * 1000;

/** How long an object waits before it asks to be tended, and before it asks again, in milliseconds. */
const ALARM_MS = 10 * 60 * 1000;

/** Pushes in a row that add small packs, after which they are merged at once. */
const MERGE_PACKS_MIN = 4;

// A column more is a statement more at the end: each is run once for every object.
const SCHEMA = [
  `create table refs (name text primary key, oid text not null, peeled_oid text) without rowid`,
  `create table packs (
    name text primary key, position integer not null unique, checksum text not null,
    pack_bytes integer not null, idx_bytes integer not null, sidecar_bytes integer not null,
    object_count integer not null
  ) without rowid`,
  `create table reflog (
    id integer primary key autoincrement, push_id text not null, ref text not null,
    old_oid text, new_oid text, actor_id integer not null, at integer not null
  )`,
  `create index reflog_ref on reflog (ref, id)`,
  `create table outbox (push_id text primary key, payload text not null) without rowid`,
  `alter table packs add column is_shared integer not null default 0`,
  `create table uploads (id text primary key, started_at integer not null) without rowid`,
  `create table retired (
    name text primary key, at integer not null, is_shared integer not null
  ) without rowid`,
  // What entries said of their updates is in the reflog.
  `update outbox set payload = json_set(json_remove(payload, '$.updates'), '$.rootUrl', '',
    '$.packName', null, '$.firstLogId',
    (select min(id) from reflog where reflog.push_id = outbox.push_id))`,
];

/**
 * What changes of one repository.
 *
 * Its methods are short and wait for nothing, so each is one step that no other comes between.
 * They answer with tagged unions: an error would lose its own fields on the way.
 *
 * Whatever is left undone, by a Worker that died between two steps, is noted here; an alarm has it
 * done.
 */
export class RepositoryObject extends DurableObject<Env> {
  private readonly sql: SqlStorage;
  private readonly refs: RefTable;
  private readonly packs: PackList;

  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    this.sql = state.storage.sql;
    this.refs = new RefTable(this.sql);
    this.packs = new PackList(this.sql);
    this.migrate();
  }

  private migrate(): void {
    const { kv } = this.ctx.storage;
    const applied = kv.get<number>("schema") ?? 0;
    if (applied === SCHEMA.length) return;
    this.ctx.storage.transactionSync(() => {
      this.sql.exec(SCHEMA.slice(applied).join(";\n"));
      kv.put("schema", SCHEMA.length);
    });
  }

  snapshot(): Snapshot {
    return {
      version: this.version(),
      head: this.head(),
      refs: this.refs.list(),
      packs: this.packs.list(),
    };
  }

  /** Notes that files of an upload are about to be written. */
  beginUpload(location: RepositoryLocation, uploadId: string, at: number): Snapshot {
    this.packs.startUpload(uploadId, at);
    this.askForTending(location);
    return this.snapshot();
  }

  /** Forgets an upload of which no file is left. */
  forgetUpload(uploadId: string): void {
    this.packs.forgetUploads([uploadId]);
  }

  /**
   * Moves refs, each only if it still is what the pusher saw, and lists the packs that they need.
   *
   * The one way in which a ref moves: what is checked here is checked for every push, merge and
   * edit.
   */
  commitPush(location: RepositoryLocation, push: Push): PushOutcome {
    const outcomes = this.isExpired(push)
      ? push.updates.map(({ ref }): RefOutcome => ({ kind: "expired", ref }))
      : [];
    let arePacksKept = false;
    let entry: OutboxEntry | null = null;
    try {
      this.ctx.storage.transactionSync(() => {
        if (outcomes.length > 0) return;
        const present = this.head() ?? `refs/heads/${push.defaultBranch}`;
        const head = push.headMove?.from === present ? push.headMove.to : present;
        // Deletions first: they may make room for names that lie inside of theirs.
        const deletions = push.updates.filter(({ newOid }) => newOid === null);
        const others = push.updates.filter(({ newOid }) => newOid !== null);
        for (const update of [...deletions, ...others]) {
          outcomes.push(this.refs.move(update, head));
        }

        const hasFailed = outcomes.some(({ kind }) => kind !== "updated");
        if (push.isAtomic && hasFailed) throw undo;
        const done = new Set(outcomes.filter(isUpdated).map(({ ref }) => ref));
        const made = push.updates.filter(({ ref }) => done.has(ref));
        if (made.length === 0) return;
        if (made.some(({ newOid }) => newOid !== null)) {
          this.packs.add(push.packs);
          if (push.uploadId !== null) this.packs.forgetUploads([push.uploadId]);
          arePacksKept = true;
        }
        this.settleHead(head, made);
        entry = this.note(push, made);
        this.bumpVersion();
      });
    } catch (error) {
      if (error !== undo) throw error;
      for (const [at, { kind, ref }] of outcomes.entries()) {
        if (kind === "updated") outcomes[at] = { kind: "undone", ref };
      }
    }
    this.askForTending(location);
    const order = new Map(push.updates.map(({ ref }, at) => [ref, at]));
    return {
      outcomes: outcomes.toSorted((a, b) => (order.get(a.ref) ?? 0) - (order.get(b.ref) ?? 0)),
      entry,
      summary: this.summary(),
      arePacksKept,
      isMaintenanceDue: this.isMergeDue(MERGE_PACKS_MIN),
    };
  }

  /** Puts a pack in the place of others that hold the same objects, if all those are still listed. */
  replacePacks(uploadId: string, oldNames: string[], pack: PackRecord, at: number): ReplaceOutcome {
    return this.ctx.storage.transactionSync(() => {
      const isReplaced = this.packs.hasUpload(uploadId) && this.packs.replace(oldNames, pack, at);
      if (!isReplaced) return { kind: "stale" };
      this.packs.forgetUploads([uploadId]);
      this.bumpVersion();
      return { kind: "replaced", packBytes: this.packs.totalBytes() };
    });
  }

  /** Points HEAD to a branch, which need not exist. */
  setHead(ref: string): void {
    this.ctx.storage.kv.put("head", ref);
    this.bumpVersion();
  }

  /** What a fork begins with. From now on other repositories may list the same packs. */
  share(): Snapshot {
    this.packs.share();
    return this.snapshot();
  }

  /** Makes this the object of a fork, where nothing was before. */
  adopt(location: RepositoryLocation, { head, refs, packs }: Snapshot): void {
    this.ctx.storage.transactionSync(() => {
      if (this.version() > 0) throw new Error("a repository can't become a fork");
      for (const ref of refs) this.refs.put(ref);
      this.packs.add(packs, true);
      if (head !== null) this.ctx.storage.kv.put("head", head);
      this.bumpVersion();
    });
    this.askForTending(location);
  }

  /** Pushes that were stored and not settled, oldest first. */
  listOutbox(): OutboxEntry[] {
    return this.sql
      .exec<{ payload: string }>(
        "select payload from outbox order by payload ->> 'at', push_id limit ?",
        OUTBOX_ENTRIES_MAX,
      )
      .toArray()
      .map(({ payload }) => JSON.parse(payload) as OutboxEntry);
  }

  /**
   * The refs that a push moved, in its order: so many as one answer holds.
   *
   * @param from So many are left out.
   */
  listUpdates({ firstLogId, updateCount }: OutboxEntry, from: number): MadeUpdate[] {
    return this.sql
      .exec<{ ref: string; oldOid: string | null; newOid: string | null }>(
        `select ref, old_oid as oldOid, new_oid as newOid from reflog
         where id >= ? and id < ? order by id limit ?`,
        firstLogId + from,
        firstLogId + updateCount,
        UPDATES_AT_ONCE,
      )
      .toArray();
  }

  /** Forgets an entry of the outbox: everybody who had to be told of the push was. */
  settle(pushId: string): void {
    this.sql.exec("delete from outbox where push_id = ?", pushId);
  }

  /** What is to be done at `now`, as far as one job can do it. */
  listWork(now: number): Work {
    const isDiscarded = this.isDiscarded();
    return {
      version: this.version(),
      summary: this.summary(),
      outbox: this.listOutbox(),
      uploadIds: this.packs.listUploads(now - UPLOAD_LIFE_MS),
      // Nobody may read a repository that is deleted.
      retired: this.packs.listRetired(isDiscarded ? now : now - RETIRED_LIFE_MS),
      packs: this.packs.list(),
      isChanged: this.isChanged(),
      isDiscarded,
    };
  }

  /** @returns True if nothing is left to be done. */
  finishWork(done: DoneWork): boolean {
    for (const pushId of done.pushIds) this.settle(pushId);
    this.packs.forgetUploads(done.uploadIds);
    this.packs.forgetRetired(done.retiredNames);
    if (done.version === this.version()) this.ctx.storage.kv.put("tended", done.version);
    return this.tendingDueAt() === undefined;
  }

  /** Those of `names` that this repository lists, or that its readers may still be reading. */
  findHeld(names: string[], now: number): string[] {
    return this.packs.findHeld(names, now - RETIRED_LIFE_MS);
  }

  /**
   * Ends a repository: whoever comes now finds nothing, and no push that is under way comes to an
   * end. Its packs wait to be removed.
   */
  discard(at: number): void {
    this.ctx.storage.transactionSync(() => {
      this.refs.clear();
      this.packs.retire(at);
      this.sql.exec("delete from reflog");
      this.sql.exec("delete from outbox");
      this.ctx.storage.kv.put("discarded", true);
      this.bumpVersion();
    });
  }

  /** Forgets everything. For a repository of which no file is left. */
  async destroy(): Promise<void> {
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
    this.migrate();
  }

  /** Asks for what is left undone, again and again until nothing is. */
  override async alarm(): Promise<void> {
    const { kv } = this.ctx.storage;
    const place = kv.get<RepositoryLocation>("place");
    kv.delete("alarm");
    const dueAt = this.tendingDueAt();
    if (!place || dueAt === undefined) return;
    const now = Date.now();
    this.askForTending(place, Math.max(dueAt, now + ALARM_MS));
    if (dueAt <= now) await this.env.STORAGE_JOBS.send({ kind: "maintain", ...place });
  }

  /** When something is to be done, in milliseconds; undefined if nothing is. */
  private tendingDueAt(): number | undefined {
    if (this.isChanged() || this.listOutbox().length > 0) return 0;
    return this.packs.dueAt(this.isDiscarded() ? 0 : RETIRED_LIFE_MS, UPLOAD_LIFE_MS);
  }

  private isChanged(): boolean {
    return this.version() > (this.ctx.storage.kv.get<number>("tended") ?? 0);
  }

  /** Sets the alarm, unless it goes off by then. */
  private askForTending(location: RepositoryLocation, at = Date.now() + ALARM_MS): void {
    const { kv } = this.ctx.storage;
    if ((kv.get<number>("alarm") ?? Number.POSITIVE_INFINITY) <= at) return;
    kv.put("place", location);
    kv.put("alarm", at);
    // Stored before any answer leaves the object, like every other write.
    void this.ctx.storage.setAlarm(at);
  }

  private isMergeDue(packsMin: number): boolean {
    const packs = this.packs.list();
    const first = findMerge(packs);
    return first !== undefined && packs.length - first >= packsMin;
  }

  /** SECURITY: an upload that was given up may be gone from the bucket already. */
  private isExpired({ uploadId }: Push): boolean {
    return this.isDiscarded() || (uploadId !== null && !this.packs.hasUpload(uploadId));
  }

  private summary(): RepositorySummary {
    return {
      head: this.head(),
      hasRefs: !this.refs.isEmpty(),
      packBytes: this.packs.totalBytes(),
    };
  }

  /** A HEAD that leads nowhere takes the first branch that comes. */
  private settleHead(head: string, made: readonly RefUpdate[]): void {
    const first = made.find(({ ref, newOid }) => newOid !== null && ref.startsWith("refs/heads/"));
    const isBorn = this.refs.has(head);
    this.ctx.storage.kv.put("head", isBorn || !first ? head : first.ref);
  }

  private note({ id, actorId, at, rootUrl, packs }: Push, made: readonly RefUpdate[]): OutboxEntry {
    for (const { ref, oldOid, newOid } of made) {
      this.sql.exec(
        `insert into reflog (push_id, ref, old_oid, new_oid, actor_id, at)
         values (?, ?, ?, ?, ?, ?)`,
        id,
        ref,
        oldOid,
        newOid,
        actorId,
        at,
      );
    }
    const entry: OutboxEntry = {
      pushId: id,
      updateCount: made.length,
      actorId,
      at,
      rootUrl,
      packName: packs.at(-1)?.name ?? null,
      firstLogId: this.lastLogId() - made.length + 1,
    };
    const payload = JSON.stringify(entry);
    this.sql.exec("insert into outbox (push_id, payload) values (?, ?)", id, payload);
    return entry;
  }

  /** Of the row that was added last. */
  private lastLogId(): number {
    return this.sql.exec<{ id: number }>("select last_insert_rowid() as id").one().id;
  }

  private head(): string | null {
    return this.ctx.storage.kv.get<string>("head") ?? null;
  }

  private isDiscarded(): boolean {
    return this.ctx.storage.kv.get("discarded") === true;
  }

  private version(): number {
    return this.ctx.storage.kv.get<number>("version") ?? 0;
  }

  private bumpVersion(): void {
    this.ctx.storage.kv.put("version", this.version() + 1);
  }
}

/** Updates that one answer holds. */
const UPDATES_AT_ONCE = 5000;

/** Entries of the outbox that one job takes. */
const OUTBOX_ENTRIES_MAX = 100;

const isUpdated = (outcome: RefOutcome): boolean => outcome.kind === "updated";
