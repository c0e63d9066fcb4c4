import { type Budget, giveWay } from "../budget.ts";
import { corrupt } from "../error.ts";
import { resident } from "../catalog/block-pool.ts";
import type { Codec, Hash } from "../codec.ts";
import { crc32 } from "../hash/crc32.ts";
import { formatOid, OID_BYTES } from "../oid.ts";
import {
  formatBaseDistance,
  formatEntryHeader,
  OFS_DELTA,
  readEntryHeader,
} from "../pack/entry-header.ts";
import { PACK_HEADER_BYTES } from "../pack/pack-scanner.ts";
import type { PieceOutput } from "../pack/piece-output.ts";
import { rowIn } from "../sidecar/block-tables.ts";
import { NumberList } from "../sidecar/number-list.ts";
import type { ByteSource } from "../store.ts";
import type { JoinPart, JoinPlan } from "./join-plan.ts";
import { PartRows } from "./part-rows.ts";

/** Bytes of a pack that are read at once. */
const READ_BYTES = 4 * 1024 * 1024;
/** Bytes in which the header of an entry is, with the distance to its base. */
const HEADER_BYTES_MAX = 32;

/** How the entries of a part have moved into the joined pack. */
export class Moves {
  /**
   * The numbers from which on another shift holds, ascending, and the shifts: what is added to an
   * offset, in bytes.
   */
  private readonly numbers = new NumberList(16);
  private readonly shifts: number[] = [];
  /** Entries with a new header, their checksums, and by how much they have grown. */
  private readonly rewritten = new NumberList(16);
  private readonly crcs = new NumberList(16);
  private readonly growths: number[] = [];

  get heldBytes(): number {
    const lists = [this.numbers, this.rewritten, this.crcs];
    const bytes = lists.reduce((sum, { heldBytes }) => sum + heldBytes, 0);
    return bytes + 8 * (this.shifts.length + this.growths.length);
  }

  /** @param from The entries of this number and higher ones are moved by `shift`. */
  setShift(from: number, shift: number): void {
    if (this.numbers.length > 0 && this.numbers.at(this.numbers.length - 1) === from) {
      this.shifts[this.shifts.length - 1] = shift;
      return;
    }
    this.numbers.push(from);
    this.shifts.push(shift);
  }

  addRewritten(number: number, crc: number, growth: number): void {
    this.rewritten.push(number);
    this.crcs.push(crc);
    this.growths.push(growth);
  }

  shiftAt(number: number): number {
    return this.shifts[lastUpTo(this.numbers, number)] ?? 0;
  }

  /** The new properties of an entry; undefined if it was copied unchanged. */
  change(number: number): { crc: number; growth: number } | undefined {
    const at = lastUpTo(this.rewritten, number);
    if (at < 0 || this.rewritten.at(at) !== number) return undefined;
    return { crc: this.crcs.at(at), growth: this.growths[at] as number };
  }
}

/** Steps to read, hash and copy a byte of a pack, and to take a row of its tables. */
const STEPS_PER_BYTE = 0.3;
const STEPS_PER_ROW = 20;
/** Rows after which others may have a turn. */
const PART_ROWS = 4096;

