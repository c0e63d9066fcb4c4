import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { deflateSync } from "node:zlib";

import { findEntry } from "../../src/domain/code/contents/find-entry.ts";
import { readContents } from "../../src/domain/code/contents/read-contents.ts";
import { findRevision } from "../../src/domain/code/git/find-revision.ts";
import type { RepositorySnapshot } from "../../src/domain/code/git/open-snapshot.ts";
import { resident } from "../../src/git/catalog/block-pool.ts";
import { formatEntryHeader } from "../../src/git/pack/entry-header.ts";
import { DEFAULT_PACK_LIMITS } from "../../src/git/pack/limits.ts";
import { formatPackHeader } from "../../src/git/pack/pack-scanner.ts";
import type { FetchRequest } from "../../src/git/wire/fetch-request.ts";
import { viewRefs } from "../../src/git-http/advertised-refs.ts";
import { FetchSession } from "../../src/git-http/fetch-session.ts";
import { Bucket } from "../../src/storage/bucket.ts";
import { codec } from "../../src/storage/codec.ts";
import { packKey } from "../../src/storage/keys.ts";
import type { OpenRepository } from "../../src/storage/open-repository.ts";
import { storeTables } from "../../src/storage/pack-files.ts";
import type { PackRecord, Snapshot } from "../../src/storage/repository-records.ts";
import { GitStorage, type StoredRepository } from "../../src/storage/storage.ts";
import { StorageUsage } from "../../src/storage/storage-usage.ts";
import type { DiskBucket } from "./disk-bucket.ts";
import { commitOf, deltaOf, hashOf } from "./large-packs.ts";
import {
  contentOf,
  DIRECTORIES,
  FILES_EACH,
  type LargePack,
  pathOf,
  writeLargePack,
} from "./large-repository.ts";

const NETWORK = "large";
const MAIN = "refs/heads/main";
const NO_CACHE = { get: async () => undefined, open: async () => undefined, put: () => {} };
const [COMMIT, TREE, BLOB, REF_DELTA] = [1, 2, 3, 7] as const;

/** How the tables of large packs are read. */
export type TableMode = "blocks" | "whole";

/** A generated repository of one pack in a bucket. */
export interface LargeRepository {
  readonly disk: DiskBucket;
  readonly commitCount: number;
  readonly pack: PackRecord;
  /** The last commits, the latest first. */
  readonly tips: LargePack["tips"];
}

/** Generates a repository and stores it. @param first The number of its first commit. */
export async function makeLargeRepository(
  disk: DiskBucket,
  directory: string,
  commitCount: number,
  first = 0,
): Promise<LargeRepository> {
  const made = writeLargePack(directory, commitCount, first);
  const { packBytes, idxBytes, sidecarBytes, checksum, objectCount, tips } = made;
  const bucket = new Bucket(disk.r2, new StorageUsage(), NO_CACHE);
  const name = `generated-${commitCount}-${first}`;
  const upload = bucket.startUpload(packKey(NETWORK, name, "pack"));
  const path = join(directory, "pack");
  for await (const chunk of createReadStream(path)) await upload.write(chunk as Uint8Array);
  await upload.finish();
  await rm(path);
  const tables = { packBytes, idxBytes, sidecarBytes };
  const stored = await storeTables(bucket, NETWORK, name, tables);
  const sizes = { packBytes, idxBytes: idxBytes.length, sidecarBytes: stored };
  return { disk, commitCount, pack: { name, checksum, objectCount, ...sizes }, tips };
}

/** A request to a repository whose packs no isolate has cached. */
export interface OpenRequest {
  readonly usage: StorageUsage;
  readonly stored: StoredRepository;
  readonly snapshot: Snapshot;
  readonly open: () => Promise<OpenRepository>;
  /** The packs that were listed in the place of others. */
  readonly replaced: readonly PackRecord[];
}

let links = 0;

export async function openRequest(
  { disk, pack, tips }: LargeRepository,
  mode: TableMode,
  isCold = true,
): Promise<OpenRequest> {
  const name = isCold ? `link-${links++}` : pack.name;
  if (isCold) {
    for (const kind of ["pack", "idx", "sidecar"] as const) {
      await disk.link(packKey(NETWORK, pack.name, kind), packKey(NETWORK, name, kind));
    }
  }
  const snapshot: Snapshot = {
    version: 1,
    head: MAIN,
    collections: 0,
    refs: [{ name: MAIN, oid: tips[0] ?? "", peeledOid: null }],
    packs: [{ ...pack, name }],
    lacksPullRefs: false,
    loadPullRefs: () => Promise.resolve([]),
    findPullRefs: () => Promise.resolve([]),
  };
  const { loadPullRefs: _load, findPullRefs: _find, ...record } = snapshot;
  const replaced: PackRecord[] = [];
  const replacePacks = async (_upload: string, _names: string[], made: PackRecord) => {
    replaced.push(made);
    return { kind: "replaced", packBytes: made.packBytes };
  };
  const object = { snapshot: async () => record, beginUpload: async () => record, replacePacks };
  const objects = { getByName: () => object };
  const storage = new GitStorage(disk.r2, objects as never, {} as never, NO_CACHE);
  const stored = storage.repository({ objectName: "o", networkName: NETWORK });
  const open = () => (mode === "blocks" ? stored.openByBlock(snapshot) : stored.open(snapshot));
  return { usage: storage.usage, stored, snapshot, open, replaced };
}

