import { runNow, type Steps } from "../budget.ts";
import type { Codec, Hash } from "../codec.ts";
import { corrupt, GitError, overLimit } from "../error.ts";
import { crc32 } from "../hash/crc32.ts";
import { formatOid, OID_BYTES } from "../oid.ts";
import { ObjectHasher } from "../object/hash-object.ts";
import { BLOB, kindOf } from "../object/kind.ts";
import { Inflater, WINDOW_BYTES } from "../zlib/inflate.ts";
import { readDeltaHeader } from "./delta.ts";
import { OFS_DELTA, readEntryHeader, REF_DELTA } from "./entry-header.ts";
import { InflatedTotal } from "./inflated-total.ts";
import type { PackLimits } from "./limits.ts";
import type { KernelEntry, PackKernel } from "./pack-kernel.ts";
import { NO_ENTRY, PackTable } from "./pack-table.ts";

/** Size of the pack header in bytes: `PACK`, version and number of objects. */
export const PACK_HEADER_BYTES = 12;
/** Where the number of objects is in it, in bytes. */
export const PACK_COUNT_OFFSET = 8;

/**
 * Size of the output buffer in bytes. Larger contents that are not needed in memory stream through
 * it.
 */
const OUTPUT_BYTES = 256 * 1024;

/**
 * Maximum excess of an entry over twice its content, in bytes: no regular compressor exceeds it.
 */
const PADDING_BYTES_MAX = 64 * 1024;

/** Bytes of a chunk that are read and hashed before the scanner yields. */
const PART_BYTES = 1024 * 1024;
/**
 * Bytes of input that are inflated before the scanner yields: a stream may consist of tables of
 * codes.
 */
const INPUT_BYTES = 16 * 1024;

/**
 * Steps to read an entry: for itself, for each byte of the pack, and for each byte inflated and
 * hashed.
 */
const STEPS = { entry: 200, packedByte: 0.3, inflatedByte: 0.6 } as const;

/**
 * Fewest bytes appended to the unread rest of a chunk, to parse across the boundary of two chunks.
 */
const SEAM_BYTES = 4096;

/**
 * Size in bytes from which an entry at the end of a chunk waits for the next one, so that the
 * kernel reads it as a whole. The kernel tries it from its start again: with small chunks that
 * would cost the square of its length.
 */
const AWAITING_CHUNK_BYTES_MIN = 64 * 1024;

/**
 * Receives each commit, tree, tag or small blob that is stored whole. The content is valid only
 * during the call, and until the work that it returns is done.
 */
export type ObjectListener = (entry: number, kind: number, content: Uint8Array) => Steps | void;

/** The result of the first pass over a pack. */
export interface ScannedPack {
  readonly table: PackTable;
  /** Size of the pack with its trailer, in bytes. */
  readonly sizeBytes: number;
  /** The verified hash at the end of the pack, in hex. */
  readonly checksum: string;
  /** The sizes of the objects, to which the second pass adds what it reads. */
  readonly inflated: InflatedTotal;
}

/**
 * The first pass over a pack, fed with chunks of any size as they arrive.
 *
 * Finds and inflates every entry, and hashes every object that is not a delta. Memory is 50 bytes
 * per entry, one output buffer and at most one commit, tree or tag; blobs of any size stream
 * through. Numbers in the pack are untrusted until checked against the limits.
 *
 * @see gitformat-pack(5).
 */
export class PackScanner {
  readonly table = new PackTable();
  private readonly limits: PackLimits;
  private readonly inflated: InflatedTotal;
  private readonly listen: ObjectListener;
  private readonly hasher: ObjectHasher;
  private readonly packHash: Hash;
  private readonly kernel: PackKernel | undefined;
  private readonly kernelSlice = { isShort: false, awaitsInput: false };
  /** Whether an entry that the kernel may take with more bytes waits for them. */
  private mayAwait = false;
  private readonly inflater = new Inflater();
  private readonly buffer = new Uint8Array(OUTPUT_BYTES);

  private state: "header" | "entry" | "data" | "trailer" | "end" = "header";
  /** Number of objects that the header announces. */
  private announced = 0;
  /** Offset in the pack of the first unconsumed byte. */
  private offset = 0;
  /** Unconsumed bytes: the start of an element that is incomplete. */
  private rest = new Uint8Array(0);
  private checksum = "";

  // The entry being read.
  private entry = NO_ENTRY;
  private output = this.buffer;
  private outputOffset = 0;
  /** Bytes of the entry already removed from the output buffer. */
  private flushedBytes = 0;
  private hasDeltaSizes = false;
  /** The listener's work on the last object. */
  private listening: Steps | void = undefined;

