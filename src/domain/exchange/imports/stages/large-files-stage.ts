import { isSha256 } from "../../../../lib/hex.ts";
import { Failure } from "../../../../lib/failure.ts";
import { streamOf } from "../../../../lib/stream-of.ts";
import { BLOB } from "../../../../git/object/kind.ts";
import type { Oid } from "../../../../git/oid.ts";
import { mapInParallel } from "../../../../forges/in-parallel.ts";
import type { OpenRepository } from "../../../../storage/open-repository.ts";
import type { Snapshot } from "../../../../storage/repository-records.ts";
import {
  type LfsPointer,
  POINTER_BYTES_MAX,
  readLfsPointer,
} from "../../../code/contents/lfs-pointer.ts";
import { largeFilePath } from "../../exports/export-files.ts";
import { findObjects } from "../../../code/lfs/find-objects.ts";
import { storeObject } from "../../../code/lfs/store-object.ts";
import { type LfsAction, lfsUrlOf, requestLfsBatch } from "../../remotes/lfs-batch.ts";
import { RemoteFailure } from "../../../../outgoing/remote-failure.ts";
import type { ImportJob } from "../import-job.ts";
import { openDownload } from "../open-download.ts";

/** The size of the shortest pointer, in bytes. */
const POINTER_BYTES_MIN = 120;
/** Blobs of the size of a pointer that one step reads, and files that one request asks for. */
const BLOBS_AT_ONCE = 1000;
const FILES_AT_ONCE = 50;

/**
 * Attempts after which a file that does not come is left out: it may be on another host, which is
 * gone for good.
 */
const ATTEMPTS_MAX = 3;

/**
 * Imports the large files that the history refers to: in each step those of the next blobs, in the
 * order of the blobs' ids. The position in this order stays valid while packs are repacked.
 *
 * A later run of a mirror searches only new packs. A merged pack is new as a whole, which is rare.
 */
export async function importLargeFiles(job: ImportJob): Promise<void> {
  const { ctx, repo, row } = job;
  const { options } = row;
  if (!options.withLargeFiles || !ctx.config.isLfsOn) {
    await job.commit(job.nextStage());
    return;
  }
  const stored = ctx.git.repository(repo.row);
  const snapshot = await stored.snapshot();
  const repository = await stored.open(snapshot);
  const begun =
    row.cursor === null ? snapshot.packs.map(({ name }) => name) : options.largeFilePacks?.begun;
  const oids = listSmallBlobs(repository, packsToRead(snapshot, job), row.cursor ?? "");
  const pointers = await readPointers(repository, oids);
  const present = await findObjects(ctx, repo.row, [...pointers.keys()]);
  const missing = [...pointers.values()].filter(({ oid }) => !present.has(oid));
  const taking = new Taking(job);
  for (let at = 0; at < missing.length; at += FILES_AT_ONCE) {
    const isAll = await taking.takeAll(missing.slice(at, at + FILES_AT_ONCE));
    // The next message continues with these blobs and skips the files that are stored by then.
    if (!isAll || (job.isTimeUp && at + FILES_AT_ONCE < missing.length)) return;
  }
  if (taking.failure) throw taking.failure;
  const last = oids.at(-1);
  const isDone = oids.length < BLOBS_AT_ONCE || last === undefined;
  const { done = [] } = options.largeFilePacks ?? {};
  // The pack of a file that may be available later is searched again.
  const isWhole = begun !== undefined && !taking.mayComeLater;
  const packs = isDone ? { done: isWhole ? begun : done } : { done, ...(isWhole && { begun }) };
  await job.commit({
    ...(isDone ? job.nextStage() : { cursor: last }),
    progress: job.counted(pointers.size - taking.leftOutCount),
    options: { ...options, largeFilePacks: packs },
  });
}

/** Whether a repository has packs that were not looked through for pointers. */
export const hasUnreadPacks = (
  { packs }: Pick<Snapshot, "packs">,
  { largeFilePacks }: ImportJob["row"]["options"],
): boolean => packs.some(({ name }) => largeFilePacks?.done.includes(name) !== true);

/**
 * The positions of packs to look through. An import that people continue looks through all: they
 * miss something.
 */
function packsToRead({ packs }: Snapshot, { row: { options } }: ImportJob): number[] {
  const done = new Set(options.since === undefined ? [] : options.largeFilePacks?.done);
  return packs.flatMap(({ name }, at) => (done.has(name) ? [] : [at]));
}

/** The ids of the next blobs after `after` that may be pointers, in order. */
function listSmallBlobs(
  { catalog }: OpenRepository,
  packs: readonly number[],
  after: string,
): Oid[] {
  const found: Oid[] = [];
  for (const pack of packs) {
    const idx = catalog.packs[pack]?.idx;
    if (!idx) continue;
    let count = 0;
    for (let position = firstAfter(idx, after); position < idx.count; position++) {
      const location = { pack, position };
      if (catalog.kind(location) !== BLOB) continue;
      const size = catalog.sizeBytes(location);
      if (size < POINTER_BYTES_MIN || size >= POINTER_BYTES_MAX) continue;
      found.push(idx.oid(position));
      if (++count === BLOBS_AT_ONCE) break;
    }
  }
  return [...new Set(found)].toSorted().slice(0, BLOBS_AT_ONCE);
}