const FETCH: FetchRequest = {
  wantOids: [],
  wantRefs: [],
  haveOids: [],
  shallowOids: [],
  deepen: undefined,
  filter: undefined,
  isDone: true,
  isThin: true,
  takesOfsDelta: true,
  includesTags: true,
  wantsProgress: false,
  waitsForDone: false,
  isSidebandAll: false,
};

/** Lists the refs, as `ls-refs` does. Returns their number. */
export async function listRefs({ stored }: OpenRequest): Promise<number> {
  return viewRefs(await stored.snapshot("none"), "main").refs.length;
}

/**
 * Fetches the last commit as a client that has the commits before it. Returns the number of objects
 * sent, and their bytes.
 */
export async function fetchCommit(
  { stored, snapshot, open }: OpenRequest,
  { tips }: LargeRepository,
): Promise<{ objects: number; bytes: number }> {
  const [wanted = "", ...haveOids] = tips;
  const request = { ...FETCH, wantOids: [wanted], haveOids };
  const view = viewRefs(snapshot, "main");
  const session = await FetchSession.open(stored, view, await open(), request);
  await session.isReady();
  const plan = await session.plan();
  let bytes = 0;
  for await (const piece of session.packBytes(plan)) bytes += piece.length;
  return { objects: plan.toPack.size, bytes };
}

/**
 * Reads a file of the oldest directory with its content and last commit, as `GET /contents/{path}`
 * does.
 */
export async function readFile(request: OpenRequest): Promise<string | null | undefined> {
  const repository = await request.open();
  const snapshot: RepositorySnapshot = { state: request.snapshot, repository };
  const revision = await findRevision(snapshot, "main");
  if (!revision) throw new Error("no revision");
  const includes = { content: true, lfs: true, commit: true };
  const names = PATH.split("/");
  const found = await readContents(repository, revision, names, includes);
  return found?.kind === "item" ? found.item.content : undefined;
}

/** The file that `readFile` reads. */
const [DIRECTORY, FILE] = [0, 7];
export const PATH = pathOf(DIRECTORY, FILE);

/** The content of `PATH`, in Base64. */
export function expectedContent(commitCount: number): string {
  const last = commitCount - 1;
  const commit = last - ((last - DIRECTORY) % DIRECTORIES);
  return Buffer.from(contentOf(commit, FILE)).toString("base64");
}

/**
 * Pushes one commit that changes one file, as a thin pack. Returns the number of objects stored.
 */
export async function pushCommit(
  { stored, snapshot, open }: OpenRequest,
  thinPack: Uint8Array,
): Promise<number> {
  const receiver = stored.receivePack(`push-${links++}`, DEFAULT_PACK_LIMITS);
  await receiver.write(thinPack);
  const received = await receiver.finish(await open(), snapshot);
  return received?.record.objectCount ?? 0;
}

/**
 * The thin pack of a commit on top of the last one: its trees are deltas against those of the
 * repository.
 */
export async function makeThinPack(repository: LargeRepository): Promise<Uint8Array> {
  const { open, snapshot } = await openRequest(repository, "blocks");
  const opened = await open();
  const { graph, objects } = opened;
  const tip = graph.find(repository.tips[0] ?? "");
  const rootLocation = await graph.loadRoot(tip);
  const rootOid = await resident(() => graph.rootOid(tip));
  const read = async (oid: string): Promise<Buffer> =>
    Buffer.from((await objects.readObject(oid))?.content ?? []);
  const entry = rootLocation && (await findEntry(opened, rootLocation, [PATH.slice(0, 3)]));
  if (!entry || rootOid === undefined || snapshot.packs.length !== 1) throw new Error("no tree");
  const [root, directory] = [await read(rootOid), await read(entry.oid)];
  const content = Buffer.from("pushed\n");
  const blobOid = hashOf(BLOB, content);
  const blobAt = (directory.length / FILES_EACH) * (FILE + 1) - 20;
  const newDirectory = Buffer.from(directory);
  blobOid.copy(newDirectory, blobAt);
  const directoryOid = hashOf(TREE, newDirectory);
  const treeAt = (root.length / DIRECTORIES) * (DIRECTORY + 1) - 20;
  const newRoot = Buffer.from(root);
  directoryOid.copy(newRoot, treeAt);
  const parent = Buffer.from(repository.tips[0] ?? "", "hex");
  const commit = commitOf(hashOf(TREE, newRoot), parent, repository.commitCount);
  const whole = (kind: number, bytes: Buffer): Buffer[] => [
    Buffer.from(formatEntryHeader(kind, bytes.length)),
    deflateSync(bytes),
  ];
  const delta = (base: string, bytes: Buffer): Buffer[] => [
    Buffer.from(formatEntryHeader(REF_DELTA, bytes.length)),
    Buffer.from(base, "hex"),
    deflateSync(bytes),
  ];
  const body = Buffer.concat([
    Buffer.from(formatPackHeader(4)),
    ...whole(COMMIT, commit),
    ...delta(rootOid, deltaOf(root, treeAt, directoryOid)),
    ...delta(entry.oid, deltaOf(directory, blobAt, blobOid)),
    ...whole(BLOB, content),
  ]);
  const hash = codec.createSha1();
  hash.update(body);
  return Buffer.concat([body, hash.digest()]);
}