  /** @param kernel Reads the usual entries, if given; the result is the same. */
  constructor(codec: Codec, limits: PackLimits, listen: ObjectListener, kernel?: PackKernel) {
    this.kernel = kernel;
    this.limits = limits;
    this.inflated = new InflatedTotal(limits);
    this.listen = listen;
    this.hasher = new ObjectHasher(codec);
    this.packHash = codec.createSha1();
  }

  /**
   * Memory held in bytes: table, output, unconsumed input, and the kernel, although all pushes
   * share it.
   */
  get heldBytes(): number {
    const large = this.output === this.buffer ? 0 : this.output.length;
    const shared = this.kernel?.heldBytes ?? 0;
    return this.table.heldBytes + OUTPUT_BYTES + large + this.rest.length + shared;
  }

  /**
   * Consumes the next bytes of the pack. The chunk is not retained after the work is done.
   *
   * @throws GitError `corrupt`, `unsupported` or `limit`; the scanner must not be used afterwards.
   */
  *push(chunk: Uint8Array): Steps {
    for (let at = 0; at < chunk.length; at += PART_BYTES) {
      yield* this.pushPart(chunk.subarray(at, at + PART_BYTES));
    }
  }

  private *pushPart(chunk: Uint8Array): Steps {
    let at = 0;
    const isLong = chunk.length >= AWAITING_CHUNK_BYTES_MIN;
    while (this.rest.length > 0 && at < chunk.length) {
      const { rest } = this;
      // Twice as much, so that an entry that the kernel takes whole is tried at few lengths.
      const taken = chunk.subarray(at, at + Math.max(SEAM_BYTES, rest.length));
      this.mayAwait = isLong || at + taken.length < chunk.length;
      const seam = new Uint8Array(rest.length + taken.length);
      seam.set(rest);
      seam.set(taken, rest.length);
      const consumed = yield* this.consume(seam);
      if (consumed >= rest.length) {
        at += consumed - rest.length;
        this.rest = new Uint8Array(0);
      } else {
        at += taken.length;
        this.rest = seam.slice(consumed);
      }
    }
    if (at < chunk.length) {
      this.mayAwait = isLong;
      const bytes = chunk.subarray(at);
      this.rest = bytes.slice(yield* this.consume(bytes));
    }
  }

  /**
   * Ends the input.
   *
   * @throws GitError `corrupt` if the pack is not complete.
   */
  finish(): ScannedPack {
    if (this.state !== "end") throw corrupt("pack: cut off");
    const { table, offset: sizeBytes, checksum, inflated } = this;
    return { table, sizeBytes, checksum, inflated };
  }

  /** Parses as far as possible and returns the number of bytes consumed. */
  private *consume(bytes: Uint8Array): Steps<number> {
    let at = 0;
    this.kernelSlice.awaitsInput = false;
    for (;;) {
      this.inflatedBytes = 0;
      const before = this.table.count;
      const next = this.step(bytes, at);
      const entries = this.table.count - before;
      yield STEPS.entry * entries + STEPS.inflatedByte * this.inflatedBytes;
      if (this.listening) {
        yield* this.listening;
        this.listening = undefined;
      }
      if (next === undefined) break;
      at = next;
    }
    yield STEPS.packedByte * bytes.length;
    const consumed = this.stepOffset;
    if (this.state !== "end") this.packHash.update(bytes.subarray(0, consumed));
    this.offset += consumed;
    return consumed;
  }

  /** Bytes that the last step inflated. */
  private inflatedBytes = 0;
  /** Offset in the current bytes at which the last step stopped. */
  private stepOffset = 0;

  /**
   * Parses one element of the pack. Returns the offset of the next one, or undefined if more bytes
   * are needed.
   */
  private step(bytes: Uint8Array, at: number): number | undefined {
    this.stepOffset = at;
    switch (this.state) {
      case "header": {
        if (bytes.length - at < PACK_HEADER_BYTES) return undefined;
        this.announced = readPackHeader(bytes, at);
        if (this.announced > this.limits.objectsMax) throw overLimit("pack: too many objects");
        this.table.expected = this.announced;
        this.state = this.announced === 0 ? "trailer" : "entry";
        return at + PACK_HEADER_BYTES;
      }
      case "entry": {
        const next = this.readUsualEntries(bytes, at);
        if (next !== undefined || (this.mayAwait && this.kernelSlice.awaitsInput)) return next;
        return this.startEntry(bytes, at);
      }
      case "data":
        return this.continueEntry(bytes, at);
      case "trailer": {
        if (bytes.length - at < OID_BYTES) return undefined;
        this.packHash.update(bytes.subarray(0, at));
        this.table.offsets[this.table.count] = this.offset + at;
        this.checksum = formatOid(bytes, at);
        if (formatOid(this.packHash.digest()) !== this.checksum) {
          throw corrupt("pack: checksum mismatch");
        }
        this.state = "end";
        return at + OID_BYTES;
      }
      case "end":
        if (at < bytes.length) throw corrupt("pack: bytes behind the trailer");
        return undefined;
      default:
        return this.state satisfies never;
    }
  }

