import { type ByteText, byteTextBytes } from "../git/byte-text.ts";
import { BlockPool, resident } from "../git/catalog/block-pool.ts";
import { mergePacks } from "../git/catalog/merge-packs.ts";
import { joinPacks } from "../git/join/join-packs.ts";
import type { JoinPart } from "../git/join/join-plan.ts";
import type { KeptObject } from "../git/catalog/merged-objects.ts";
import type { OpenPack } from "../git/catalog/pack-catalog.ts";
import type { FindingSeverities } from "../git/object/finding.ts";
import type { Gauge } from "../git/store.ts";
import type { PackLimits } from "../git/pack/limits.ts";
import { PackBuilder } from "../git/pack/pack-builder.ts";
import { streamPack } from "../git/pack/stream-pack.ts";
import { formatPackedRefs } from "../git/packed-refs.ts";
import type { Budget } from "../git/budget.ts";
import type { Patience } from "../lib/foreground.ts";
import { settled } from "../lib/settled.ts";
import { StepBudget } from "../lib/step-budget.ts";
import { isolateWrites } from "../lib/writes.ts";
import type { PackFileKind, Scratch, StoredObject } from "../git/store.ts";
import { ArtifactFiles } from "./artifact-files.ts";
import { AvatarFiles } from "./avatar-files.ts";
import { Bucket, type FileCache, type SendWithin, type Upload } from "./bucket.ts";
import { codec } from "./codec.ts";
import { DeliveryArchives } from "./delivery-archives.ts";
import type { DigestName } from "./digest-name.ts";
import { HashedFiles } from "./hashed-files.ts";
import { ResultCache } from "./result-cache.ts";
import {
  attachmentKey,
  draftName,
  packageFileKey,
  packKey,
  rescueKey,
  scratchKey,
} from "./keys.ts";
import { LargeFiles } from "./large-files.ts";
import { LogFiles } from "./log-files.ts";
import { OpenRepository } from "./open-repository.ts";
import {
  deletePack,
  deleteUpload,
  keepPack,
  openPack,
  openPackByBlock,
  openJoinPart,
  openScratch,
  storeTables,
} from "./pack-files.ts";
import { PackReceiver } from "./pack-receiver.ts";
import type { RepositoryObject } from "./repository-object.ts";
import type {
  CollectedPack,
  CollectionView,
  DeletedBranch,
  DoneWork,
  FormerOids,
  HeldLease,
  LeaseOutcome,
  MadeUpdate,
  OutboxEntry,
  PackRecord,
  PullRefs,
  Push,
  PushOutcome,
  ReplaceOutcome,
  RepositoryLocation,
  RequiredRef,
  Seed,
  Snapshot,
  SnapshotRecord,
  StoredRef,
  Work,
} from "./repository-records.ts";
import { UPLOAD_LIFE_MS } from "./retention.ts";
import { StorageUsage } from "./storage-usage.ts";
import type { CollectionJob, StorageJob } from "./storage-job.ts";

/**
 * Steps that a request may take to read objects, beside the budgets of derived results
 * (`RESULT_STEPS_MAX`): about 0.8 s of processor time.
 */
const REQUEST_STEPS_MAX = 100_000_000;

interface GitStorageOptions {
  signal?: AbortSignal;
  beforeCall?: () => Promise<void>;
  defer?: (work: Promise<unknown>) => void;
}

/** The storage of git data and large files, as one request uses it. */
export class GitStorage {
  readonly usage = new StorageUsage();
  /** Bounds what is read for a caller. Without one there is no bound. */
  readonly budget: Budget;
  /**
   * A budget whose steps count in the usage.
   *
   * @param patience Of work that nobody waits for, which lets requests come first. Without it, the
   *   work ends when the caller leaves.
   */
  readonly openBudget: (stepsMax: number, patience?: Patience) => StepBudget;
  /** The large files of all repositories. */
  readonly largeFiles: LargeFiles;
  readonly avatarFiles: AvatarFiles;
  readonly attachmentFiles: HashedFiles<"sha256">;
  /** The bytes of the blobs of packages. */
  readonly packageFiles: HashedFiles<DigestName>;
  /** The same bytes, for blobs of images that are named by SHA-256: they are large. */
  readonly imageFiles: HashedFiles<"sha256">;
  /** The logs of tasks. */
  readonly logFiles: LogFiles;
  readonly artifactFiles: ArtifactFiles;
  readonly deliveryArchives: DeliveryArchives;
  private readonly bucket: Bucket;
  private readonly cache: FileCache;
  private readonly objects: DurableObjectNamespace<RepositoryObject>;
  private readonly jobs: Queue<StorageJob>;
  private readonly defer: ((work: Promise<unknown>) => void) | undefined;

