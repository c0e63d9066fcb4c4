import { DurableObject } from "cloudflare:workers";

import { findMerge } from "../git/pack/find-merge.ts";
import { CollectionState } from "./collection-state.ts";
import { sourceOfFork } from "./object-names.ts";
import { PackList } from "./pack-list.ts";
import { PendingForks } from "./pending-forks.ts";
import { RefLeases } from "./ref-leases.ts";
import { RefTable } from "./ref-table.ts";
import { storeSeedPack } from "./seed-pack.ts";
import { FORK_ROW_MS, RETIRED_LIFE_MS, UPLOAD_LIFE_MS } from "./retention.ts";
import type {
  CollectedPack,
  CollectionView,
  DeletedBranch,
  DoneWork,
  ForkRecord,
  FormerOids,
  HeldLease,
  Inquiry,
  LeaseOutcome,
  MadeUpdate,
  OutboxEntry,
  PackRecord,
  PullRefs,
  Push,
  PushOutcome,
  RefOutcome,
  RefUpdate,
  ReplaceOutcome,
  RepositoryLocation,
  RepositorySummary,
  RequiredRef,
  Seed,
  SnapshotRecord,
  StoredRef,
  Work,
} from "./repository-records.ts";

/** The state of a new fork, and packs that no other repository has. */
type Beginning = Omit<ForkRecord, "seed"> & { ownPacks: PackRecord[] };

/** Thrown inside a transaction to roll it back, and caught around it. */
const undo = Symbol("undo");

/**
 * Delay before the object requests maintenance, and before it repeats the request, in milliseconds.
 */
const ALARM_MS = 10 * 60 * 1000;

/**
 * How long a lease on a ref lasts if its holder dies, in milliseconds: longer than a merge takes as
 * a rule.
 */
const REF_LEASE_MS = 10_000;

/** Number of small packs at the end of the list from which a push requests their merge at once. */
const MERGE_PACKS_MIN = 4;

/** Updates of refs among which deleted branches are searched, and branches that are found. */
const DELETED_SEARCHED_MAX = 20_000;
const DELETED_MAX = 500;

// Migrations: each statement runs once per object, so a new column is a new statement at the end.
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
  // The updates that outbox entries listed before are in the reflog.
  `update outbox set payload = json_set(json_remove(payload, '$.updates'), '$.rootUrl', '',
    '$.packName', null, '$.firstLogId',
    (select min(id) from reflog where reflog.push_id = outbox.push_id))`,
  // Kept for good, so that nothing merges a pull request twice while its merge is not recorded in
  // the database.
  `create table merges (number integer primary key, push_id text not null)`,
  // For the refs of pull requests that have a value.
  `create index refs_oid on refs (oid)`,
  `create table forks (
    object_name text primary key, network_name text not null, version integer not null,
    at integer not null, is_confirmed integer not null default 0
  ) without rowid`,
  `create index forks_version on forks (version)`,
  `create table fork_states (
    version integer not null, part integer not null, payload text not null,
    primary key (version, part)
  ) without rowid`,
  `alter table forks add column seed text`,
];

/**
 * The mutable state of one repository: HEAD, refs, the list of packs, the reflog and the push
 * outbox.
 *
 * Its methods are synchronous, so calls do not interleave; only `acquireLease` waits, before it
 * reads. They return tagged unions, since an error loses its own properties when it crosses RPC.
 *
 * Unfinished work, such as that of a Worker that died between two steps, is recorded here; an alarm
 * requests a maintenance job that finishes it.
 */