  /**
   * Reads entries by the kernel, as far as it takes them.
   *
   * @returns Offset after the last one; undefined if there is none.
   */
  private readUsualEntries(bytes: Uint8Array, at: number): number | undefined {
    const { kernel, kernelSlice, table } = this;
    if (!kernel || kernelSlice.awaitsInput) return undefined;
    const countMax = this.announced - table.count;
    const next = kernel.scan(bytes, at, countMax, kernelSlice, (found, content) => {
      this.takeEntry(kernel, bytes, found, content);
    });
    if (next === at) return undefined;
    this.stepOffset = next;
    return next;
  }

  private takeEntry(
    kernel: PackKernel,
    bytes: Uint8Array,
    found: KernelEntry,
    content: Uint8Array,
  ): void {
    const { table } = this;
    const { sizeBytes, dataStart } = found;
    const offset = this.offset + found.start;
    const baseOid =
      found.type === REF_DELTA ? bytes.slice(dataStart - OID_BYTES, dataStart) : undefined;
    const entry = this.addEntry(found.type, sizeBytes, offset, found.baseDistance, baseOid);
    table.crcs[entry] = found.crc;
    this.inflatedBytes += sizeBytes;
    refusePadded(found.end - found.start, sizeBytes);
    if (table.isDelta(entry)) {
      if (!this.readDeltaSizes(content)) throw corrupt("delta: cut off");
      table.deltas.keep(entry, content);
    } else {
      const at = entry * OID_BYTES;
      if (found.isHashed) kernel.copyOid(table.oids, at);
      else this.hasher.hashInto(kindOf(found.type), content, table.oids, at);
      // At once, because the next call of the kernel overwrites the content. It has few bytes.
      const work = this.listen(entry, found.type, content);
      if (work) runNow(work);
    }
    this.endEntry();
  }

  private startEntry(bytes: Uint8Array, at: number): number | undefined {
    const header = readEntryHeader(bytes, at);
    if (!header) return undefined;
    const { type, sizeBytes, next } = header;
    const baseOid = type === REF_DELTA ? bytes.slice(header.baseOidOffset, next) : undefined;
    const offset = this.offset + at;
    const entry = this.addEntry(type, sizeBytes, offset, header.baseDistance, baseOid);

    this.output = this.buffer;
    if (!this.table.isDelta(entry)) {
      if (type !== BLOB && sizeBytes > OUTPUT_BYTES) this.output = new Uint8Array(sizeBytes);
      this.hasher.start(kindOf(type), sizeBytes);
    }
    this.outputOffset = 0;
    this.flushedBytes = 0;
    this.hasDeltaSizes = false;
    this.inflater.reset();
    this.state = "data";
    this.table.crcs[entry] = crc32(bytes, at, next);
    return next;
  }

  /** Adds an entry to the table after checking it against the limits. */
  private addEntry(
    type: number,
    sizeBytes: number,
    offset: number,
    baseDistance: number,
    baseOid: Uint8Array | undefined,
  ): number {
    const { limits, table } = this;
    const entry = table.add(type, offset, sizeBytes);
    this.entry = entry;
    this.refuseLarge(sizeBytes);
    if (type === OFS_DELTA || type === REF_DELTA) {
      if (sizeBytes > limits.deltaBytesMax) table.largeDeltas.add(entry);
      if (baseOid) {
        table.refBases.set(entry, baseOid);
      } else {
        const base = table.findOffset(offset - baseDistance);
        if (base === NO_ENTRY || base === entry) throw corrupt("pack: base at no entry");
        table.bases[entry] = base;
      }
    } else if (type !== BLOB && sizeBytes > limits.structureBytesMax) {
      const most = `one may have ${limits.structureBytesMax} at most`;
      throw overLimit(`a ${kindOf(type)} of ${sizeBytes} bytes: ${most}`);
    }
    this.inflated.add(sizeBytes, offset);
    return entry;
  }

