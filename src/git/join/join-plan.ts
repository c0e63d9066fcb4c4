import { type Budget, giveWay, runNow, UNLIMITED } from "../budget.ts";
import { corrupt, overLimit } from "../error.ts";
import { compareOidBytes, OID_BYTES } from "../oid.ts";
import { sortByOid } from "../pack/oid-order.ts";
import type { ObjectBlocks } from "../catalog/object-blocks.ts";
import { ID_ROW_BYTES, IDS_PER_BLOCK, readNumber } from "../sidecar/block-tables.ts";
import { OidPool } from "../sidecar/oid-pool.ts";
import { NumberList } from "../sidecar/number-list.ts";
import type { ByteSource } from "../store.ts";
import { TableReader } from "./table-reader.ts";

/** A pack that is joined with others, with block tables. */
export interface JoinPart {
  readonly blocks: ObjectBlocks;
  /** The file of the block tables. */
  readonly tables: ByteSource;
  readonly idx: ByteSource;
  readonly pack: ByteSource;
  /** The pack's trailing hash, hex. */
  readonly checksum: string;
}

/** Packs that are joined at once: a part takes seven bits. */
export const PARTS_MAX = 100;
/** Objects that newer parts may have in common with older ones: 12 bytes each. */
const COPIES_MAX = 1_000_000;
/** Flag of an object that an older part has, too. */
const COPY = 0x80;
/** A part and a number in it as one number. */
const PART = 2 ** 32;
/** Objects for each of which the number of copies before it is stored. */
const RANK_OBJECTS = 1024;

/** The objects of a part that older parts have, too. */
class Copies {
  /** Their numbers, ascending, after `sort`. */
  private numbers = new Uint32Array(0);
  /** For each the part and the number that are kept. */
  private targets = new Float64Array(0);
  private readonly found = new NumberList(16);
  private readonly foundTargets: number[] = [];
  private readonly bits: Uint32Array;
  private readonly ranks: Uint32Array;

  constructor(count: number) {
    this.bits = new Uint32Array(Math.ceil(count / 32));
    this.ranks = new Uint32Array(Math.ceil(count / RANK_OBJECTS) + 1);
  }

  get count(): number {
    return this.found.length;
  }

  get heldBytes(): number {
    return this.bits.byteLength + this.ranks.byteLength + 24 * this.count;
  }

  add(number: number, target: number): void {
    if (this.count === COPIES_MAX) throw overLimit("the packs have too many objects in common");
    this.found.push(number);
    this.foundTargets.push(target);
    (this.bits[number >>> 5] as number) |= 1 << (number & 31);
  }

  sort(): void {
    const order = Uint32Array.from(this.foundTargets, (_, at) => at);
    order.sort((a, b) => this.found.at(a) - this.found.at(b));
    this.numbers = order.map((at) => this.found.at(at));
    this.targets = Float64Array.from(order, (at) => this.foundTargets[at] as number);
    let before = 0;
    for (const [word, bits] of this.bits.entries()) {
      if (word % (RANK_OBJECTS / 32) === 0) this.ranks[word / (RANK_OBJECTS / 32)] = before;
      before += countBits(bits);
    }
  }

  has(number: number): boolean {
    return (((this.bits[number >>> 5] as number) >>> (number & 31)) & 1) === 1;
  }

  /** How many have a lower number. */
  before(number: number): number {
    if (this.count === 0) return 0;
    const group = Math.floor(number / RANK_OBJECTS);
    let before = this.ranks[group] as number;
    for (let word = (group * RANK_OBJECTS) / 32; word < number >>> 5; word++) {
      before += countBits(this.bits[word] as number);
    }
    const below = (1 << (number & 31)) - 1;
    return before + countBits((this.bits[number >>> 5] as number) & below);
  }

  /** The part and the number that are kept of a copy, as one number. */
  target(number: number): number {
    let low = 0;
    let high = this.numbers.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.numbers[middle] as number) < number) low = middle + 1;
      else high = middle;
    }
    return this.targets[low] as number;
  }
}

