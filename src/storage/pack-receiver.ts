import { type Budget, giveWay, runInTurns } from "../git/budget.ts";
import { inflatedMax } from "../git/pack/inflated-total.ts";
import { settled } from "../lib/settled.ts";
import { DEFAULT_SEVERITIES, type FindingSeverities } from "../git/object/finding.ts";
import { StepBudget } from "../lib/step-budget.ts";
import type { ObjectKind } from "../git/object/kind.ts";
import { EMPTY_TREE_OID, type Oid } from "../git/oid.ts";
import { resident } from "../git/catalog/block-pool.ts";
import { resolveDeltas } from "../git/pack/delta-resolver.ts";
import { formatIdx, IdxFile } from "../git/pack/idx-file.ts";
import { LIVE_BYTES_MAX, type PackLimits } from "../git/pack/limits.ts";
import { type ObjectListener, PackScanner, type ScannedPack } from "../git/pack/pack-scanner.ts";
import { ThinPackCompletion } from "../git/pack/thin-pack.ts";
import { makeSidecar } from "../git/sidecar/make-sidecar.ts";
import { type FindingSummary, PackInspector } from "../git/sidecar/pack-inspector.ts";
import { formatSidecar, parseSidecar } from "../git/sidecar/sidecar-file.ts";
import type { ByteSource, Gauge, ObjectReader, OutsideObjects } from "../git/store.ts";
import type { ReachableObjects } from "../git/walk/reachable-objects.ts";
import type { Bucket, Upload } from "./bucket.ts";
import { codec } from "./codec.ts";
import { openPackKernel } from "./kernel.ts";
import { draftName, packKey } from "./keys.ts";
import type { OpenRepository } from "./open-repository.ts";
import { deletePack, keepPack, openScratch, storeTables } from "./pack-files.ts";
import type { PackRecord, SnapshotRefs } from "./repository-records.ts";

/**
 * Steps that may be taken to read the repository for each byte that the pack's objects may have.
 */
const READ_STEPS_PER_BYTE = 0.5;

/**
 * Steps to walk over a commit in search of an object, and to compare a number of the lists of
 * introduced objects.
 */
const FIND_STEPS = { commit: 10, number: 0.1 } as const;

/** A pack that is stored and verified, and that no repository lists yet. */
export interface ReceivedPack {
  readonly record: PackRecord;
  /** The repository including the pack. */
  readonly repository: OpenRepository;
  /** The objects of the repository without the pack, with the refs on which the pack relies. */
  readonly reachable: ReachableObjects;
}

/** Callbacks for the progress of a pack's verification. */
export interface ReceiveProgress {
  readonly onDelta: (done: number, total: number) => void;
  /** @param localCount Delta bases that the thin pack lacked and the repository provided. */
  readonly onResolved: (localCount: number) => void;
  /** @param count Objects whose links all lead to existing objects. */
  readonly onConnected: (count: number) => void;
}

/**
 * Receives an untrusted pack: stores it while it arrives, and accepts it only if it is complete and
 * valid.
 *
 * Memory: about 22 MB for objects of usual size, plus 100 to 120 bytes per object: 48 for the
 * pack's table, 30 for ids, 12 for deltas, and the rest for links of commits and trees. So 64 MB
 * are enough for a pack of 400,000 objects.
 *
 * SECURITY: nothing references the pack before the repository lists it, so a failure up to that
 * point leaves the repository unchanged.
 */
export class PackReceiver {
  private readonly bucket: Bucket;
  private readonly networkName: string;
  private readonly limits: PackLimits;
  private readonly scanner: PackScanner;
  private readonly inspector: PackInspector;
  private readonly uploadId: string;
  private readonly gaugeTables: Gauge;
  /** Lets other requests have a turn, and counts what is read of the repository. */
  private readonly budget = new StepBudget(Infinity);
  private drafts = 0;
  private stored: Draft;