  /**
   * @param options.signal Aborted when the caller leaves; undefined for work that no caller waits
   *   for.
   * @param options.beforeCall Awaited before each call to the bucket, if given.
   * @param options.defer Continues work after the response; undefined where there is none.
   */
  constructor(
    bucket: R2Bucket,
    objects: DurableObjectNamespace<RepositoryObject>,
    jobs: Queue<StorageJob>,
    cache: FileCache,
    { signal, beforeCall, defer }: GitStorageOptions = {},
  ) {
    const onSteps = (steps: number): void => void (this.usage.steps += steps);
    this.openBudget = (stepsMax, patience) =>
      new StepBudget(stepsMax, {
        ...(patience ? { untilIdle: patience.untilIdle } : { signal }),
        onSteps,
      });
    this.budget = this.openBudget(signal ? REQUEST_STEPS_MAX : Infinity);
    this.bucket = new Bucket(bucket, this.usage, cache, beforeCall);
    this.largeFiles = new LargeFiles(this.bucket);
    this.avatarFiles = new AvatarFiles(this.bucket);
    this.attachmentFiles = new HashedFiles(this.bucket, attachmentKey, ["sha256"]);
    const digests = ["md5", "sha1", "sha256", "sha512"] as const;
    this.packageFiles = new HashedFiles(this.bucket, packageFileKey, digests);
    this.imageFiles = new HashedFiles(this.bucket, packageFileKey, ["sha256"]);
    this.logFiles = new LogFiles(this.bucket);
    this.artifactFiles = new ArtifactFiles(this.bucket);
    this.deliveryArchives = new DeliveryArchives(this.bucket);
    this.cache = cache;
    this.objects = objects;
    this.jobs = jobs;
    this.defer = defer;
  }

  /** The repository at a location. Reads nothing; the repository need not exist. */
  repository(location: RepositoryLocation): StoredRepository {
    const object = this.objects.getByName(location.objectName);
    const results = this.results(location.objectName);
    return new StoredRepository(location, this.bucket, object, this.usage, results);
  }

  /** Cached results that follow from the rows of an owner's packages, not from git data. */
  results(name: string): ResultCache {
    return new ResultCache(this.cache, name, {
      openBudget: this.openBudget,
      defer: this.defer,
      onIncomplete: (kind) => void this.usage.incomplete.add(kind),
    });
  }

  /**
   * Queues maintenance of a repository. If the message is lost, the object's alarm queues it again.
   */
  async maintainLater({ objectName, networkName }: RepositoryLocation): Promise<void> {
    await this.jobs.send({ kind: "maintain", objectName, networkName });
  }

  /**
   * Queues a search for objects of a repository that nothing reaches.
   *
   * @param asked How, if somebody asks for it or a job continues it.
   */
  async collectLater(
    { objectName, networkName }: RepositoryLocation,
    asked: Pick<CollectionJob, "askedGraceMs" | "retries"> = {},
    delaySeconds = 0,
  ): Promise<void> {
    await this.jobs.send({ kind: "collect", objectName, networkName, ...asked }, { delaySeconds });
  }
}

/** A file that `startKeptFile` has written. */
export interface KeptFile {
  readonly uploadId: string;
  readonly sizeBytes: number;
  /** In milliseconds. */
  readonly at: number;
}

/** For how long a kept file is read, in milliseconds: whoever begins then can end. */
const KEPT_LIFE_MS = UPLOAD_LIFE_MS / 2;

