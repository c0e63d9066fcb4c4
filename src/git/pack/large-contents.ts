import { type Budget, giveWay, UNLIMITED } from "../budget.ts";
import type { Codec } from "../codec.ts";
import { corrupt } from "../error.ts";
import { ObjectHasher } from "../object/hash-object.ts";
import type { ObjectKind } from "../object/kind.ts";
import type { EntryRange, Scratch, StoredChain } from "../store.ts";
import { readDeltaHeader } from "./delta.ts";
import { ENTRY_STREAM_BYTES, streamEntry } from "./entry-stream.ts";

/** Size of the scratch files of a content, in bytes; the last one may be shorter. */
const FILE_BYTES = 4 * 1024 * 1024;
/** Size of the blocks in which contents are read, in bytes. Divides `FILE_BYTES`. */
const BLOCK_BYTES = 512 * 1024;
/** Maximum number of cached blocks of bases. */
const BLOCKS_MAX = 8;
/** First scratch file number used by this module. */
const FIRST_FILE = 2 ** 31;
/** Maximum length of a delta instruction, and of a delta's header with its two sizes, in bytes. */
const INSTRUCTION_BYTES_MAX = 128;

/**
 * Steps after which others may have a turn, where an instruction takes one and its bytes are copied
 * and hashed.
 */
const PART_STEPS = 50_000;
const STEPS_PER_BYTE = 0.2;

/** A content that waits to be used as a base. */
interface LargeContent {
  readonly sizeBytes: number;
  /** Number of the first scratch file. */
  readonly firstFile: number;
}

/**
 * Contents too large for memory. They are stored in scratch, and deltas are applied to them piece
 * by piece.
 *
 * Memory is one output file, a few blocks of bases and the buffers of one inflater, about 10 MB,
 * independent of object sizes. Copy instructions mostly ascend, so blocks are read in order; a
 * delta that jumps costs a read of scratch per jump.
 */
export class LargeContents {
  /** Peak memory so far, in bytes. */
  peakBytes = 0;
  spilledBytes = 0;
  /** Bytes of blocks read so far. */
  loadedBytes = 0;
  private readonly scratch: Scratch;
  private readonly budget: Budget;
  private readonly hasher: ObjectHasher;
  private readonly contents = new Map<number, LargeContent>();
  private readonly blocks = new Map<number, Uint8Array>();
  private files = FIRST_FILE;
  private output = new Uint8Array(0);
  private outputBytes = 0;
  private writtenBytes = 0;

  /** @param budget Lets others have a turn between parts of the work. */
  constructor(scratch: Scratch, codec: Codec, budget: Budget = UNLIMITED) {
    this.budget = budget;
    this.scratch = scratch;
    this.hasher = new ObjectHasher(codec);
  }

  has(node: number): boolean {
    return this.contents.has(node);
  }

  drop(node: number): void {
    this.contents.delete(node);
  }

  /** Reads a stored content in pieces. */
  async *read(node: number): AsyncGenerator<Uint8Array> {
    const content = this.contents.get(node);
    if (!content) throw new Error(`content ${node} was not kept`);
    for (let at = 0; at < content.sizeBytes; at += FILE_BYTES) {
      const end = Math.min(FILE_BYTES, content.sizeBytes - at);
      yield await this.scratch.read(content.firstFile + at / FILE_BYTES, 0, end);
    }
  }

  /** Stores the object of an entry that is not a delta. */
  async keepWhole(node: number, entry: EntryRange): Promise<void> {
    this.startOutput();
    const firstFile = this.files;
    for await (const piece of streamEntry(entry.source, entry.start, entry.end, this.budget)) {
      await this.put(piece, 0, piece.length, true);
    }
    await this.finish(node, firstFile);
  }

  /** Stores a content that is in memory. */
  async keepContent(node: number, content: Uint8Array): Promise<void> {
    this.startOutput();
    const firstFile = this.files;
    await this.put(content, 0, content.length, true);
    await this.finish(node, firstFile);
  }

  /**
   * Stores the object at the end of a delta chain: inflates the first entry, then applies each
   * delta.
   */
  async keepChain(node: number, { entries }: StoredChain): Promise<void> {
    for (const [at, entry] of entries.entries()) {
      if (at === 0) await this.keepWhole(node, entry);
      else await this.apply(node, node, entry, true);
    }
  }