  /** @param uploadId An upload begun by `beginUpload` of the repository. */
  constructor(
    bucket: Bucket,
    networkName: string,
    uploadId: string,
    limits: PackLimits,
    severities: FindingSeverities = DEFAULT_SEVERITIES,
  ) {
    this.bucket = bucket;
    this.networkName = networkName;
    this.uploadId = uploadId;
    this.limits = limits;
    this.stored = this.draft();
    // The callback is first called by `push`, when the inspector exists.
    const onWhole: ObjectListener = (entry, kind, content) =>
      this.inspector.onWhole(entry, kind, content);
    this.scanner = new PackScanner(codec, limits, onWhole, openPackKernel());
    this.inspector = new PackInspector(this.scanner.table, severities);
    this.gaugeTables = bucket.openGauge();
  }

  /** The findings so far, one for each id. `finish` throws if one of them is an error. */
  get findings(): readonly FindingSummary[] {
    return [...this.inspector.findings.values()];
  }

  /**
   * Takes the next bytes of the pack. They are copied.
   *
   * @throws GitError if the bytes are not a pack, or the pack exceeds a limit.
   */
  async write(chunk: Uint8Array): Promise<void> {
    await runInTurns(this.scanner.push(chunk), this.budget);
    this.measureTables(chunk.length);
    await this.stored.upload.write(chunk);
  }

  /**
   * Ends the input, verifies the pack, and stores it with its index and sidecar.
   *
   * @param repository The repository without the pack.
   * @param refs       Its refs. They must reach the delta bases and all objects that the pack
   *   references.
   * @returns Undefined for a pack without objects; nothing is stored then.
   * @throws GitError if the pack is damaged, exceeds a limit, or references other objects, stored
   *   or not.
   */
  async finish(
    repository: OpenRepository,
    refs: SnapshotRefs,
    progress?: ReceiveProgress,
  ): Promise<ReceivedPack | undefined> {
    const scanned = this.scanner.finish();
    if (scanned.table.count === 0) {
      await this.abort();
      return undefined;
    }
    const { inspector } = this;
    const { table } = scanned;
    const reachable = repository.reachableFrom(refs);
    const outside = this.openOutside(repository, reachable, scanned);
    const checksum = await this.resolve(scanned, outside, progress);
    inspector.refuseErrors();

    const { graph } = repository;
    const gauge = this.bucket.openGauge();
    const known = { generation: (oid: Oid) => graph.generations[graph.find(oid)] };
    const { budget } = this;
    const made = await makeSidecar(table, checksum, inspector, outside, known, gauge, budget);
    const sidecarBytes = await runInTurns(formatSidecar(made, codec), budget);
    progress?.onConnected(table.count);
    // Twice: the bytes, and the columns they were formatted from, which are released next.
    gauge(2 * sidecarBytes.length);
    inspector.releaseLinks();
    this.measureTables(0);
    const idxBytes = await runInTurns(formatIdx(table, checksum, codec), budget);
    gauge(idxBytes.length + sidecarBytes.length);
    const sidecar = parseSidecar(sidecarBytes, codec);
    const source = await this.source();
    const extended = repository.with({ idx: new IdxFile(idxBytes), sidecar, source });
    await inspector.checkSpecialBlobs(readerOf(extended, this.openReads(scanned)), budget);
    inspector.refuseErrors();

    const { name, upload } = this.stored;
    const tables = { idxBytes, sidecarBytes, packBytes: upload.sizeBytes };
    const storing = storeTables(this.bucket, this.networkName, name, tables);
    await settled([storing, upload.finish()]);
    const sidecarFileBytes = await storing;
    const record: PackRecord = {
      name,
      checksum,
      packBytes: upload.sizeBytes,
      idxBytes: idxBytes.length,
      sidecarBytes: sidecarFileBytes,
      objectCount: table.count,
    };
    keepPack(this.bucket, this.networkName, record, tables, upload.bufferedBytes());
    return { record, repository: extended, reachable };
  }

  private measureTables(chunkBytes: number): void {
    this.gaugeTables(this.scanner.heldBytes + this.inspector.heldBytes + chunkBytes);
  }

  /** Stops writing and discards the parts of an unfinished file. */
  async abort(): Promise<void> {
    await this.stored.upload.abort();
  }