/** A recorded upload, and the repository's snapshot when the upload began. */
export interface BegunUpload {
  readonly uploadId: string;
  readonly snapshot: Snapshot;
}

/** The git data of one repository. */
export class StoredRepository {
  /** Only the two fields of a location, since it is sent to the object. */
  private readonly location: RepositoryLocation;
  private readonly networkName: string;
  private readonly bucket: Bucket;
  private readonly stub: DurableObjectStub<RepositoryObject>;
  private readonly usage: StorageUsage;
  private readonly results: ResultCache;

  constructor(
    { objectName, networkName }: RepositoryLocation,
    bucket: Bucket,
    stub: DurableObjectStub<RepositoryObject>,
    usage: StorageUsage,
    results: ResultCache,
  ) {
    this.results = results;
    this.location = { objectName, networkName };
    this.networkName = networkName;
    this.bucket = bucket;
    this.stub = stub;
    this.usage = usage;
  }

  /** The Durable Object for one call, which is counted. */
  private get object(): DurableObjectStub<RepositoryObject> {
    this.usage.objectCalls++;
    return this.stub;
  }

  /** Makes a call that changes what readers see, and so ends what the isolate keeps of that. */
  private change<T>(call: (object: DurableObjectStub<RepositoryObject>) => Promise<T>): Promise<T> {
    return isolateWrites.follow("all", () => call(this.object));
  }

  /** @param pulls Which refs of pull requests it has. */
  async snapshot(pulls: PullRefs = "all"): Promise<Snapshot> {
    return this.toSnapshot(await this.object.snapshot(pulls));
  }

  private toSnapshot(record: SnapshotRecord): Snapshot {
    let loaded: Promise<readonly StoredRef[]> | undefined;
    const loadPullRefs = () =>
      (loaded ??= record.lacksPullRefs ? this.object.listPullRefs() : Promise.resolve([]));
    const findPullRefs = async (oids: readonly string[]) =>
      record.lacksPullRefs ? this.object.listPullRefs(oids) : [];
    return { ...record, loadPullRefs, findPullRefs };
  }

  /**
   * Opens the packs of a snapshot. Cost: two reads for each pack that the isolate has not cached.
   *
   * @param budget Bounds the reads of objects; by default they are not bounded.
   */
  async open({ packs }: Pick<Snapshot, "packs">, budget?: Budget): Promise<OpenRepository> {
    const opened = packs.map((pack) => openPack(this.bucket, this.networkName, pack));
    return this.toRepository(packs, await Promise.all(opened), budget);
  }

  /**
   * Opens the packs of a snapshot, with the tables of large ones by block: for work that takes few
   * objects, and looks at them by `resident`.
   */
  async openByBlock({ packs }: Pick<Snapshot, "packs">, budget?: Budget): Promise<OpenRepository> {
    const pool = new BlockPool(this.openGauge());
    const opened = packs.map((pack) => openPackByBlock(this.bucket, this.networkName, pack, pool));
    const repository = this.toRepository(packs, await Promise.all(opened), budget);
    // The graph is a getter, and may need a block.
    if (repository.catalog.isByBlock) await resident(() => repository.graph);
    return repository;
  }

  private toRepository(
    packs: readonly PackRecord[],
    opened: readonly OpenPack[],
    budget: Budget | undefined,
  ): OpenRepository {
    const key = packs.map(({ name }) => name).join(" ");
    const gauge = (): Gauge => this.openGauge();
    return new OpenRepository(opened, this.results, gauge, key, budget);
  }

  /** Another repository of the network that lists also some packs of this one, as its newest. */
  async openMore(other: OpenRepository, packs: readonly PackRecord[]): Promise<OpenRepository> {
    const opened = packs.map((pack) => openPack(this.bucket, this.networkName, pack));
    return (await Promise.all(opened)).reduce((joined, pack) => joined.with(pack), other);
  }

  /** A gauge for bytes of this repository that a caller keeps in memory. */
  openGauge(): Gauge {
    return this.usage.gauge();
  }

