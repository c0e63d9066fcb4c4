import { z } from "zod";

import { isSha256 } from "../../../lib/hex.ts";
import { Failure } from "../../../lib/failure.ts";
import { streamOf } from "../../../lib/stream-of.ts";
import { BLOB } from "../../../git/object/kind.ts";
import type { Oid } from "../../../git/oid.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import { type LfsPointer, POINTER_BYTES_MAX, readLfsPointer } from "../../contents/lfs-pointer.ts";
import { largeFilePath } from "../../exports/export-files.ts";
import { findObjects } from "../../lfs/find-objects.ts";
import { storeObject } from "../../lfs/store-object.ts";
import { RemoteFailure } from "../../../outgoing/remote-failure.ts";
import type { ImportJob } from "../import-job.ts";
import { openDownload } from "../open-download.ts";

/** The size of the shortest pointer, in bytes. */
const POINTER_BYTES_MIN = 120;
/** Blobs of the size of a pointer that one step reads, and files that one request asks for. */
const BLOBS_AT_ONCE = 1000;
const FILES_AT_ONCE = 50;

const MEDIA_TYPE = "application/vnd.git-lfs+json";
const LIMITS = { timeoutMs: 30_000, bodyBytesMax: 5_000_000, redirectsMax: 5 };

/** What is needed of an answer. @see git-lfs, docs/api/batch.md. */
const BatchAnswer = z.object({
  objects: z.array(
    z.object({
      oid: z.string(),
      actions: z
        .object({
          download: z
            .object({ href: z.string(), header: z.record(z.string(), z.string()).optional() })
            .optional(),
        })
        .nullish(),
      error: z.object({ message: z.string().optional() }).nullish(),
    }),
  ),
});

/**
 * Takes the large files that the history names: of the next blobs, in the order of their ids, so that the place in this
 * order is where the next step goes on, however packs are repacked meanwhile.
 */
export async function importLargeFiles(job: ImportJob): Promise<void> {
  const { ctx, repo, row } = job;
  if (!row.wishes.withLargeFiles || !ctx.config.isLfsOn) {
    await job.commit([], job.nextStage());
    return;
  }
  const stored = ctx.git.repository(repo.row);
  const repository = await stored.open(await stored.snapshot());
  const oids = listSmallBlobs(repository, row.cursor ?? "", BLOBS_AT_ONCE);
  const pointers = new Map<string, LfsPointer>();
  for (const oid of oids) {
    const object = await repository.objects.readObject(oid);
    const pointer = object && readLfsPointer(object.content);
    if (pointer) pointers.set(pointer.oid, pointer);
  }
  const present = await findObjects(ctx, repo.row, [...pointers.keys()]);
  const missing = [...pointers.values()].filter(({ oid }) => !present.has(oid));
  for (let at = 0; at < missing.length; at += FILES_AT_ONCE) {
    // What is stored by now is not asked for again.
    if (job.isTimeUp) return;
    await takeFiles(job, missing.slice(at, at + FILES_AT_ONCE));
  }
  const last = oids.at(-1);
  const isDone = oids.length < BLOBS_AT_ONCE || last === undefined;
  await job.commit([], {
    ...(isDone ? job.nextStage() : { cursor: last }),
    progress: job.counted(missing.length),
  });
}