export class RepositoryObject extends DurableObject<Env> {
  private readonly sql: SqlStorage;
  private readonly refs: RefTable;
  private readonly packs: PackList;
  private readonly leases = new RefLeases(REF_LEASE_MS);
  private readonly collection: CollectionState;
  private readonly forks: PendingForks;

  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    this.sql = state.storage.sql;
    this.refs = new RefTable(this.sql);
    this.packs = new PackList(this.sql);
    this.collection = new CollectionState(this.sql, state.storage.kv);
    this.forks = new PendingForks(this.sql);
    const source = this.schema() === 0 && sourceOfFork(state.id.name ?? "");
    // Every call waits until this ends, and fails if it does; the next one begins anew.
    if (source) void state.blockConcurrencyWhile(() => this.takeOver(source));
    else this.migrate();
  }

  /** The number of statements of `SCHEMA` that were run; 0 for a new object. */
  private schema(): number {
    return this.ctx.storage.kv.get<number>("schema") ?? 0;
  }

  private migrate(): void {
    const { kv } = this.ctx.storage;
    const applied = this.schema();
    if (applied === SCHEMA.length) return;
    this.ctx.storage.transactionSync(() => {
      this.sql.exec(SCHEMA.slice(applied).join(";\n"));
      kv.put("schema", SCHEMA.length);
    });
  }

  snapshot(pulls: PullRefs = "all"): SnapshotRecord {
    return {
      version: this.version(),
      head: this.head(),
      refs: this.refs.list(pulls),
      lacksPullRefs: pulls !== "all" && this.refs.hasPulls(),
      packs: this.packs.list(),
      collections: this.collection.epoch.collections,
    };
  }

  /**
   * The refs of pull requests, ordered by name. @param oids Only those with one of these values.
   */
  listPullRefs(oids?: readonly string[]): StoredRef[] {
    return this.refs.listPulls(oids);
  }

  /** Records an upload before its first file is written. */
  beginUpload(
    location: RepositoryLocation,
    uploadId: string,
    at: number,
    pulls?: PullRefs,
  ): SnapshotRecord {
    this.packs.startUpload(uploadId, at);
    this.scheduleMaintenance(location);
    return this.snapshot(pulls);
  }

  /**
   * Acquires the lease on a ref which others are about to update as well, so that each works on the
   * result of the one before. `commitPush` ends it with an update of the ref; otherwise release it.
   *
   * @param waitMs Maximum time to wait for it, in milliseconds.
   */
  async acquireLease(
    ref: string,
    waitMs: number,
    pulls?: PullRefs,
  ): Promise<LeaseOutcome<SnapshotRecord>> {
    const lease = await this.leases.acquire(ref, waitMs);
    if (!lease) return { kind: "busy" };
    const { id, hasWaited } = lease;
    return { kind: "acquired", lease: { ref, id }, hasWaited, snapshot: this.snapshot(pulls) };
  }

  releaseLease({ ref, id }: HeldLease): void {
    this.leases.release(ref, id);
  }

  /** Deletes the record of an upload whose files are deleted. */
  forgetUpload(uploadId: string): void {
    this.packs.forgetUploads([uploadId]);
  }

  /**
   * Updates refs, each only if it still has the expected old oid, and lists the packs that the
   * updates need.
   *
   * No other method updates refs, so its checks apply to every push, merge and edit.
   */
  commitPush(location: RepositoryLocation, push: Push): PushOutcome {
    const refusal = this.findRefusal(push);
    const outcomes = refusal
      ? push.updates.map(({ ref }): RefOutcome => ({ kind: refusal, ref }))
      : [];
    let arePacksKept = false;
    let entry: OutboxEntry | null = null;
    let earlierHeads: string[] = [];
    try {
      this.ctx.storage.transactionSync(() => {
        if (outcomes.length > 0) return;
        this.keepForForks();
        const oldHead = this.head() ?? `refs/heads/${push.defaultBranch}`;
        const head = push.headMove?.from === oldHead ? push.headMove.to : oldHead;
        // Deletions first: a new ref's name may lie below the name of a deleted one.
        const deletions = push.updates.filter(({ newOid }) => newOid === null);
        const others = push.updates.filter(({ newOid }) => newOid !== null);
        for (const update of [...deletions, ...others]) {
          outcomes.push(this.refs.move(update, push.origin ? undefined : head));
        }

        const hasFailed = outcomes.some(({ kind }) => kind !== "updated");
        if (push.isAtomic && hasFailed) throw undo;
        const done = new Set(outcomes.filter(isUpdated).map(({ ref }) => ref));
        const applied = push.updates.filter(({ ref }) => done.has(ref));
        if (applied.length === 0) return;
        if (applied.some(({ newOid }) => newOid !== null)) {
          this.packs.adopt(push.adoptedPacks ?? []);
          this.packs.add(push.packs);
          if (push.uploadId !== null) this.packs.forgetUploads([push.uploadId]);
          arePacksKept = true;
        }
        this.noteUnreachable(push, arePacksKept, hasFailed, applied);
        this.updateHead(head, applied);
        entry = this.recordPush(push, applied);
        if (applied.some(isNewBranch)) earlierHeads = this.listEarlierHeads(entry);
        this.bumpVersion();
      });
    } catch (error) {
      if (error !== undo) throw error;
      for (const [at, { kind, ref }] of outcomes.entries()) {
        if (kind === "updated") outcomes[at] = { kind: "undone", ref };
      }
    }
    if (push.lease && entry) this.releaseLease(push.lease);
    this.scheduleMaintenance(location);
    const order = new Map(push.updates.map(({ ref }, at) => [ref, at]));
    return {
      outcomes: outcomes.toSorted((a, b) => (order.get(a.ref) ?? 0) - (order.get(b.ref) ?? 0)),
      entry,
      summary: this.summary(),
      earlierHeads,
      arePacksKept,
      isMaintenanceDue: this.isMergeDue(MERGE_PACKS_MIN),
    };
  }

  /** Whether a push has merged the pull request of a number. */
  hasMerged(number: number): boolean {
    const rows = this.sql.exec("select 1 from merges where number = ?", number);
    return rows.toArray().length > 0;
  }

  /** Replaces packs by one that contains the same objects, if all of them are still listed. */
  replacePacks(uploadId: string, oldNames: string[], pack: PackRecord, at: number): ReplaceOutcome {
    return this.ctx.storage.transactionSync(() => {
      this.keepForForks();
      const wereShared = this.packs.areAnyShared(oldNames);
      const isReplaced = this.packs.hasUpload(uploadId) && this.packs.replace(oldNames, pack, at);
      if (!isReplaced) return { kind: "stale" };
      // The pack may have what only other repositories reach, whose searches do not find it there.
      if (wereShared) this.collection.note(at);
      this.packs.forgetUploads([uploadId]);
      this.bumpVersion();
      return { kind: "replaced", packBytes: this.packs.totalBytes() };
    });
  }

  /**
   * The start of a search for unreachable objects, and a lease for it; undefined while another
   * search runs.
   *
   * @param since Values that refs had until later count as reached.
   */
  beginCollection(now: number, since: number): CollectionView | undefined {
    if (this.isDiscarded() || !this.collection.begin(now)) return undefined;
    return this.viewForCollection(since);
  }

  /** The same of another repository of the network; undefined if it lists none of some packs. */
  joinCollection(names: string[], since: number): CollectionView | undefined {
    const listed = new Set(this.packs.list().map(({ name }) => name));
    return names.some((name) => listed.has(name)) ? this.viewForCollection(since) : undefined;
  }

  /**
   * The next page of values that refs had until after `since`. @param after The `nextId` of the
   * page before.
   */
  listFormerOids(since: number, after: number): FormerOids {
    return this.collection.listFormer(since, after);
  }

  private viewForCollection(since: number): CollectionView {
    return {
      epoch: this.collection.epoch,
      packs: this.packs.list(),
      sharedNames: this.packs.listShared(),
      tipOids: this.refs.listOids(),
      former: this.collection.listFormer(since, 0),
    };
  }

  /**
   * Replaces a pack by one without its unreachable objects.
   *
   * SECURITY: what refs reach in the old packs can only shrink while nothing is taken from other
   * repositories: a push may refer only to what refs reach when it is committed. So a view stays
   * true for as long as its epoch lasts.
   */
  replaceCollected(
    location: RepositoryLocation,
    { oldName, pack, uploadId, isShared, epoch }: CollectedPack,
    at: number,
  ): ReplaceOutcome {
    const outcome = this.ctx.storage.transactionSync((): ReplaceOutcome => {
      const isStored =
        uploadId === null
          ? pack === null || this.packs.isHeld(pack.name)
          : this.packs.hasUpload(uploadId);
      if (!isStored || !this.collection.isCurrent(epoch)) return { kind: "stale" };
      this.keepForForks();
      if (!this.packs.replace([oldName], pack, at, isShared)) return { kind: "stale" };
      if (uploadId !== null) this.packs.forgetUploads([uploadId]);
      // SECURITY: or maintenance would delete a pack of the list with the retired ones.
      if (pack) this.packs.forgetRetired([pack.name]);
      this.collection.countCollection();
      this.bumpVersion();
      return { kind: "replaced", packBytes: this.packs.totalBytes() };
    });
    if (outcome.kind === "replaced") this.scheduleMaintenance(location);
    return outcome;
  }

  /**
   * Ends a search.
   *
   * @param searchedAt When it began; undefined if it is to be continued.
   * @param horizon Changes until then were searched.
   */
  endCollection(searchedAt: number | undefined, horizon: number): void {
    this.collection.end(searchedAt, horizon);
    this.scheduleCollection();
  }

  /** Notes that objects may be unreachable that other repositories of the network reached. */
  noteCollection(location: RepositoryLocation, at: number): void {
    if (this.isDiscarded()) return;
    this.collection.note(at);
    this.scheduleMaintenance(location);
  }

  /** Marks some packs as shared. @returns Those that are listed. */
  shareListed(names: string[]): string[] {
    return this.packs.shareListed(names);
  }

  /** Points HEAD at a branch, which need not exist. */
  setHead(ref: string): void {
    this.keepForForks();
    this.ctx.storage.kv.put("head", ref);
    this.bumpVersion();
  }

  /** Marks all packs as shared with other repositories. @returns The packs. */
  share(): PackRecord[] {
    this.packs.share();
    return this.packs.list();
  }

  /**
   * Makes another object a fork, without the refs of pull requests: it takes over this repository
   * as it is now, at its first use. The list of refs goes from object to object, so that it passes
   * no Worker.
   *
   * @param generated For a repository that is generated of it: its commit, and the ref whose tree
   *   that has.
   * @returns False if that ref has another value; nothing is changed then.
   */
  async fork(
    location: RepositoryLocation,
    fork: RepositoryLocation,
    at: number,
    generated?: { readonly seed: Seed; readonly source: RequiredRef },
  ): Promise<boolean> {
    if (generated && !this.refs.hasValue(generated.source)) return false;
    this.packs.share();
    const seed = generated?.seed;
    // The runtime sends no request before it has stored what was written.
    const object = this.env.REPOSITORY.getByName(fork.objectName);
    if (sourceOfFork(fork.objectName) !== location.objectName) {
      await object.adopt({ location: fork, ...this.snapshot("none"), seed });
      return true;
    }
    this.forks.add(fork, this.version(), at, seed);
    this.scheduleMaintenance(location, at + FORK_ROW_MS);
    if (this.forks.isFull()) await object.wake();
    return true;
  }

  /** Undoes `fork`. Call only if no row of the fork was written. */
  async cancelFork({ objectName }: RepositoryLocation): Promise<void> {
    if (sourceOfFork(objectName) !== undefined) this.forks.remove([objectName]);
    else await this.env.REPOSITORY.getByName(objectName).destroy();
  }

  /** The refs and packs that a fork takes over; undefined if it is not pending. */
  readFork(objectName: string): ForkRecord | undefined {
    return this.forks.find(objectName, this.version(), () => this.snapshot("none"));
  }

  /** Forgets a fork that has taken over. */
  forgetFork(objectName: string): void {
    this.forks.remove([objectName]);
  }

  /** Stores the version that the next change ends, if there are pending forks of it. */
  private keepForForks(): void {
    this.forks.keep(this.version(), () => this.snapshot("none"));
  }

  /** Initializes this object as the fork that its name identifies. */
  private async takeOver(sourceName: string): Promise<void> {
    const fork = await this.env.REPOSITORY.getByName(sourceName).readFork(this.ctx.id.name ?? "");
    if (!fork) throw new Error("a fork of which its source does not know");
    const begun = await this.withSeed(fork);
    this.ctx.storage.transactionSync(() => {
      this.migrate();
      this.begin(begun);
      this.ctx.storage.kv.put("source", sourceName);
    });
    // The alarm repeats it.
    this.ctx.waitUntil(this.leaveSource(fork.location).catch(() => undefined));
  }

  /** Notifies the source of a fork that it has taken over. */
  private async leaveSource({ objectName }: RepositoryLocation): Promise<void> {
    const { kv } = this.ctx.storage;
    const sourceName = kv.get<string>("source");
    if (sourceName === undefined) return;
    await this.env.REPOSITORY.getByName(sourceName).forgetFork(objectName);
    kv.delete("source");
  }

  /** Does nothing but what the first call of each object does: a fork takes over. */
  wake(): void {}

  /**
   * Holds packs of another repository of the network that a push is about to list, so that nothing
   * deletes them meanwhile. Afterwards their owner must be asked whether it lists them still.
   */
  holdPacks(location: RepositoryLocation, names: string[], at: number): void {
    this.packs.hold(names, at);
    this.scheduleMaintenance(location);
  }

  /** Initializes this object as a fork. @throws Error if the repository is not new. */
  async adopt(fork: ForkRecord): Promise<void> {
    this.begin(await this.withSeed(fork));
  }

  /** What a fork begins with: that of a generated repository is its commit. */
  private async withSeed(fork: ForkRecord): Promise<Beginning> {
    const { seed } = fork;
    if (!seed) return { ...fork, ownPacks: [] };
    const pack = await storeSeedPack(this.env.PACKS, fork, seed);
    const refs = [{ name: seed.ref, oid: seed.oid, peeledOid: null }];
    return { ...fork, head: seed.ref, refs, ownPacks: [pack] };
  }

  private begin({ location, head, refs, packs, ownPacks }: Beginning): void {
    this.ctx.storage.transactionSync(() => {
      if (this.version() > 0) throw new Error("a repository can't become a fork");
      for (const ref of refs) this.refs.put(ref);
      this.packs.add(packs, true);
      this.packs.add(ownPacks);
      if (head !== null) this.ctx.storage.kv.put("head", head);
      this.bumpVersion();
    });
    this.scheduleMaintenance(location);
  }

  /** Pushes that are committed and not settled, oldest first. At most `OUTBOX_ENTRIES_MAX`. */
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
   * The ref updates of a push, in its order. At most `UPDATES_PER_CALL_MAX`.
   *
   * @param from Number of updates to skip.
   */
  listUpdates({ firstLogId, updateCount }: OutboxEntry, from: number): MadeUpdate[] {
    return this.sql
      .exec<{ ref: string; oldOid: string | null; newOid: string | null }>(
        `select ref, old_oid as oldOid, new_oid as newOid from reflog
         where id >= ? and id < ? order by id limit ?`,
        firstLogId + from,
        firstLogId + updateCount,
        UPDATES_PER_CALL_MAX,
      )
      .toArray();
  }

  /**
   * The distinct oids of the branches as they were before a push: what the reflog has as the old
   * value of the first update since, and otherwise the current value.
   */
  listEarlierHeads({ firstLogId }: OutboxEntry): string[] {
    return this.sql
      .exec<{ oid: string }>(
        `select oid from refs
         where name >= 'refs/heads/' and name < 'refs/heads0'
           and name not in (select ref from reflog where id >= ?1)
         union
         select old_oid from reflog
         where old_oid is not null
           and id in (
             select min(id) from reflog where id >= ?1 and ref glob 'refs/heads/*' group by ref
           )`,
        firstLogId,
      )
      .toArray()
      .map(({ oid }) => oid);
  }

  /**
   * The branches that were deleted after `since` and do not exist, the last one first: those among
   * the latest updates of refs. A branch that the same push created anew by another name, as a
   * renaming does, is left out.
   */
  listDeletedBranches(since: number): DeletedBranch[] {
    return this.sql
      .exec<{ ref: string; oid: string; at: number }>(
        `with recent as materialized (
           select * from reflog
           where id > (select max(id) from reflog) - ?1 and at > ?2
             and ref >= 'refs/heads/' and ref < 'refs/heads0'
         ), latest as (
           -- The other columns are those of the row with the largest id.
           select ref, old_oid as oid, new_oid, push_id, at, max(id) as id from recent group by ref
         )
         select ref, oid, at from latest
         where new_oid is null and ref not in (select name from refs)
           and (push_id, oid) not in (
             select push_id, new_oid from recent where old_oid is null and new_oid is not null
           )
         order by id desc limit ?3`,
        DELETED_SEARCHED_MAX,
        since,
        DELETED_MAX,
      )
      .toArray();
  }

  /** Deletes a push from the outbox, after its follow-up work is done. */
  settle(pushId: string): void {
    this.sql.exec("delete from outbox where push_id = ?", pushId);
  }

  /** The maintenance due at `now`, as much as one job can do. */
  listWork(now: number): Work {
    const isDiscarded = this.isDiscarded();
    return {
      version: this.version(),
      summary: this.summary(),
      outbox: this.listOutbox(),
      uploadIds: this.packs.listUploads(now - UPLOAD_LIFE_MS),
      // A deleted repository has no readers, so its packs need no retention.
      retired: this.packs.listRetired(isDiscarded ? now : now - RETIRED_LIFE_MS),
      forkNames: isDiscarded ? this.forks.listAny() : this.forks.listUnconfirmed(now - FORK_ROW_MS),
      inquiry: this.ctx.storage.kv.get<Inquiry>("inquiry") ?? null,
      packs: this.packs.list(),
      isChanged: this.isChanged(),
      isDiscarded,
    };
  }

  /** Records finished maintenance. @returns True if no maintenance is left. */
  finishWork(done: DoneWork): boolean {
    for (const pushId of done.pushIds) this.settle(pushId);
    this.packs.forgetUploads(done.uploadIds);
    this.packs.forgetRetired(done.retiredNames);
    this.forks.remove(done.goneForkNames);
    this.forks.confirm(done.confirmedForkNames);
    this.keepInquiry(done.inquiry);
    if (done.version === this.version()) this.ctx.storage.kv.put("maintainedVersion", done.version);
    this.collection.setPolicy(done.policy);
    this.scheduleCollection();
    return this.maintenanceDueAt() === undefined;
  }

  private keepInquiry(inquiry: Inquiry | null): void {
    const { kv } = this.ctx.storage;
    if (inquiry) kv.put("inquiry", inquiry);
    else kv.delete("inquiry");
  }

  /** The subset of `names` that this repository lists, or that its readers may still be reading. */
  findHeld(names: string[], now: number): string[] {
    return this.packs.findHeld(names, now - RETIRED_LIFE_MS);
  }

  /**
   * Empties a deleted repository: later reads find no refs, and running pushes are refused as
   * expired. Its packs are retired, and maintenance deletes them.
   */
  discard(at: number): void {
    this.ctx.storage.transactionSync(() => {
      this.keepForForks();
      this.refs.clear();
      this.packs.retire(at);
      this.sql.exec("delete from reflog");
      this.sql.exec("delete from outbox");
      this.collection.clear();
      this.ctx.storage.kv.put("discarded", true);
      this.bumpVersion();
    });
  }

  /** Deletes all stored state. Call only when no file of the repository is left. */
  async destroy(): Promise<void> {
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
    this.migrate();
  }

  /** Requests the jobs that are due, and repeats until none is. */
  override async alarm(): Promise<void> {
    const { kv } = this.ctx.storage;
    const location = kv.get<RepositoryLocation>("place");
    kv.delete("alarm");
    if (!location) return;
    await this.leaveSource(location).catch(() => undefined);
    const now = Date.now();
    const jobs = [
      { kind: "maintain", dueAt: this.maintenanceDueAt() },
      { kind: "collect", dueAt: this.collection.dueAt() },
    ] as const;
    for (const { dueAt } of jobs) {
      if (dueAt !== undefined) this.scheduleMaintenance(location, Math.max(dueAt, now + ALARM_MS));
    }
    for (const { kind, dueAt } of jobs) {
      if (dueAt !== undefined && dueAt <= now)
        await this.env.STORAGE_JOBS.send({ kind, ...location });
    }
  }

  /** Sets the alarm for the next search for unreachable objects. */
  private scheduleCollection(): void {
    const location = this.ctx.storage.kv.get<RepositoryLocation>("place");
    const dueAt = this.collection.dueAt();
    if (location && dueAt !== undefined) this.scheduleMaintenance(location, dueAt);
  }

  /** Notes a push after which objects may be unreachable. */
  private noteUnreachable(
    { adoptedPacks, at }: Push,
    arePacksKept: boolean,
    hasFailed: boolean,
    applied: readonly RefUpdate[],
  ): void {
    if (adoptedPacks) this.collection.countAdoption();
    const isSuspect =
      (adoptedPacks?.length ?? 0) > 0 ||
      (arePacksKept && hasFailed) ||
      applied.some(({ oldOid }) => oldOid !== null);
    if (isSuspect) this.collection.note(at);
  }

  /** When maintenance is due, in milliseconds; undefined if there is nothing to do. */
  private maintenanceDueAt(): number | undefined {
    if (this.isChanged() || this.listOutbox().length > 0) return 0;
    const isDiscarded = this.isDiscarded();
    if (isDiscarded && this.forks.listAny().length > 0) return 0;
    const packsAt = this.packs.dueAt(isDiscarded ? 0 : RETIRED_LIFE_MS, UPLOAD_LIFE_MS);
    const forkAt = this.forks.firstUnconfirmedAt();
    if (forkAt === undefined) return packsAt;
    return Math.min(packsAt ?? Number.POSITIVE_INFINITY, forkAt + FORK_ROW_MS);
  }

  private isChanged(): boolean {
    return this.version() > (this.ctx.storage.kv.get<number>("maintainedVersion") ?? 0);
  }

  /** Sets the alarm to `at`, unless it is set to an earlier time. */
  private scheduleMaintenance(location: RepositoryLocation, at = Date.now() + ALARM_MS): void {
    const { kv } = this.ctx.storage;
    if ((kv.get<number>("alarm") ?? Number.POSITIVE_INFINITY) <= at) return;
    kv.put("place", location);
    kv.put("alarm", at);
    // Not awaited: the runtime confirms all writes before a response leaves the object.
    void this.ctx.storage.setAlarm(at);
  }

  private isMergeDue(packsMin: number): boolean {
    const packs = this.packs.list();
    const first = findMerge(packs);
    return first !== undefined && packs.length - first >= packsMin;
  }

  /** The reason to refuse all updates of a push. */
  private findRefusal(push: Push): "expired" | "merged" | "required-ref-changed" | undefined {
    if (this.isExpired(push)) return "expired";
    if (push.merges?.some(({ number }) => this.hasMerged(number))) return "merged";
    const { adoptedPacks, adoptedAt } = push;
    // SECURITY: what it needs of this repository's own packs may be removed.
    if (adoptedPacks && adoptedAt !== this.collection.epoch.collections) {
      return "required-ref-changed";
    }
    // SECURITY: without this ref, nothing may reach the objects that the push was allowed to refer
    // to.
    return push.requiredRefs.every((each) => this.refs.hasValue(each))
      ? undefined
      : "required-ref-changed";
  }

  /**
   * SECURITY: the files of an abandoned upload may be deleted already, so its pack must not be
   * listed.
   */
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

  /** Stores HEAD. If its branch does not exist, HEAD takes the first pushed branch. */
  private updateHead(head: string, updates: readonly RefUpdate[]): void {
    const first = updates.find(
      ({ ref, newOid }) => newOid !== null && ref.startsWith("refs/heads/"),
    );
    const branchExists = this.refs.has(head);
    this.ctx.storage.kv.put("head", branchExists || !first ? head : first.ref);
  }

  /** Adds the updates to the reflog and the push to the outbox. */
  private recordPush(
    { id, actorId, isConfined, origin, at, rootUrl, visibility, packs, merges = [] }: Push,
    updates: readonly RefUpdate[],
  ): OutboxEntry {
    for (const { ref, oldOid, newOid } of updates) {
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
      updateCount: updates.length,
      actorId,
      isConfined,
      at,
      rootUrl,
      visibility,
      packName: packs.at(-1)?.name ?? null,
      firstLogId: this.lastLogId() - updates.length + 1,
      ...(origin && { origin }),
      ...(merges.length > 0 && { merges }),
    };
    for (const { number } of merges) {
      this.sql.exec("insert into merges (number, push_id) values (?, ?)", number, id);
    }
    const payload = JSON.stringify(entry);
    this.sql.exec("insert into outbox (push_id, payload) values (?, ?)", id, payload);
    return entry;
  }

  /** The id of the reflog row inserted last. */
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

/** Maximum updates in one result of `listUpdates`. */
const UPDATES_PER_CALL_MAX = 5000;

/** Maximum outbox entries that one job takes. */
const OUTBOX_ENTRIES_MAX = 100;

const isNewBranch = ({ ref, oldOid }: RefUpdate): boolean =>
  oldOid === null && ref.startsWith("refs/heads/");

const isUpdated = (outcome: RefOutcome): boolean => outcome.kind === "updated";