  /**
   * Records an upload. Call this before any pack is written: files of unrecorded uploads are never
   * deleted.
   *
   * @param pulls Which refs of pull requests the snapshot has.
   */
  async beginUpload(at: number, pulls: PullRefs = "none"): Promise<BegunUpload> {
    const uploadId = crypto.randomUUID();
    const record = await this.object.beginUpload(this.location, uploadId, at, pulls);
    return { uploadId, snapshot: this.toSnapshot(record) };
  }

  /**
   * Scratch files for a read that exceeds memory. They are recorded as an upload: delete them by
   * `dropUpload`; otherwise maintenance deletes them when the upload expires.
   */
  async openScratch(at: number): Promise<{ uploadId: string; scratch: Scratch }> {
    const { uploadId } = await this.beginUpload(at);
    return { uploadId, scratch: openScratch(this.bucket, this.networkName, uploadId) };
  }

  /**
   * Writes a file that is kept for readers for less than a day: it is recorded as an upload, whose
   * files maintenance deletes when it expires.
   */
  async startKeptFile(at: number) {
    const { uploadId } = await this.beginUpload(at);
    const upload = this.bucket.startUpload(scratchKey(this.networkName, uploadId, 0));
    return {
      write: (piece: Uint8Array): Promise<void> => upload.write(piece),
      finish: async (): Promise<KeptFile> => {
        await upload.finish();
        return { uploadId, sizeBytes: upload.sizeBytes, at };
      },
      abandon: async (): Promise<void> => {
        await upload.abort();
        await this.dropUpload(uploadId);
      },
    };
  }

  /** Opens a kept file; undefined if it is gone, or about to. */
  async openKeptFile(
    { uploadId, sizeBytes, at }: KeptFile,
    now: number,
  ): Promise<SendWithin | undefined> {
    if (now - at > KEPT_LIFE_MS) return undefined;
    return this.bucket.openWithin(scratchKey(this.networkName, uploadId, 0), sizeBytes);
  }

  /** A builder for the pack of a server-side change, which is then stored through `receivePack`. */
  startPack(): PackBuilder {
    return new PackBuilder(codec);
  }

  /** The pack of a server-side change whose objects need not fit in memory, for `receivePack`. */
  packObjects(count: number, objects: AsyncIterable<StoredObject>): AsyncGenerator<Uint8Array> {
    return streamPack(count, objects, codec);
  }

  /** @param severities What becomes of objects with findings; the defaults if undefined. */
  receivePack(uploadId: string, limits: PackLimits, severities?: FindingSeverities): PackReceiver {
    return new PackReceiver(this.bucket, this.networkName, uploadId, limits, severities);
  }

  /**
   * Deletes all files of an upload and its record.
   *
   * SECURITY: call this only if the pack was never passed to `commitPush` or `replacePacks`, or the
   * object refused to list it. If such a call failed, the object may list the pack.
   */
  async dropUpload(uploadId: string, receiver?: PackReceiver): Promise<void> {
    await receiver?.abort();
    await deleteUpload(this.bucket, this.networkName, uploadId);
    await this.object.forgetUpload(uploadId);
  }

  /**
   * Acquires the lease on a ref that others are about to update as well, and the snapshot of that
   * moment.
   *
   * @param pulls Which refs of pull requests the snapshot has.
   */
  async acquireLease(ref: string, waitMs: number, pulls: PullRefs): Promise<LeaseOutcome> {
    const outcome = await this.object.acquireLease(ref, waitMs, pulls);
    if (outcome.kind === "busy") return outcome;
    return { ...outcome, snapshot: this.toSnapshot(outcome.snapshot) };
  }

  /** Releases a lease whose holder does not update the ref after all. */
  async releaseLease(lease: HeldLease): Promise<void> {
    await this.object.releaseLease(lease);
  }

  /**
   * Whether a push has merged the pull request of a number, also if that is not recorded in the
   * database yet.
   */
  hasMerged(number: number): Promise<boolean> {
    return this.object.hasMerged(number);
  }

