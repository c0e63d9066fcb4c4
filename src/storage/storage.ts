import { type ByteText, byteTextBytes } from "../git/byte-text.ts";
import { mergePacks } from "../git/catalog/merge-packs.ts";
import type { Gauge } from "../git/store.ts";
import type { PackLimits } from "../git/pack/limits.ts";
import { PackBuilder } from "../git/pack/pack-builder.ts";
import { formatPackedRefs } from "../git/packed-refs.ts";
import { settled } from "../lib/settled.ts";
import type { Scratch } from "../git/store.ts";
import { Bucket, type FileCache } from "./bucket.ts";
import { codec } from "./codec.ts";
import { ResultCache } from "./result-cache.ts";
import { draftName, packKey, rescueKey } from "./keys.ts";
import { LargeFiles } from "./large-files.ts";
import { OpenRepository } from "./open-repository.ts";
import { deletePack, deleteUpload, openPack, openScratch } from "./pack-files.ts";
import { PackReceiver } from "./pack-receiver.ts";
import type { RepositoryObject } from "./repository-object.ts";
import type {
  DoneWork,
  MadeUpdate,
  OutboxEntry,
  PackRecord,
  Push,
  PushOutcome,
  ReplaceOutcome,
  RepositoryLocation,
  Snapshot,
  StoredRef,
  Work,
} from "./repository-records.ts";
import { StorageUsage } from "./storage-usage.ts";
import type { StorageJob } from "./storage-job.ts";

/** The storage of git data as one request uses it. */
export class GitStorage {
  readonly usage = new StorageUsage();
  /** Of all repositories. */
  readonly largeFiles: LargeFiles;
  private readonly bucket: Bucket;
  private readonly cache: FileCache;
  private readonly objects: DurableObjectNamespace<RepositoryObject>;
  private readonly jobs: Queue<StorageJob>;

  constructor(
    bucket: R2Bucket,
    objects: DurableObjectNamespace<RepositoryObject>,
    jobs: Queue<StorageJob>,
    cache: FileCache,
  ) {
    this.bucket = new Bucket(bucket, this.usage, cache);
    this.largeFiles = new LargeFiles(this.bucket);
    this.cache = cache;
    this.objects = objects;
    this.jobs = jobs;
  }

  /** The repository of a place. Nothing is read, and nothing has to be there. */
  repository(location: RepositoryLocation): StoredRepository {
    const object = this.objects.getByName(location.objectName);
    const results = new ResultCache(this.cache, location.objectName);
    return new StoredRepository(location, this.bucket, object, this.usage, results);
  }

  /** Has a repository tended soon. A message that is lost is made up for by the object's alarm. */
  async maintainLater({ objectName, networkName }: RepositoryLocation): Promise<void> {
    await this.jobs.send({ kind: "maintain", objectName, networkName });
  }
}

/** An upload that a repository knows of, and the repository as it was when the upload began. */
export interface BegunUpload {
  readonly uploadId: string;
  readonly snapshot: Snapshot;
}

/** The git data of one repository. */
export class StoredRepository {
  /** These two and no more: it is sent to the object. */
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

  /** The object, for one call. */
  private get object(): DurableObjectStub<RepositoryObject> {
    this.usage.objectCalls++;
    return this.stub;
  }

  snapshot(): Promise<Snapshot> {
    return this.object.snapshot();
  }

  /** Opens the packs of a snapshot. Cost: two reads for each that the isolate does not know. */
  async open({ packs }: Pick<Snapshot, "packs">): Promise<OpenRepository> {
    const opened = packs.map((pack) => openPack(this.bucket, this.networkName, pack));
    const key = packs.map(({ name }) => name).join(" ");
    const gauge = (): Gauge => this.openGauge();
    return new OpenRepository(await Promise.all(opened), this.results, gauge, key);
  }

  /** For what is held in memory of this repository. */
  openGauge(): Gauge {
    return this.usage.gauge();
  }

  /** The bytes of a pack as they are stored, from start to end. */
  streamPack(pack: PackRecord, pieceBytes: number): AsyncGenerator<Uint8Array> {
    return this.bucket.stream(packKey(this.networkName, pack.name, "pack"), pieceBytes);
  }

  /** Must come before any pack is written: what the repository does not know of, nobody removes. */
  async beginUpload(at: number): Promise<BegunUpload> {
    const uploadId = crypto.randomUUID();
    const snapshot = await this.object.beginUpload(this.location, uploadId, at);
    return { uploadId, snapshot };
  }

  /**
   * Room for what a read can't hold in memory. The repository knows of it as of an upload: drop it
   * by `dropUpload`; what is left behind is removed with other uploads that were.
   */
  async openScratch(at: number): Promise<{ uploadId: string; scratch: Scratch }> {
    const { uploadId } = await this.beginUpload(at);
    return { uploadId, scratch: openScratch(this.bucket, this.networkName, uploadId) };
  }

  /** A pack to fill with what a change consists of; `receivePack` takes it, as it takes any other. */
  startPack(): PackBuilder {
    return new PackBuilder(codec);
  }

