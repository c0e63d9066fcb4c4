import { byteTextBytes } from "../git/byte-text.ts";
import { BlockPool, resident } from "../git/catalog/block-pool.ts";
import { DEFAULT_PACK_LIMITS } from "../git/pack/limits.ts";
import { PackBuilder } from "../git/pack/pack-builder.ts";
import { Bucket, type FileCache } from "./bucket.ts";
import { codec } from "./codec.ts";
import { OpenRepository } from "./open-repository.ts";
import { openPackByBlock } from "./pack-files.ts";
import { PackReceiver } from "./pack-receiver.ts";
import type { ForkRecord, PackRecord, Seed } from "./repository-records.ts";
import { ResultCache } from "./result-cache.ts";
import { StorageUsage } from "./storage-usage.ts";

const NO_CACHE: FileCache = {
  get: () => Promise.resolve(undefined),
  open: () => Promise.resolve(undefined),
  put: () => {},
};

/**
 * Stores the pack of the commit with which a repository begins that was generated from another one.
 * Repeated, it writes the same files.
 *
 * SECURITY: the commit may refer only to what the refs of that repository reach.
 *
 * Cost: as a push of a commit with all files of a tree, whose trees are read.
 */
export async function storeSeedPack(
  r2: R2Bucket,
  { location, packs, refs }: Pick<ForkRecord, "location" | "packs" | "refs">,
  { commit, uploadId }: Seed,
): Promise<PackRecord> {
  const { networkName, objectName } = location;
  const bucket = new Bucket(r2, new StorageUsage(), NO_CACHE);
  const pool = new BlockPool(bucket.openGauge());
  const opened = packs.map((pack) => openPackByBlock(bucket, networkName, pack, pool));
  const results = new ResultCache(NO_CACHE, objectName);
  const openGauge = () => bucket.openGauge();
  const repository = new OpenRepository(await Promise.all(opened), results, openGauge);
  if (repository.catalog.isByBlock) await resident(() => repository.graph);

  const receiver = new PackReceiver(bucket, networkName, uploadId, DEFAULT_PACK_LIMITS);
  const builder = new PackBuilder(codec);
  builder.add("commit", byteTextBytes(commit));
  await receiver.write(builder.build());
  const loadPullRefs = () => Promise.resolve([]);
  const received = await receiver.finish(repository, { refs, loadPullRefs });
  if (!received) throw new Error("a pack without its commit");
  return received.record;
}