  commitPush(push: Push): Promise<PushOutcome> {
    return this.change((object) => object.commitPush(this.location, push));
  }

  /**
   * Merges adjacent packs of the list into one.
   *
   * Pushes and clones continue meanwhile: the replaced packs are kept for a day.
   *
   * @returns `stale` if not all packs are listed any more; nothing is changed then.
   * @throws GitError `corrupt` if a stored pack is damaged.
   */
  async mergePacks(packs: readonly PackRecord[], at: number): Promise<ReplaceOutcome> {
    return this.replace(packs, undefined, at, (uploadId, pack) => {
      const oldNames = packs.map(({ name }) => name);
      return this.object.replacePacks(uploadId, oldNames, pack, at);
    });
  }

  /**
   * Joins adjacent packs of the list that are too large to be merged, as `mergePacks` merges
   * others.
   *
   * @returns `unfit` if one of them has no tables that could be joined; `stale` as `mergePacks`.
   *   Nothing is changed then.
   * @throws GitError `corrupt` if a stored pack is damaged, `limit` if they share too many objects.
   */
  async joinPacks(
    packs: readonly PackRecord[],
    at: number,
  ): Promise<ReplaceOutcome | { kind: "unfit" }> {
    const { bucket, networkName } = this;
    const pool = new BlockPool(this.openGauge());
    const parts: JoinPart[] = [];
    for (const pack of packs) {
      const part = await openJoinPart(bucket, networkName, pack, pool);
      if (!part) return { kind: "unfit" };
      parts.push(part);
    }
    const oldNames = packs.map(({ name }) => name);
    const list = (uploadId: string, pack: PackRecord) =>
      this.object.replacePacks(uploadId, oldNames, pack, at);
    return this.writeNew(at, list, async (name, startUpload) => {
      const [pack, idx, tables] = [startUpload("pack"), startUpload("idx"), startUpload("sidecar")];
      const gauge = this.openGauge();
      const joined = await joinPacks(parts, {
        codec,
        gauge,
        budget: new StepBudget(Infinity),
        pack,
        idx,
        tables,
      });
      const { checksum, packBytes, idxBytes, tablesBytes: sidecarBytes, objectCount } = joined;
      return { name, checksum, packBytes, idxBytes, sidecarBytes, objectCount };
    });
  }

  /**
   * Rewrites a pack without objects that nothing reaches, and replaces it. It is kept for a day for
   * those who read it.
   *
   * @param isKept Whether the object at a position of the pack's index stays; at least one does.
   * @param collected How the pack is replaced; the new one and its upload are added.
   * @returns The new pack with the outcome. With `stale`, nothing is changed.
   * @throws GitError `corrupt` if the stored pack is damaged, `limit` if it has objects too large
   *   to be stored anew.
   */
  async collectPack(
    old: PackRecord,
    isKept: (position: number) => boolean,
    collected: Pick<CollectedPack, "isShared" | "epoch">,
    at: number,
  ): Promise<{ outcome: ReplaceOutcome; pack: PackRecord }> {
    let made: PackRecord | undefined;
    const isKeptInPack = (_: number, position: number): boolean => isKept(position);
    const outcome = await this.replace([old], isKeptInPack, at, (uploadId, pack) => {
      made = pack;
      const replacement = { ...collected, oldName: old.name, pack, uploadId };
      return this.object.replaceCollected(this.location, replacement, at);
    });
    if (!made) throw new Error("no pack was made");
    return { outcome, pack: made };
  }

  /** Replaces a pack by another repository's new one, which is under hold here, or by nothing. */
  replaceCollected(
    collected: Omit<CollectedPack, "uploadId">,
    at: number,
  ): Promise<ReplaceOutcome> {
    return this.object.replaceCollected(this.location, { ...collected, uploadId: null }, at);
  }