  receivePack(uploadId: string, limits: PackLimits): PackReceiver {
    return new PackReceiver(this.bucket, this.networkName, uploadId, limits);
  }

  /**
   * Removes all that an upload wrote.
   *
   * SECURITY: only for one whose pack no repository was asked to list, or was refused. Whether a
   * repository that did not answer lists it, nobody knows.
   */
  async dropUpload(uploadId: string, receiver?: PackReceiver): Promise<void> {
    await receiver?.abort();
    await deleteUpload(this.bucket, this.networkName, uploadId);
    await this.object.forgetUpload(uploadId);
  }

  commitPush(push: Push): Promise<PushOutcome> {
    return this.object.commitPush(this.location, push);
  }

  /**
   * Makes one pack of packs that stand next to each other in the list.
   *
   * Pushes and clones go on meanwhile: what they read stays for a day.
   *
   * @returns `stale` if they are not all listed any more; nothing is changed then.
   * @throws GitError `corrupt` if a pack is not what it was when it was stored.
   */
  async mergePacks(packs: readonly PackRecord[], at: number): Promise<ReplaceOutcome> {
    const { uploadId } = await this.beginUpload(at);
    const name = draftName(uploadId, 0);
    const opened = packs.map((pack) => openPack(this.bucket, this.networkName, pack));
    const upload = this.bucket.startUpload(packKey(this.networkName, name, "pack"));
    let outcome: ReplaceOutcome;
    try {
      const merged = await mergePacks(await Promise.all(opened), {
        codec,
        write: (piece) => upload.write(piece),
        gauge: this.openGauge(),
      });
      await Promise.all([
        upload.finish(),
        this.bucket.put(packKey(this.networkName, name, "idx"), merged.idxBytes),
        this.bucket.put(packKey(this.networkName, name, "sidecar"), merged.sidecarBytes),
      ]);
      const record: PackRecord = {
        name,
        checksum: merged.checksum,
        packBytes: upload.sizeBytes,
        idxBytes: merged.idxBytes.length,
        sidecarBytes: merged.sidecarBytes.length,
        objectCount: merged.objectCount,
      };
      const oldNames = packs.map((pack) => pack.name);
      outcome = await this.object.replacePacks(uploadId, oldNames, record, at);
    } catch (error) {
      // What it wrote goes with the upload, once that is given up: the pack may be listed.
      await upload.abort();
      throw error;
    }
    if (outcome.kind === "stale") await this.dropUpload(uploadId);
    return outcome;
  }

  async setHead(ref: string): Promise<void> {
    await this.object.setHead(ref);
  }

  /** What a fork of this repository begins with. */
  share(): Promise<Snapshot> {
    return this.object.share();
  }

  /** Makes this, where nothing was before, a fork. */
  async adopt(snapshot: Snapshot): Promise<void> {
    await this.object.adopt(this.location, snapshot);
  }

  /** The refs that a push moved, in its order. Cost: a call for every 5,000. */
  async *listUpdates(entry: OutboxEntry): AsyncGenerator<MadeUpdate[]> {
    for (let from = 0; from < entry.updateCount;) {
      const updates = await this.object.listUpdates(entry, from);
      // The repository was deleted meanwhile.
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

  /** @returns True if nothing is left to be done. */
  finishWork(done: DoneWork): Promise<boolean> {
    return this.object.finishWork(done);
  }

  /** Those of `packNames` that this repository or its readers need. */
  findHeld(packNames: string[], now: number): Promise<string[]> {
    return this.object.findHeld(packNames, now);
  }

  /** Removes packs that no repository lists. */
  async deletePacks(packNames: readonly string[]): Promise<void> {
    for (const name of packNames) await deletePack(this.bucket, this.networkName, name);
  }

  /** Removes whatever uploads left whose packs no repository lists. */
  async deleteUploads(uploadIds: readonly string[]): Promise<void> {
    for (const id of uploadIds) await deleteUpload(this.bucket, this.networkName, id);
  }

  /**
   * Writes the refs into the bucket, as git keeps them. Nobody reads them there but an operator who
   * has lost everything else; they are as old as the last time that the repository was tended.
   */
  async saveRefs({ head, refs }: Snapshot): Promise<void> {
    const packedRefs = formatPackedRefs(refs as (StoredRef & { name: ByteText })[]);
    const headText = `ref: ${head ?? "refs/heads/main"}\n` as ByteText;
    await settled([
      this.bucket.put(rescueKey(this.location, "packed-refs"), packedRefs),
      this.bucket.put(rescueKey(this.location, "HEAD"), byteTextBytes(headText)),
    ]);
  }

  /** Removes the refs from the bucket. */
  async forgetRefs(): Promise<void> {
    await this.bucket.delete([
      rescueKey(this.location, "packed-refs"),
      rescueKey(this.location, "HEAD"),
    ]);
  }

  /** Ends a repository that is deleted; its packs wait to be removed. */
  async discard(at: number): Promise<void> {
    await this.object.discard(at);
  }

  /** Forgets the object. For a repository of which no file is left. */
  async destroy(): Promise<void> {
    await this.object.destroy();
  }
}