  /**
   * Applies the delta of an entry to the content of `base`, and hashes the result.
   *
   * @param isKept Whether the result is stored as the content of `node`, which may equal `base`.
   * @returns Size of the result in bytes.
   * @throws GitError `corrupt` for a delta that does not fit its base.
   */
  async resolve(
    node: number,
    base: number,
    entry: EntryRange,
    isKept: boolean,
    kind: ObjectKind,
    oids: Uint8Array,
    oidOffset: number,
  ): Promise<number> {
    const sizeBytes = await this.apply(node, base, entry, isKept, kind);
    this.hasher.digestInto(oids, oidOffset);
    return sizeBytes;
  }

  private async apply(
    node: number,
    baseNode: number,
    entry: EntryRange,
    isKept: boolean,
    kind?: ObjectKind,
  ): Promise<number> {
    const base = this.contents.get(baseNode);
    if (!base) throw new Error(`content ${baseNode} was not kept`);
    const input = new DeltaInput(streamEntry(entry.source, entry.start, entry.end, this.budget));
    try {
      await input.fill();
      const header = readDeltaHeader(input.bytes);
      if (!header) throw corrupt("delta: cut off");
      if (header.baseBytes !== base.sizeBytes) throw corrupt("delta: base of another size");
      input.at = header.next;
      const { resultBytes } = header;
      if (kind) this.hasher.start(kind, resultBytes);
      this.startOutput();
      const firstFile = this.files;
      await this.run(input, base, resultBytes, isKept, kind !== undefined);
      if (kind) this.hasher.update(this.output.subarray(0, this.outputBytes));
      if (isKept) await this.finish(node, firstFile);
      return resultBytes;
    } finally {
      await input.close();
    }
  }

  /** Executes the instructions of a delta. */
  private async run(
    input: DeltaInput,
    base: LargeContent,
    resultBytes: number,
    isKept: boolean,
    isHashed: boolean,
  ): Promise<void> {
    let to = 0;
    let countedTo = 0;
    for (let steps = 0; ; steps++) {
      if (steps + STEPS_PER_BYTE * (to - countedTo) > PART_STEPS) {
        const turn = giveWay(this.budget, steps + STEPS_PER_BYTE * (to - countedTo));
        if (turn) await turn;
        steps = 0;
        countedTo = to;
      }
      if (input.leftBytes < INSTRUCTION_BYTES_MAX) await input.fill();
      if (input.leftBytes === 0) break;
      const { bytes } = input;
      let { at } = input;
      const code = bytes[at++] as number;
      let from = 0;
      let size = 0;
      if (code & 0x80) {
        if (code & 0x01) from = bytes[at++] as number;
        if (code & 0x02) from |= (bytes[at++] as number) << 8;
        if (code & 0x04) from |= (bytes[at++] as number) << 16;
        if (code & 0x08) from += (bytes[at++] as number) * 0x1000000;
        if (code & 0x10) size = bytes[at++] as number;
        if (code & 0x20) size |= (bytes[at++] as number) << 8;
        if (code & 0x40) size |= (bytes[at++] as number) << 16;
        if (size === 0) size = 0x10000;
        if (at > bytes.length || from + size > base.sizeBytes || to + size > resultBytes) {
          throw corrupt("delta: copy out of bounds");
        }
        input.at = at;
        to += size;
        while (size > 0) {
          const number = Math.floor(from / BLOCK_BYTES);
          const block = this.cachedBlock(base, number) ?? (await this.loadBlock(base, number));
          const start = from - number * BLOCK_BYTES;
          const taken = Math.min(size, block.length - start);
          if (!this.putNow(block, start, start + taken)) {
            await this.put(block, start, start + taken, isKept, isHashed);
          }
          from += taken;
          size -= taken;
        }
      } else {
        if (code === 0) throw corrupt("delta: reserved instruction");
        if (at + code > bytes.length || to + code > resultBytes) {
          throw corrupt("delta: insert too long");
        }
        input.at = at + code;
        to += code;
        if (!this.putNow(bytes, at, at + code)) {
          await this.put(bytes, at, at + code, isKept, isHashed);
        }
      }
    }
    if (to !== resultBytes) throw corrupt("delta: result of another size");
  }

