import type { Codec } from "../codec.ts";
import { formatOid } from "../oid.ts";
import { formatPackHeader } from "../pack/pack-scanner.ts";
import { PieceOutput } from "../pack/piece-output.ts";
import type { Gauge } from "../store.ts";
import { copyEntries } from "./join-entries.ts";
import { writeJoinedIdx } from "./join-index.ts";
import { type JoinPart, JoinPlan } from "./join-plan.ts";
import { writeJoinedTables } from "./join-tables.ts";

export interface PackJoinOptions {
  readonly codec: Codec;
  readonly gauge?: Gauge | undefined;
  readonly pack: JoinedFile;
  readonly idx: JoinedFile;
  /** The block tables. */
  readonly tables: JoinedFile;
}

/** A file that is being written. */
export interface JoinedFile {
  /** Receives the next bytes. They are not modified afterwards. */
  write(piece: Uint8Array): Promise<void>;
  finish(): Promise<void>;
}

/** A joined pack. */
export interface JoinedPack {
  /** The pack's trailing hash, hex. */
  readonly checksum: string;
  readonly packBytes: number;
  readonly idxBytes: number;
  /** The length of the file of the block tables, which has no sidecar. */
  readonly tablesBytes: number;
  readonly objectCount: number;
}

/** Memory for the buffers of a part's readers, in bytes: a window of its pack is held of one at a time. */
const PART_BYTES = 5 * 2 ** 20;

/**
 * Joins large packs into one: the entries of each are copied in their order, without the objects that older ones have, and
 * the tables are merged row by row.
 *
 * Unlike `mergePacks`, it searches for no deltas and changes no order of entries. Chains may become as long as those of two
 * parts together, since a base may be the copy of an older part.
 *
 * Cost: one pass over each pack, some over the tables. Memory: a byte and two bits for each object, 24 bytes for each that several parts have,
 * some 100 bytes a commit, and buffers.
 *
 * @param parts Oldest first, each with all bases of its deltas.
 * @throws GitError `corrupt` if a part is damaged, `limit` if they share too many objects.
 */
export async function joinPacks(
  parts: readonly JoinPart[],
  { codec, gauge = () => {}, pack, idx, tables }: PackJoinOptions,
): Promise<JoinedPack> {
  const plan = await JoinPlan.make(parts);
  gauge(plan.heldBytes + parts.length * PART_BYTES);
  const output = new PieceOutput(codec, (piece) => pack.write(piece));
  output.put(formatPackHeader(plan.count));
  const moves = await copyEntries(plan, output, codec);
  const checksum = formatOid(await output.finish());
  await pack.finish();
  const moveBytes = moves.reduce((sum, { heldBytes }) => sum + heldBytes, 0);
  gauge(plan.heldBytes + moveBytes + parts.length * PART_BYTES);
  const idxBytes = await writeJoinedIdx(plan, moves, checksum, codec, (piece) => idx.write(piece));
  await idx.finish();
  const historyBytes = parts.reduce((sum, { blocks }) => sum + blocks.index.heldBytes, 0);
  gauge(plan.heldBytes + moveBytes + historyBytes + parts.length * PART_BYTES);
  const tablesBytes = await writeJoinedTables(plan, moves, (piece) => tables.write(piece));
  await tables.finish();
  const { sizeBytes: packBytes } = output;
  return { checksum, packBytes, idxBytes, tablesBytes, objectCount: plan.count };
}