  private continueEntry(bytes: Uint8Array, at: number): number | undefined {
    const { inflater, table, entry, output } = this;
    const sizeBytes = table.sizes[entry] as number;
    const leftBytes = sizeBytes - this.flushedBytes - this.outputOffset;
    const start = this.outputOffset;
    const outputEnd = Math.min(output.length, start + Math.min(leftBytes, OUTPUT_BYTES));
    const inputEnd = Math.min(bytes.length, at + INPUT_BYTES);
    const status = inflater.run(bytes, at, inputEnd, output, start, outputEnd);
    const next = inflater.inputOffset;
    table.crcs[entry] = crc32(bytes, at, next, table.crcs[entry]);
    this.inflatedBytes += next - at + inflater.outputOffset - start;
    this.outputOffset = inflater.outputOffset;
    this.stepOffset = next;
    this.absorb(start);

    switch (status) {
      case "need-input":
        return inputEnd < bytes.length ? next : undefined;
      case "output-full":
        if (this.isComplete(sizeBytes)) throw corrupt("pack: object longer than announced");
        if (outputEnd === output.length) this.slide();
        return next;
      case "done":
        if (!this.isComplete(sizeBytes)) throw corrupt("pack: object shorter than announced");
        refusePadded(this.offset + next - table.offset(entry), sizeBytes);
        this.finishEntry();
        return next;
      default:
        return status satisfies never;
    }
  }

  private isComplete(sizeBytes: number): boolean {
    return this.flushedBytes + this.outputOffset === sizeBytes;
  }

  /** Makes room in the output, and keeps the bytes that matches may refer to. */
  private slide(): void {
    const { output } = this;
    // The window in front was counted before: count only the new bytes.
    this.flushedBytes += this.outputOffset - WINDOW_BYTES;
    output.copyWithin(0, this.outputOffset - WINDOW_BYTES, this.outputOffset);
    this.outputOffset = WINDOW_BYTES;
  }

  /** Processes the bytes of the output from `start` on, each once. */
  private absorb(start: number): void {
    const { output, outputOffset } = this;
    if (!this.table.isDelta(this.entry)) {
      this.hasher.update(output.subarray(start, outputOffset));
    } else if (!this.hasDeltaSizes && this.flushedBytes === 0) {
      this.hasDeltaSizes = this.readDeltaSizes(output.subarray(0, outputOffset));
    }
  }

  /** Returns whether the sizes at the start of a delta are there as a whole. */
  private readDeltaSizes(delta: Uint8Array): boolean {
    const header = readDeltaHeader(delta);
    if (!header) return false;
    this.refuseLarge(header.resultBytes);
    const { deltaObjectBytesMax } = this.limits;
    if (header.baseBytes > deltaObjectBytesMax || header.resultBytes > deltaObjectBytesMax) {
      this.table.largeDeltas.add(this.entry);
    }
    this.inflated.add(header.resultBytes);
    return true;
  }

  private refuseLarge(objectBytes: number): void {
    const { objectBytesMax } = this.limits;
    if (objectBytes > objectBytesMax) {
      throw overLimit(`an object of ${objectBytes} bytes: one may have ${objectBytesMax} at most`);
    }
  }

  private finishEntry(): void {
    const { entry, output, table } = this;
    if (table.isDelta(entry)) {
      if (!this.hasDeltaSizes) throw corrupt("delta: cut off");
      if (this.flushedBytes === 0) table.deltas.keep(entry, output.subarray(0, this.outputOffset));
    } else {
      this.hasher.digestInto(table.oids, entry * OID_BYTES);
      if (this.flushedBytes === 0) {
        this.listening = this.listen(
          entry,
          table.kind(entry),
          output.subarray(0, this.outputOffset),
        );
      }
    }
    this.output = this.buffer;
    this.endEntry();
  }

  private endEntry(): void {
    this.state = this.table.count === this.announced ? "trailer" : "entry";
  }
}

/** A stream can be padded with any number of empty blocks, which no regular deflate writes. */
function refusePadded(entryBytes: number, sizeBytes: number): void {
  if (entryBytes > 2 * sizeBytes + PADDING_BYTES_MAX) throw overLimit("pack: padded entry");
}

/**
 * Parses the header of a pack and returns the announced number of objects.
 *
 * @throws GitError `corrupt` or `unsupported` for anything but a pack of version 2 or 3.
 */
function readPackHeader(bytes: Uint8Array, offset = 0): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, PACK_HEADER_BYTES);
  if (view.getUint32(0) !== 0x5041434b) throw corrupt("pack: no signature");
  const version = view.getUint32(4);
  if (version !== 2 && version !== 3) throw new GitError("unsupported", `pack version ${version}`);
  return view.getUint32(8);
}

/** Formats the header of a pack of `count` objects. */
export function formatPackHeader(count: number): Uint8Array {
  const bytes = new Uint8Array(PACK_HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, 0x5041434b);
  view.setUint32(4, 2);
  view.setUint32(8, count);
  return bytes;
}