/** The ids of the next blobs after `after` that may be pointers, in order. */
function listSmallBlobs({ catalog }: OpenRepository, after: string, countMax: number): Oid[] {
  const found: Oid[] = [];
  for (const [pack, { idx }] of catalog.packs.entries()) {
    let count = 0;
    for (let position = firstAfter(idx, after); position < idx.count; position++) {
      const location = { pack, position };
      if (catalog.kind(location) !== BLOB) continue;
      const size = catalog.sizeBytes(location);
      if (size < POINTER_BYTES_MIN || size >= POINTER_BYTES_MAX) continue;
      found.push(idx.oid(position));
      if (++count === countMax) break;
    }
  }
  return [...new Set(found)].toSorted().slice(0, countMax);
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

/** Asks for files, and stores those that the other side has. */
async function takeFiles(job: ImportJob, pointers: readonly LfsPointer[]): Promise<void> {
  const bytesMax = job.ctx.config.lfsFileMaxBytes;
  const wanted = new Map<string, LfsPointer>();
  for (const pointer of pointers) {
    if (pointer.sizeBytes <= bytesMax) wanted.set(pointer.oid, pointer);
    else job.note(`the large file ${pointer.oid} was left out: it has ${pointer.sizeBytes} bytes`);
  }
  if (wanted.size === 0) return;
  const { openFile } = job.source;
  if (openFile) {
    for (const pointer of wanted.values()) {
      const pieces = openFile(largeFilePath(pointer.oid));
      if (pieces) await storeFile(job, pointer, async () => pieces);
      else job.note(`the large file ${pointer.oid} is not there`);
    }
    return;
  }
  const answer = await requestBatch(job, [...wanted.values()]);
  for (const { oid, actions, error } of answer.objects) {
    const pointer = isSha256(oid) ? wanted.get(oid) : undefined;
    if (!pointer) continue;
    wanted.delete(oid);
    const download = actions?.download;
    if (download) await takeFile(job, pointer, download);
    else if (error) job.note(`the large file ${oid} is not there`);
  }
}

async function requestBatch(job: ImportJob, pointers: readonly LfsPointer[]) {
  const url = `${baseUrlOf(job.row)}/objects/batch`;
  const outcome = await job.ctx.outgoing.fetchGuarded(
    url,
    {
      method: "POST",
      headers: {
        Accept: MEDIA_TYPE,
        "Content-Type": MEDIA_TYPE,
        ...job.source.authorizationFor(url),
      },
      body: JSON.stringify({
        operation: "download",
        transfers: ["basic"],
        objects: pointers.map(({ oid, sizeBytes }) => ({ oid, size: sizeBytes })),
      }),
    },
    LIMITS,
  );
  if (outcome.kind === "timeout") throw new RemoteFailure("timeout", "large files took too long");
  if (outcome.kind === "blocked") throw new RemoteFailure("blocked", outcome.reason);
  if (outcome.kind === "network") throw new RemoteFailure("unreachable", outcome.reason);
  if (outcome.kind === "too_large") throw new RemoteFailure("too_large", "too many large files");
  const { status, body } = outcome;
  if (status === 429) throw new RemoteFailure("rate_limited", "large files are rate limited");
  if (status >= 500) throw new RemoteFailure("server", `large files were answered with ${status}`);
  if (status !== 200) {
    job.note(`large files can't be had: they were answered with ${status}`);
    return { objects: [] };
  }
  try {
    return BatchAnswer.parse(JSON.parse(new TextDecoder().decode(body)));
  } catch {
    throw new RemoteFailure("protocol", "the answer about large files is not what Git LFS says");
  }
}

/** Where the other side serves large files. @see git-lfs, docs/api/server-discovery.md. */
function baseUrlOf({ wishes, address }: ImportJob["row"]): string {
  if (wishes.largeFilesUrl !== "") return wishes.largeFilesUrl.replace(/\/+$/, "");
  return `${address}${address.endsWith(".git") ? "" : ".git"}/info/lfs`;
}

async function takeFile(
  job: ImportJob,
  pointer: LfsPointer,
  { href, header = {} }: { href: string; header?: Record<string, string> | undefined },
): Promise<void> {
  const { ctx, source } = job;
  const hasOwn = Object.keys(header).some((name) => name.toLowerCase() === "authorization");
  const headers = { ...header, ...(!hasOwn && source.authorizationFor(href)) };
  await storeFile(job, pointer, async () => {
    const { pieces } = await openDownload(ctx, href, headers, pointer.sizeBytes);
    return pieces;
  });
}

/** Stores one file. One that can't be had is noted: it must not keep the others from coming. */
async function storeFile(
  job: ImportJob,
  pointer: LfsPointer,
  open: () => Promise<AsyncGenerator<Uint8Array, void>>,
): Promise<void> {
  // The bucket tells of a stream that fails in its own words.
  let fault: unknown;
  async function* watched(): AsyncGenerator<Uint8Array> {
    try {
      yield* await open();
    } catch (error) {
      fault = error;
      throw error;
    }
  }
  try {
    await storeObject(
      job.ctx,
      job.repo.row,
      pointer,
      streamOf(watched(), () => undefined),
    );
  } catch (error) {
    const cause = fault ?? error;
    const isFinal = cause instanceof Failure || (cause instanceof RemoteFailure && !cause.mayPass);
    if (!isFinal) throw cause;
    job.note(`the large file ${pointer.oid} was left out: ${cause.message}`);
  }
}