/** The first position in an index whose id is greater. */
function firstAfter(idx: { count: number; oid(position: number): Oid }, after: string): number {
  let low = 0;
  let high = idx.count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (idx.oid(middle) <= after) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The pointers among blobs, by the id of the file. */
async function readPointers(
  { objects }: OpenRepository,
  oids: readonly Oid[],
): Promise<Map<string, LfsPointer>> {
  const read = await mapInParallel(oids, async (oid) => {
    const object = await objects.readObject(oid);
    return object && readLfsPointer(object.content);
  });
  return new Map(read.flatMap((pointer) => (pointer ? [[pointer.oid, pointer] as const] : [])));
}

/** The taking of files in one step. */
class Taking {
  leftOutCount = 0;
  /** Whether a file was left out that may come another time. */
  mayComeLater = false;
  /**
   * For which the step is to be repeated: the first of a file, which keeps no other from coming.
   */
  failure: RemoteFailure | undefined;
  readonly #job: ImportJob;

  constructor(job: ImportJob) {
    this.#job = job;
  }

  /**
   * Asks for files, and stores those that the other side has. @returns False if the message's time
   * is up before.
   */
  async takeAll(pointers: readonly LfsPointer[]): Promise<boolean> {
    const { ctx, row, source } = this.#job;
    const pending = new Map<string, LfsPointer>();
    for (const pointer of pointers) {
      if (pointer.sizeBytes <= ctx.config.lfsFileMaxBytes) pending.set(pointer.oid, pointer);
      else this.#leaveOut(pointer, `it has ${pointer.sizeBytes} bytes`);
    }
    if (pending.size === 0) return true;
    if (source.openFile) {
      for (const pointer of pending.values()) {
        const pieces = source.openFile(largeFilePath(pointer.oid));
        if (pieces) await this.#store(pointer, async () => pieces);
        else this.#leaveOut(pointer, "it is not there");
      }
      return true;
    }
    const server = {
      url: lfsUrlOf(row.address, row.options.largeFilesUrl),
      authorizationFor: (url: string) => source.authorizationFor(url),
    };
    const answers = await requestLfsBatch(ctx, server, "download", [...pending.values()]);
    if (typeof answers === "number") {
      this.#job.note(`large files can't be had: they were answered with ${answers}`);
      return true;
    }
    for (const { oid, actions } of answers) {
      const pointer = isSha256(oid) ? pending.get(oid) : undefined;
      if (!pointer) continue;
      pending.delete(oid);
      const download = actions?.download;
      if (download) await this.#take(pointer, download);
      else this.#leaveOut(pointer, "it is not there");
      if (this.#job.isTimeUp && pending.size > 0) return false;
    }
    for (const pointer of pending.values()) this.#leaveOut(pointer, "it is not there");
    return true;
  }

  async #take(pointer: LfsPointer, { href, header }: LfsAction): Promise<void> {
    const { ctx, source } = this.#job;
    const given = header ?? {};
    const hasOwn = Object.keys(given).some((name) => name.toLowerCase() === "authorization");
    const headers = { ...given, ...(!hasOwn && source.authorizationFor(href)) };
    await this.#store(pointer, async () => {
      const { pieces } = await openDownload(ctx, href, headers, pointer.sizeBytes);
      return pieces;
    });
  }

  async #store(
    pointer: LfsPointer,
    open: () => Promise<AsyncGenerator<Uint8Array, void>>,
  ): Promise<void> {
    const { ctx, repo, row } = this.#job;
    let broken: unknown;
    try {
      const body = streamOf(
        noting(await open(), (error) => (broken = error)),
        () => undefined,
      );
      await storeObject(ctx, repo.row, pointer, body);
    } catch (thrown) {
      // The bucket throws a copy of what ended its stream, without class and message.
      const error = broken ?? thrown;
      if (!(error instanceof Failure) && !(error instanceof RemoteFailure)) throw error;
      const mayPass = error instanceof RemoteFailure && error.mayPass;
      // Limits of rates are always waited for.
      if (mayPass && error.kind === "rate_limited") throw error;
      if (mayPass && row.failureCount + 1 < ATTEMPTS_MAX) {
        this.failure ??= error;
        return;
      }
      this.mayComeLater ||= mayPass;
      this.#leaveOut(pointer, error.message);
    }
  }

  #leaveOut({ oid }: LfsPointer, reason: string): void {
    this.leftOutCount++;
    this.#job.note(`the large file ${oid} was left out: ${reason}`);
  }
}

/** Passes pieces on, and reports the error that ends them. */
async function* noting(
  pieces: AsyncGenerator<Uint8Array, void>,
  onError: (error: unknown) => void,
): AsyncGenerator<Uint8Array, void> {
  try {
    yield* pieces;
  } catch (error) {
    onError(error);
    throw error;
  }
}