function countBits(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return (((bits + (bits >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}

/** Rows of tables after which others may have a turn, and steps to take one. */
const PART_ROWS = 4096;
const STEPS_PER_ROW = 50;

/** An object of a part. */
export interface PartObject {
  readonly part: number;
  readonly number: number;
}

/**
 * Which objects a joined pack has of each of its parts, and how they are numbered: those of the
 * oldest part first, each part's in the order of its entries. An object of several parts is kept of
 * the oldest.
 *
 * Memory: a byte and two bits for each object, 24 bytes for each copy, and 8 for each reference to
 * an object outside of a part.
 */
export class JoinPlan {
  readonly parts: readonly JoinPart[];
  /** Lets other requests have a turn between parts of the work. */
  readonly budget: Budget;
  /** The number of objects of the joined pack. */
  count = 0;
  /** How many ids begin with each byte. */
  readonly fanout = new Uint32Array(256);
  /** Raw ids of the objects outside of the joined pack that its parts refer to. */
  readonly outside = new OidPool();
  /** The part of each object of all parts, in the order of ids; copies are marked. */
  private readonly order: Uint8Array;
  private readonly copies: readonly Copies[];
  /** The first number of each part. */
  private readonly firsts: number[] = [];
  /**
   * By part and row of its outside ids: a part and a number as one number, or -1 minus a row of
   * `outside`.
   */
  private outsideTargets: readonly Float64Array[] = [];

  private constructor(parts: readonly JoinPart[], budget: Budget) {
    this.budget = budget;
    if (parts.length > PARTS_MAX) throw overLimit("too many packs to join");
    this.parts = parts;
    this.copies = parts.map(({ blocks }) => new Copies(blocks.count));
    this.order = new Uint8Array(parts.reduce((sum, { blocks }) => sum + blocks.count, 0));
  }

  /** Cost: one pass over the ids of all parts. @param parts Oldest first. */
  static async make(parts: readonly JoinPart[], budget: Budget = UNLIMITED): Promise<JoinPlan> {
    const plan = new JoinPlan(parts, budget);
    await plan.mergeIds();
    let first = 0;
    for (const [part, copies] of plan.copies.entries()) {
      copies.sort();
      plan.firsts.push(first);
      first += (parts[part] as JoinPart).blocks.count - copies.count;
    }
    return plan;
  }

  /** Memory held in bytes. */
  get heldBytes(): number {
    const copies = this.copies.reduce((sum, { heldBytes }) => sum + heldBytes, 0);
    const outside = this.outsideTargets.reduce((sum, { byteLength }) => sum + byteLength, 0);
    return this.order.length + copies + outside + this.outside.heldBytes;
  }

  /** Whether an older part has the object, too: then it is left out of this one. */
  isCopy(part: number, number: number): boolean {
    return this.copiesOf(part).has(number);
  }

  /** The object that is kept of a copy; itself for any other. */
  kept(part: number, number: number): PartObject {
    const copies = this.copiesOf(part);
    return copies.has(number) ? unpack(copies.target(number)) : { part, number };
  }

  /** The number of an object in the joined pack. */
  numberOf(part: number, number: number): number {
    const copies = this.copiesOf(part);
    if (copies.has(number)) {
      const kept = unpack(copies.target(number));
      return this.numberOf(kept.part, kept.number);
    }
    return (this.firsts[part] as number) + number - copies.before(number);
  }

  /** The reference of the joined pack for one of a part. */
  refOf(part: number, ref: number): number {
    const { count } = this.partAt(part).blocks;
    if (ref < count) return this.numberOf(part, ref);
    const target = this.outsideTargets[part]?.[ref - count];
    if (target === undefined) throw corrupt("sidecar: no such reference");
    if (target < 0) return this.count - 1 - target;
    const kept = unpack(target);
    return this.numberOf(kept.part, kept.number);
  }

  /** Whether a part does not keep the object of a reference: it is a copy, or in another part. */
  isElsewhere(part: number, ref: number): boolean {
    const { count } = this.partAt(part).blocks;
    if (ref < count) return this.isCopy(part, ref);
    return (this.outsideTargets[part]?.[ref - count] ?? -1) >= 0;
  }

  /**
   * Visits the objects of the joined pack in the order of their ids.
   *
   * @param readers Tables of each part with a row for each of its objects, in this order.
   * @param visit   Receives a part and the row, which all readers have. What it returns is awaited.
   */
  async visit(
    readers: readonly (readonly TableReader[])[],
    visit: (part: number, row: number) => Promise<void> | undefined,
  ): Promise<void> {
    const rows = this.parts.map(() => 0);
    for (const [at, each] of this.order.entries()) {
      if (at % PART_ROWS === 0) await giveWay(this.budget, STEPS_PER_ROW * PART_ROWS);
      const part = each & ~COPY;
      const row = rows[part] as number;
      rows[part] = row + 1;
      if ((each & COPY) !== 0) continue;
      for (const reader of readers[part] as readonly TableReader[]) {
        if (!reader.has(row)) await reader.load(row);
      }
      // Most rows are in memory: an await for each would cost more than the visit.
      const pending = visit(part, row);
      if (pending) await pending;
    }
  }

  /** Reads the ids of a part with the numbers of their objects. */
  idsOf(part: number): TableReader {
    const { blocks, tables } = this.partAt(part);
    const { idsAt, counts } = blocks.index.layout;
    return new TableReader(tables, {
      at: idsAt,
      rowBytes: ID_ROW_BYTES,
      rowsPerBlock: IDS_PER_BLOCK,
      count: counts.objects,
    });
  }

  private partAt(part: number): JoinPart {
    const found = this.parts[part];
    if (!found) throw new Error(`no part ${part}`);
    return found;
  }

  private copiesOf(part: number): Copies {
    const found = this.copies[part];
    if (!found) throw new Error(`no part ${part}`);
    return found;
  }

  private async mergeIds(): Promise<void> {
    const readers = this.parts.map((_, part) => this.idsOf(part));
    const rows = this.parts.map(() => 0);
    const outside = new OutsideIds(this.parts, this.outside);
    let placed = 0;
    for (let seen = 0; ; seen++) {
      if (seen % PART_ROWS === 0) await giveWay(this.budget, STEPS_PER_ROW * PART_ROWS);
      let least = -1;
      let leastBytes: Uint8Array = NO_BYTES;
      let leastAt = 0;
      for (const [part, reader] of readers.entries()) {
        const row = rows[part] as number;
        if (row === (this.parts[part] as JoinPart).blocks.count) continue;
        if (!reader.has(row)) await reader.load(row);
        const at = reader.offsetOf(row);
        const difference = least < 0 ? -1 : compareOidBytes(reader.bytes, at, leastBytes, leastAt);
        // Of equal ids, the one of the oldest part is kept.
        if (difference >= 0) continue;
        least = part;
        leastBytes = reader.bytes;
        leastAt = at;
      }
      if (least < 0) break;
      const number = readNumber(leastBytes, leastAt + OID_BYTES);
      const kept = least * PART + number;
      outside.resolve(leastBytes, leastAt, kept);
      (this.fanout[leastBytes[leastAt] as number] as number)++;
      this.order[placed++] = least;
      this.count++;
      for (let part = least; part < readers.length; part++) {
        const reader = readers[part] as TableReader;
        const row = rows[part] as number;
        if (row === (this.parts[part] as JoinPart).blocks.count) continue;
        const at = reader.offsetOf(row);
        if (compareOidBytes(reader.bytes, at, leastBytes, leastAt) !== 0) continue;
        rows[part] = row + 1;
        if (part === least) continue;
        this.copiesOf(part).add(readNumber(reader.bytes, at + OID_BYTES), kept);
        this.order[placed++] = part | COPY;
      }
    }
    this.outsideTargets = outside.finish();
  }
}

const NO_BYTES = new Uint8Array(0);

const unpack = (packed: number): PartObject => ({
  part: Math.floor(packed / PART),
  number: packed % PART,
});

/** The ids that parts refer to without having them, which are looked for in the order of ids. */
class OutsideIds {
  private readonly oids: Uint8Array;
  private readonly order: Uint32Array;
  private readonly targets: Float64Array;
  private readonly counts: readonly number[];
  private readonly pool: OidPool;
  private at = 0;

  /** @param pool Receives those that no part has. */
  constructor(parts: readonly JoinPart[], pool: OidPool) {
    const all = parts.map(({ blocks }) => blocks.index.history.outsideOids);
    this.counts = all.map(({ length }) => length / OID_BYTES);
    const total = this.counts.reduce((sum, count) => sum + count, 0);
    this.oids = new Uint8Array(total * OID_BYTES);
    let filled = 0;
    for (const oids of all) {
      this.oids.set(oids, filled);
      filled += oids.length;
    }
    this.order = runNow(sortByOid(this.oids, total));
    this.targets = new Float64Array(total);
    this.pool = pool;
  }

  /** Takes the next object of the joined pack. */
  resolve(oid: Uint8Array, offset: number, target: number): void {
    for (; this.at < this.order.length; this.at++) {
      const row = this.order[this.at] as number;
      const difference = compareOidBytes(this.oids, row * OID_BYTES, oid, offset);
      if (difference > 0) return;
      this.targets[row] = difference === 0 ? target : this.missing(row);
    }
  }

  /** The targets by part. */
  finish(): Float64Array[] {
    for (; this.at < this.order.length; this.at++) {
      const row = this.order[this.at] as number;
      this.targets[row] = this.missing(row);
    }
    let first = 0;
    return this.counts.map((count) => {
      first += count;
      return this.targets.subarray(first - count, first);
    });
  }

  private missing(row: number): number {
    return -1 - this.pool.add(this.oids, row * OID_BYTES);
  }
}