  /**
   * The second pass: resolves deltas and replaces a thin pack by a completed one.
   *
   * @returns The trailing hash of the stored pack.
   */
  private async resolve(
    { table, checksum, inflated }: ScannedPack,
    outside: OutsideObjects,
    progress: ReceiveProgress | undefined,
  ): Promise<string> {
    const { bucket, networkName, stored } = this;
    const source = await this.source();
    const scratch = openScratch(bucket, networkName, this.uploadId);
    const gauge = bucket.openGauge();
    try {
      const { externalOids } = await resolveDeltas(table, {
        source,
        codec,
        kernel: openPackKernel(),
        limits: this.limits,
        inflated,
        scratch,
        budget: this.budget,
        budgetBytes: LIVE_BYTES_MAX,
        bases: outside,
        listen: this.inspector.onResolved,
        onDelta: progress?.onDelta,
        gauge: (heldBytes) => {
          gauge(heldBytes);
          this.measureTables(0);
        },
      });
      gauge(0);
      progress?.onResolved(externalOids.length);
      if (externalOids.length === 0) return checksum;
      const { budget } = this;
      const completion = new ThinPackCompletion(
        source,
        table,
        externalOids,
        outside,
        codec,
        budget,
      );
      this.stored = this.draft();
      for await (const piece of completion.bytes()) await this.stored.upload.write(piece);
      if (!stored.upload.bufferedBytes()) await deletePack(bucket, networkName, stored.name);
      return completion.checksum;
    } finally {
      await scratch.clear();
    }
  }

  /**
   * SECURITY: a pack may refer to what a ref of this repository reaches, not to all that its packs
   * contain.
   */
  private openOutside(
    repository: OpenRepository,
    reachable: ReachableObjects,
    scanned: ScannedPack,
  ): OutsideObjects {
    const { readObject, findLarge } = readerOf(repository, this.openReads(scanned));
    let counted = 0;
    const find = async (oid: Oid): Promise<ObjectKind | undefined> => {
      const found = await reachable.find(oid);
      const { commits, numbers } = reachable.work;
      const steps = FIND_STEPS.commit * commits + FIND_STEPS.number * numbers;
      await giveWay(this.budget, steps - counted);
      counted = steps;
      return found;
    };
    return {
      // Git treats the empty tree as present even if it is not stored.
      find: async (oid) => (oid === EMPTY_TREE_OID ? "tree" : find(oid)),
      readObject: async (oid) => (oid === EMPTY_TREE_OID ? EMPTY_TREE : readObject(oid)),
      findLarge,
    };
  }

  /**
   * Bytes of the repository that may be read for the pack: its deltas name bases that are at the
   * end of chains, and each is a few bytes of the pack.
   */
  private openReads({ sizeBytes }: ScannedPack): Budget {
    return new StepBudget(READ_STEPS_PER_BYTE * inflatedMax(this.limits, sizeBytes));
  }

  /** Random access to the pack: in memory if it is small, from the bucket otherwise. */
  private async source(): Promise<ByteSource> {
    const { upload, name } = this.stored;
    const bytes = upload.bufferedBytes();
    if (bytes) {
      return {
        sizeBytes: bytes.length,
        read: (start, end) => Promise.resolve(bytes.subarray(start, end)),
      };
    }
    await upload.finish();
    return this.bucket.source(packKey(this.networkName, name, "pack"), upload.sizeBytes);
  }

  private draft(): Draft {
    const name = draftName(this.uploadId, this.drafts++);
    const upload = this.bucket.startUpload(packKey(this.networkName, name, "pack"));
    return { name, upload };
  }
}

/** A pack being written. */
interface Draft {
  readonly name: string;
  readonly upload: Upload;
}

/** The objects of a repository whose tables may be read by block. */
function readerOf(
  { objects }: OpenRepository,
  budget: Budget,
): Required<Omit<ObjectReader, "budget">> {
  const counted = objects.within(budget);
  return {
    readObject: (oid) => counted.readObject(oid),
    findLarge: (oid) => resident(() => objects.findLarge(oid)),
  };
}

const EMPTY_TREE = { kind: "tree", content: new Uint8Array(0) } as const;