/** The index of the last number that is not above `limit`, -1 if there is none. */
function lastUpTo(numbers: NumberList, limit: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (numbers.at(middle) <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/**
 * Writes the entries of a joined pack, after its header: those of each part in their order, without
 * copies.
 *
 * An entry is copied as it is, unless it is a delta whose base is at another distance now.
 *
 * Cost: one pass over each pack, and over the rows of all but the first.
 *
 * @returns For each part how its entries have moved.
 * @throws GitError `corrupt` if a pack does not match its checksum.
 */
export async function copyEntries(
  plan: JoinPlan,
  output: PieceOutput,
  codec: Codec,
): Promise<Moves[]> {
  const all: Moves[] = [];
  for (const [number, part] of plan.parts.entries()) {
    all.push(new Moves());
    const copier = new EntryCopier(
      plan,
      number,
      all,
      output,
      new PackReader(part, codec, plan.budget),
    );
    await copier.copy();
  }
  return all;
}

class EntryCopier {
  private readonly plan: JoinPlan;
  private readonly part: number;
  private readonly all: readonly Moves[];
  private readonly moves: Moves;
  private readonly output: PieceOutput;
  private readonly reader: PackReader;
  private readonly take = (bytes: Uint8Array): Promise<void> => this.output.push(bytes);
  private shift = 0;

  constructor(
    plan: JoinPlan,
    part: number,
    all: readonly Moves[],
    output: PieceOutput,
    reader: PackReader,
  ) {
    this.plan = plan;
    this.part = part;
    this.all = all;
    this.moves = all[part] as Moves;
    this.output = output;
    this.reader = reader;
  }

  async copy(): Promise<void> {
    const { reader, plan, part, moves } = this;
    const { blocks } = plan.parts[part] as JoinPart;
    await reader.pass(PACK_HEADER_BYTES);
    this.shift = this.output.sizeBytes - PACK_HEADER_BYTES;
    moves.setShift(0, this.shift);
    // Entries of the first part stay where they are.
    if (part > 0) {
      const rows = new PartRows(plan.parts[part] as JoinPart);
      for (let number = 0; number < blocks.count; number++) {
        if (number % PART_ROWS === 0) await giveWay(plan.budget, STEPS_PER_ROW * PART_ROWS);
        if (!rows.has(number)) await rows.load(number);
        const { block, row } = rows.at(number);
        const base = rowIn.base(block, row);
        const isCopy = plan.isCopy(part, number);
        if (!isCopy && (base < 0 || this.keepsDistance(base))) continue;
        const start = rowIn.offset(block, row);
        const end = start + rowIn.entryBytes(block, row);
        await reader.pass(start, this.take);
        if (isCopy) await this.leaveOut(number, start, end);
        else await this.rewrite(number, base, start, end);
      }
    }
    await reader.pass(reader.end, this.take);
    reader.check();
  }

  /** Whether the distance of a base to the next entry is unchanged. */
  private keepsDistance(base: number): boolean {
    return !this.plan.isCopy(this.part, base) && this.moves.shiftAt(base) === this.shift;
  }

  private async leaveOut(number: number, start: number, end: number): Promise<void> {
    await this.reader.pass(end);
    this.shift -= end - start;
    this.moves.setShift(number + 1, this.shift);
  }

  /** Writes an entry with another distance to its base, unless that is named by its id. */
  private async rewrite(number: number, base: number, start: number, end: number): Promise<void> {
    const { reader, moves } = this;
    const header = readEntryHeader(await reader.peek(HEADER_BYTES_MAX), 0);
    if (!header) throw corrupt("pack: entry cut off");
    if (header.type !== OFS_DELTA) return;
    const kept = this.plan.kept(this.part, base);
    const isHere = kept.part === this.part;
    const distance = isHere
      ? header.baseDistance + this.shift - moves.shiftAt(base)
      : start + this.shift - (await this.offsetOf(kept.part, kept.number));
    const size = formatEntryHeader(OFS_DELTA, header.sizeBytes);
    const target = formatBaseDistance(distance);
    let crc = crc32(target, 0, target.length, crc32(size));
    await this.output.push(size);
    await this.output.push(target);
    await reader.pass(start + header.next);
    await reader.pass(end, async (bytes) => {
      crc = crc32(bytes, 0, bytes.length, crc);
      await this.output.push(bytes);
    });
    const growth = size.length + target.length - header.next;
    moves.addRewritten(number, crc, growth);
    if (growth === 0) return;
    this.shift += growth;
    moves.setShift(number + 1, this.shift);
  }

  /** The position in the joined pack of an object of an older part. */
  private async offsetOf(part: number, number: number): Promise<number> {
    const { blocks } = this.plan.parts[part] as JoinPart;
    const { start } = await resident(() => blocks.range(number));
    return start + (this.all[part] as Moves).shiftAt(number);
  }
}

/** Reads a pack from start to end, and hashes what it reads. */
class PackReader {
  /** The offset of the trailing hash. */
  readonly end: number;
  private readonly source: ByteSource;
  private readonly checksum: string;
  private readonly hash: Hash;
  private readonly budget: Budget;
  private bytes: Uint8Array = new Uint8Array(0);
  /** The offsets of `bytes` and of the next byte that was not passed. */
  private start = 0;
  private at = 0;

  constructor({ pack, checksum }: JoinPart, codec: Codec, budget: Budget) {
    this.budget = budget;
    this.source = pack;
    this.checksum = checksum;
    this.end = pack.sizeBytes - OID_BYTES;
    this.hash = codec.createSha1();
  }

  /** The next bytes, as many as there are up to `count`. */
  async peek(count: number): Promise<Uint8Array> {
    const sliceEnd = Math.min(this.end, this.at + count);
    if (this.start + this.bytes.length < sliceEnd) await this.fill();
    return this.bytes.subarray(this.at - this.start, sliceEnd - this.start);
  }

  /** Passes the bytes before an offset to `take`, or leaves them out. */
  async pass(to: number, take?: (bytes: Uint8Array) => Promise<void>): Promise<void> {
    if (to < this.at || to > this.end) throw corrupt("sidecar: entries are not in order");
    while (this.at < to) {
      if (this.at === this.start + this.bytes.length) await this.fill();
      const from = this.at - this.start;
      const piece = this.bytes.subarray(from, from + to - this.at);
      this.at += piece.length;
      if (take) await take(piece);
    }
  }

  /** @throws GitError `corrupt` if what was read is not the pack of the checksum. */
  check(): void {
    if (formatOid(this.hash.digest()) !== this.checksum) throw corrupt("pack: checksum mismatch");
  }

  /** Reads more behind the bytes that were not passed. */
  private async fill(): Promise<void> {
    const from = this.start + this.bytes.length;
    const more = await this.source.read(from, Math.min(this.end, from + READ_BYTES));
    this.hash.update(more);
    await giveWay(this.budget, STEPS_PER_BYTE * more.length);
    const rest = this.bytes.subarray(this.at - this.start);
    this.start = this.at;
    if (rest.length === 0) {
      this.bytes = more;
      return;
    }
    this.bytes = new Uint8Array(rest.length + more.length);
    this.bytes.set(rest);
    this.bytes.set(more, rest.length);
  }
}