  private startOutput(): void {
    // Scratch may still hold the previous buffer.
    if (this.output.length === 0) this.output = new Uint8Array(FILE_BYTES);
    this.outputBytes = 0;
    this.writtenBytes = 0;
    const blockBytes = this.blocks.size * BLOCK_BYTES;
    this.peakBytes = Math.max(this.peakBytes, FILE_BYTES + ENTRY_STREAM_BYTES + blockBytes);
  }

  /** Appends to the output buffer if it has room; false otherwise. */
  private putNow(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.outputBytes + end - start > FILE_BYTES) return false;
    this.output.set(bytes.subarray(start, end), this.outputBytes);
    this.outputBytes += end - start;
    return true;
  }

  private async put(
    bytes: Uint8Array,
    start: number,
    end: number,
    isKept: boolean,
    isHashed = false,
  ): Promise<void> {
    for (let at = start; at < end;) {
      if (this.outputBytes === FILE_BYTES) {
        if (isHashed) this.hasher.update(this.output);
        if (isKept) await this.writeFile();
        this.outputBytes = 0;
      }
      const taken = Math.min(end - at, FILE_BYTES - this.outputBytes);
      this.putNow(bytes, at, at + taken);
      at += taken;
    }
  }

  private async writeFile(): Promise<void> {
    const file = this.output.subarray(0, this.outputBytes);
    await this.scratch.write(this.files++, file);
    this.writtenBytes += file.length;
    this.spilledBytes += file.length;
    this.output = new Uint8Array(FILE_BYTES);
  }

  private async finish(node: number, firstFile: number): Promise<void> {
    if (this.outputBytes > 0) await this.writeFile();
    this.contents.set(node, { sizeBytes: this.writtenBytes, firstFile });
  }

  private cachedBlock({ firstFile }: LargeContent, block: number): Uint8Array | undefined {
    return this.blocks.get(blockKey(firstFile, block));
  }

  private async loadBlock(
    { sizeBytes, firstFile }: LargeContent,
    block: number,
  ): Promise<Uint8Array> {
    const [oldest] = this.blocks.keys();
    if (oldest !== undefined && this.blocks.size >= BLOCKS_MAX) this.blocks.delete(oldest);
    const start = block * BLOCK_BYTES;
    const end = Math.min(sizeBytes, start + BLOCK_BYTES);
    const file = Math.floor(start / FILE_BYTES);
    const fileStart = file * FILE_BYTES;
    const bytes = await this.scratch.read(firstFile + file, start - fileStart, end - fileStart);
    this.loadedBytes += bytes.length;
    this.blocks.set(blockKey(firstFile, block), bytes);
    const blockBytes = this.blocks.size * BLOCK_BYTES;
    this.peakBytes = Math.max(this.peakBytes, FILE_BYTES + ENTRY_STREAM_BYTES + blockBytes);
    return bytes;
  }
}

/** Contents never share a file, so the number of a block among all files identifies it. */
const blockKey = (firstFile: number, block: number): number =>
  (firstFile - FIRST_FILE) * (FILE_BYTES / BLOCK_BYTES) + block;

/**
 * The inflated instructions of a delta, buffered so that the next instruction is always complete.
 */
class DeltaInput {
  bytes: Uint8Array = new Uint8Array(0);
  at = 0;
  private readonly pieces: AsyncGenerator<Uint8Array>;
  private isDone = false;

  constructor(pieces: AsyncGenerator<Uint8Array>) {
    this.pieces = pieces;
  }

  get leftBytes(): number {
    return this.bytes.length - this.at;
  }

  /** Reads until a complete instruction is buffered, or the delta ends. */
  async fill(): Promise<void> {
    while (!this.isDone && this.leftBytes < INSTRUCTION_BYTES_MAX) {
      const { value, done } = await this.pieces.next();
      if (done) {
        this.isDone = true;
        return;
      }
      const joined = new Uint8Array(this.leftBytes + value.length);
      joined.set(this.bytes.subarray(this.at));
      joined.set(value, this.leftBytes);
      this.bytes = joined;
      this.at = 0;
    }
  }

  async close(): Promise<void> {
    await this.pieces.return(undefined);
  }
}