  /** Writes a pack of the objects of others, and lists it. */
  private async replace(
    packs: readonly PackRecord[],
    isKept: KeptObject | undefined,
    at: number,
    list: (uploadId: string, pack: PackRecord) => Promise<ReplaceOutcome>,
  ): Promise<ReplaceOutcome> {
    return this.writeNew(at, list, async (name, startUpload) => {
      const opened = packs.map((pack) => openPack(this.bucket, this.networkName, pack));
      const upload = startUpload("pack");
      const merged = await mergePacks(await Promise.all(opened), {
        codec,
        write: (piece) => upload.write(piece),
        gauge: this.openGauge(),
        budget: new StepBudget(Infinity),
        isKept,
      });
      const packBytes = upload.sizeBytes;
      const [sidecarBytes] = await Promise.all([
        storeTables(this.bucket, this.networkName, name, { ...merged, packBytes }),
        upload.finish(),
      ]);
      const { checksum, idxBytes, objectCount } = merged;
      const lengths = { packBytes, idxBytes: idxBytes.length, sidecarBytes };
      const record: PackRecord = { name, checksum, ...lengths, objectCount };
      keepPack(this.bucket, this.networkName, record, merged, upload.bufferedBytes());
      return record;
    });
  }

  /** Writes a pack, and lists it in the place of others. */
  private async writeNew(
    at: number,
    list: (uploadId: string, pack: PackRecord) => Promise<ReplaceOutcome>,
    write: (name: string, startUpload: (kind: PackFileKind) => Upload) => Promise<PackRecord>,
  ): Promise<ReplaceOutcome> {
    const { uploadId } = await this.beginUpload(at);
    const name = draftName(uploadId, 0);
    const uploads: Upload[] = [];
    let outcome: ReplaceOutcome;
    try {
      const pack = await write(name, (kind) => {
        const upload = this.bucket.startUpload(packKey(this.networkName, name, kind));
        uploads.push(upload);
        return upload;
      });
      outcome = await list(uploadId, pack);
    } catch (error) {
      // The files stay until the upload expires, since the object may list the pack.
      for (const upload of uploads) await upload.abort();
      throw error;
    }
    if (outcome.kind === "stale") await this.dropUpload(uploadId);
    return outcome;
  }

  /**
   * A view and a lease for a search; undefined while another one runs, or if the repository is
   * deleted.
   */
  beginCollection(now: number, since: number): Promise<CollectionView | undefined> {
    return this.object.beginCollection(now, since);
  }

  /**
   * A view for the search of another repository of the network; undefined if this one lists none of
   * its packs.
   */
  joinCollection(packNames: string[], since: number): Promise<CollectionView | undefined> {
    return this.object.joinCollection(packNames, since);
  }

  /**
   * All values that refs had until after `since`, by page. Cost: a call for each page but the
   * first.
   */
  async *listFormerOids(first: FormerOids, since: number): AsyncGenerator<string[]> {
    for (let page = first; ; page = await this.object.listFormerOids(since, page.nextId)) {
      yield page.oids;
      if (page.nextId === null) return;
    }
  }

  /** The branches that were deleted after `since` and do not exist, the last one first. */
  listDeletedBranches(since: number): Promise<DeletedBranch[]> {
    return this.object.listDeletedBranches(since);
  }

  /** Ends a search. @param searchedAt When it began; undefined if it is to be continued. */
  async endCollection(searchedAt: number | undefined, horizon: number): Promise<void> {
    await this.object.endCollection(searchedAt, horizon);
  }

  /** Notes that objects may be unreachable that other repositories of the network reached. */
  async noteCollection(at: number): Promise<void> {
    await this.object.noteCollection(this.location, at);
  }

  /** Marks some packs as shared. @returns Those that the repository lists. */
  shareListed(packNames: string[]): Promise<string[]> {
    return this.object.shareListed(packNames);
  }

  async setHead(ref: string): Promise<void> {
    await this.change((object) => object.setHead(ref));
  }

  /** Marks all packs as shared with other repositories. @returns The packs. */
  share(): Promise<PackRecord[]> {
    return this.object.share();
  }

  /**
   * Makes another repository, which must be new, a fork of this one, as it is now. Cost: one call.
   */
  async fork({ objectName, networkName }: RepositoryLocation, at: number): Promise<void> {
    await this.change((object) => object.fork(this.location, { objectName, networkName }, at));
  }

