import type { Budget } from "../budget.ts";
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
  /** Lets other requests have a turn between parts of the work. */
  readonly budget?: Budget | undefined;
  readonly pack: JoinedFile;
  readonly idx: JoinedFile;
  /** The block tables. */
  readonly tables: JoinedFile;
}

/** A file that is being written. */
interface JoinedFile {
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

const MB = 2 ** 20;
/**
 * Buffers while entries are copied, in bytes: two reads of a pack, its rows, and the pieces that
 * are written.
 */
const COPYING_BYTES = 11 * MB;
/** Buffers for each part while the index is written, and the tables: a reader for each column. */
const [IDX_PART_BYTES, TABLES_PART_BYTES] = [3 * MB, 2 * MB];
/** Memory for a commit while the tables of history are joined, in bytes. */
const COMMIT_BYTES = 16;

/**
 * Joins large packs into one: the entries of each are copied in their order, without the objects
 * that older ones have, and the tables are merged row by row.
 *
 * Unlike `mergePacks`, it searches for no deltas and changes no order of entries. Chains may become
 * as long as those of two parts together, since a base may be the copy of an older part.
 *
 * Cost: one pass over each pack, some over the tables. Memory: a byte and two bits for each object,
 * 24 bytes for each that several parts have, some 100 bytes a commit, and buffers.
 *
 * @param parts Oldest first, each with all bases of its deltas.
 * @throws GitError `corrupt` if a part is damaged, `limit` if they share too many objects.
 */
export async function joinPacks(
  parts: readonly JoinPart[],
  { codec, gauge = () => {}, budget, pack, idx, tables }: PackJoinOptions,
): Promise<JoinedPack> {
  const plan = await JoinPlan.make(parts, budget);
  gauge(plan.heldBytes + COPYING_BYTES);
  const output = new PieceOutput(codec, (piece) => pack.write(piece));
  output.put(formatPackHeader(plan.count));
  const moves = await copyEntries(plan, output, codec);
  const checksum = formatOid(await output.finish());
  await pack.finish();
  const moveBytes = moves.reduce((sum, { heldBytes }) => sum + heldBytes, 0);
  gauge(plan.heldBytes + moveBytes + 2 * MB + parts.length * IDX_PART_BYTES);
  const idxBytes = await writeJoinedIdx(plan, moves, checksum, codec, (piece) => idx.write(piece));
  await idx.finish();
  // The joined tables of history are as large as those of the parts.
  const historyBytes = parts.reduce((sum, { blocks: { index } }) => {
    return sum + index.heldBytes + COMMIT_BYTES * index.history.commits.length;
  }, 0);
  gauge(plan.heldBytes + moveBytes + historyBytes + parts.length * TABLES_PART_BYTES);
  const tablesBytes = await writeJoinedTables(plan, moves, (piece) => tables.write(piece));
  await tables.finish();
  const { sizeBytes: packBytes } = output;
  return { checksum, packBytes, idxBytes, tablesBytes, objectCount: plan.count };
}
