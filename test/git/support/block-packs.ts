import { runNow } from "../../../src/git/budget.ts";
import { BlockPool } from "../../../src/git/catalog/block-pool.ts";
import { BlockIndex, ObjectBlocks } from "../../../src/git/catalog/object-blocks.ts";
import { BlockPack, type OpenPack } from "../../../src/git/catalog/pack-catalog.ts";
import { formatBlockTables, readBlockLayout } from "../../../src/git/sidecar/block-tables.ts";
import { formatSidecar } from "../../../src/git/sidecar/sidecar-file.ts";
import { codec } from "./codec.ts";
import { MemorySource } from "./sources.ts";

let names = 0;

/** The file of a pack's sidecar and block tables. */
export function blockFileOf({ idx, sidecar, source }: OpenPack): Buffer {
  const tables = [...formatBlockTables(sidecar, idx, source.sizeBytes)];
  return Buffer.concat([runNow(formatSidecar(sidecar, codec)), ...tables]);
}

/** A pack opened so that its tables are read by block, of which none is in memory yet. */
export function openByBlock(pack: OpenPack, pool = new BlockPool()): BlockPack {
  const { source } = pack;
  const file = blockFileOf(pack);
  const layout = readBlockLayout(file, file.length);
  if (!layout) throw new Error("no block tables");
  const index = new BlockIndex(layout, file.subarray(layout.historyAt));
  return new BlockPack(new ObjectBlocks(index, new MemorySource(file), pool, `${names++}`), source);
}
