import type { PackLimits } from "../git/pack/limits.ts";
import { PackBuilder } from "../git/pack/pack-builder.ts";
import { Bucket } from "./bucket.ts";
import { codec } from "./codec.ts";
import { networkPrefix, packKey } from "./keys.ts";
import { OpenRepository } from "./open-repository.ts";
import { deletePack, openPack } from "./pack-files.ts";
import { PackReceiver } from "./pack-receiver.ts";
import type {
  OutboxEntry,
  PackRecord,
  Push,
  PushOutcome,
  ReplaceOutcome,
  RepositoryObject,
  Snapshot,
} from "./repository-object.ts";

/** Calls to storage that a request made. */
export interface StorageUsage {
  r2Calls: number;
  objectCalls: number;
}

/** The storage of git data as one request uses it. */
export class GitStorage {
  readonly usage: StorageUsage = { r2Calls: 0, objectCalls: 0 };
  private readonly bucket: Bucket;
  private readonly objects: DurableObjectNamespace<RepositoryObject>;

  constructor(bucket: R2Bucket, objects: DurableObjectNamespace<RepositoryObject>) {
    this.bucket = new Bucket(bucket, this.usage);
    this.objects = objects;
  }

  /** The repository of an id. Nothing is read, and nothing has to be there. */
  repository(repoId: number): StoredRepository {
    const object = this.objects.getByName(String(repoId));
    return new StoredRepository(repoId, this.bucket, object, this.usage);
  }
}

/** The git data of one repository. */
export class StoredRepository {
  /** The fork network whose packs it shares; a repository that is no fork is its own. */
  private readonly networkId: number;
  private readonly bucket: Bucket;
  private readonly object: DurableObjectStub<RepositoryObject>;
  private readonly usage: StorageUsage;

  constructor(
    repoId: number,
    bucket: Bucket,
    object: DurableObjectStub<RepositoryObject>,
    usage: StorageUsage,
  ) {
    this.networkId = repoId;
    this.bucket = bucket;
    this.object = object;
    this.usage = usage;
  }

  snapshot(): Promise<Snapshot> {
    this.usage.objectCalls++;
    return this.object.snapshot();
  }

  /** Opens the packs of a snapshot. Cost: two reads for each that the isolate does not know. */
  async open({ packs }: Pick<Snapshot, "packs">): Promise<OpenRepository> {
    const opened = packs.map((pack) => openPack(this.bucket, this.networkId, pack));
    return new OpenRepository(await Promise.all(opened));
  }

  /** The bytes of a pack as they are stored, from start to end. */
  streamPack(pack: PackRecord, pieceBytes: number): AsyncGenerator<Uint8Array> {
    return this.bucket.stream(packKey(this.networkId, pack.name, "pack"), pieceBytes);
  }

  /** A pack to fill with what a change consists of; `receivePack` takes it, as it takes any other. */
  startPack(): PackBuilder {
    return new PackBuilder(codec);
  }

  receivePack(limits: PackLimits): PackReceiver {
    return new PackReceiver(this.bucket, this.networkId, limits);
  }

  /** Removes a pack that no repository lists. */
  deletePack(packName: string): Promise<void> {
    return deletePack(this.bucket, this.networkId, packName);
  }

  commitPush(push: Push): Promise<PushOutcome> {
    this.usage.objectCalls++;
    return this.object.commitPush(push);
  }

  replacePacks(oldNames: string[], packs: PackRecord[]): Promise<ReplaceOutcome> {
    this.usage.objectCalls++;
    return this.object.replacePacks(oldNames, packs);
  }

  async setHead(ref: string): Promise<void> {
    this.usage.objectCalls++;
    await this.object.setHead(ref);
  }

  listOutbox(): Promise<OutboxEntry[]> {
    this.usage.objectCalls++;
    return this.object.listOutbox();
  }

  async settle(pushId: string): Promise<void> {
    this.usage.objectCalls++;
    await this.object.settle(pushId);
  }

  /** Forgets refs, reflog and packs. For a repository that is deleted. */
  async destroy(): Promise<void> {
    this.usage.objectCalls++;
    await this.object.destroy();
    await this.bucket.deleteAll(networkPrefix(this.networkId));
  }
}