  /**
   * Makes another repository, which must be new, begin with a commit that has a tree of this one:
   * it shares the packs, and no other ref or history. Cost: one call.
   *
   * @param source The ref whose tree it is.
   * @returns False if that ref has another value by now; nothing is changed then.
   */
  generate(
    { objectName, networkName }: RepositoryLocation,
    at: number,
    seed: Seed,
    { name, oid }: RequiredRef,
  ): Promise<boolean> {
    const generated = { seed, source: { name, oid } };
    return this.change((object) =>
      object.fork(this.location, { objectName, networkName }, at, generated),
    );
  }

  /** Undoes `fork`. Call only if no row of the fork was written. */
  async cancelFork({ objectName, networkName }: RepositoryLocation): Promise<void> {
    await this.object.cancelFork({ objectName, networkName });
  }

  /**
   * Makes a fork take over what it is to have of the repository that was forked, as its first use
   * does.
   */
  async wake(): Promise<void> {
    await this.change((object) => object.wake());
  }

  /** Holds packs of another repository of the network, for a push that lists them. */
  async holdPacks(packs: readonly PackRecord[], at: number): Promise<void> {
    const names = packs.map(({ name }) => name);
    await this.object.holdPacks(this.location, names, at);
  }

  /** The distinct oids of the branches before a push. */
  listEarlierHeads(entry: OutboxEntry): Promise<string[]> {
    return this.object.listEarlierHeads(entry);
  }

  /** The ref updates of a push, in its order. Cost: a call to the object for every 5,000. */
  async *listUpdates(entry: OutboxEntry): AsyncGenerator<MadeUpdate[]> {
    for (let from = 0; from < entry.updateCount;) {
      const updates = await this.object.listUpdates(entry, from);
      // No updates are left only if the repository was deleted meanwhile.
      if (updates.length === 0) return;
      yield updates;
      from += updates.length;
    }
  }

  async settle(pushId: string): Promise<void> {
    await this.object.settle(pushId);
  }

  listWork(now: number): Promise<Work> {
    return this.object.listWork(now);
  }

  /** Records finished maintenance. @returns True if no maintenance is left. */
  finishWork(done: DoneWork): Promise<boolean> {
    return this.object.finishWork(done);
  }

  /** The subset of `packNames` that this repository lists or its readers may still be reading. */
  findHeld(packNames: string[], now: number): Promise<string[]> {
    return this.object.findHeld(packNames, now);
  }

  /** Deletes packs that no repository lists. */
  async deletePacks(packNames: readonly string[]): Promise<void> {
    for (const name of packNames) await deletePack(this.bucket, this.networkName, name);
  }

  /** Deletes the files of uploads whose packs no repository lists. */
  async deleteUploads(uploadIds: readonly string[]): Promise<void> {
    for (const id of uploadIds) await deleteUpload(this.bucket, this.networkName, id);
  }

  /**
   * Writes HEAD and the refs to the bucket in git's formats, as of the last maintenance. The
   * service never reads them; an operator can restore from them if everything else is lost.
   */
  async saveRefs({ head, refs }: SnapshotRecord): Promise<void> {
    const packedRefs = formatPackedRefs(refs as (StoredRef & { name: ByteText })[]);
    const headText = `ref: ${head ?? "refs/heads/main"}\n` as ByteText;
    await settled([
      this.bucket.put(rescueKey(this.location, "packed-refs"), packedRefs),
      this.bucket.put(rescueKey(this.location, "HEAD"), byteTextBytes(headText)),
    ]);
  }

  /** Deletes the refs from the bucket. */
  async forgetRefs(): Promise<void> {
    await this.bucket.delete([
      rescueKey(this.location, "packed-refs"),
      rescueKey(this.location, "HEAD"),
    ]);
  }

  /** Empties a deleted repository and retires its packs. */
  async discard(at: number): Promise<void> {
    await this.change((object) => object.discard(at));
  }

  /** Deletes the object's state. Call only when no file of the repository is left. */
  async destroy(): Promise<void> {
    await this.change((object) => object.destroy());
  }
}
