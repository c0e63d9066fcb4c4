import { OID_BYTES } from "../oid.ts";
import type { DeltaHeader } from "./delta.ts";

/** The exports of wasm/kernel.ts. All addresses are offsets in its memory, which never grows. */
export interface KernelExports {
  readonly memory: { readonly buffer: ArrayBufferLike };
  inputStart(): number;
  inputBytes(): number;
  outputStart(): number;
  contentBytesMax(): number;
  recordsStart(): number;
  /** Returns the number of records, of 64 bytes each. */
  scan(start: number, end: number, countMax: number, hashBytesMax: number): number;
  /** Whether the last `scan` ended because its input did. */
  isCutOff(): number;
  /** Returns the length of the stream, 0 if it is not one of this size. */
  inflateOne(inputBytes: number, sizeBytes: number): number;
  /**
   * Returns 0 if the delta does not fit, 1 if the object is in the output, and its id in the first
   * record.
   */
  resolve(
    baseBytes: number,
    deltaStart: number,
    deltaEnd: number,
    resultBytes: number,
    kind: number,
    hashBytesMax: number,
  ): number;
}

/**
 * Contents up to this size are hashed by the kernel, larger ones by the host: measured in workerd,
 * where the two are equal at 1.3 KB.
 */
const HASH_BYTES_MAX = 1536;
/**
 * Size of a slice in bytes after an entry that the kernel did not take: many such entries in a row
 * would else cost a copy of a long slice each.
 */
const SHORT_SLICE_BYTES = 16 * 1024;
/** Words of a record. */
const RECORD_WORDS = 16;
/** Word of a record at which an id starts. */
const RECORD_OID_WORD = 9;
/** Bytes that the kernel may read behind its input. */
const SLACK_BYTES = 16;

/** An entry that the kernel read. Offsets are those in the bytes that were given. */
export interface KernelEntry {
  type: number;
  /** Size of the content or delta, in bytes. */
  sizeBytes: number;
  start: number;
  /** End of the entry's header, in front of which the id of a `REF_DELTA`'s base stands. */
  dataStart: number;
  end: number;
  crc: number;
  /** For an `OFS_DELTA`: distance to the start of its base, in bytes. */
  baseDistance: number;
  /** True if `copyOid` has the id. Otherwise the caller hashes the content. */
  isHashed: boolean;
}

/**
 * Inflates entries of a pack, applies deltas and hashes objects in WebAssembly: three to five times
 * as fast as the engine's own `Inflater`, `applyDelta` and `Sha1`.
 *
 * It takes only what is in memory as a whole, is valid, and has at most `contentBytesMax` bytes. An
 * entry that it does not take is no error: the caller processes it by the engine's own code, which
 * decides what is wrong with it, if anything.
 *
 * Contents are views of the kernel's memory, valid until its next call. It keeps nothing between
 * two calls, so that one kernel serves all pushes of an isolate.
 */
export class PackKernel {
  private readonly exports: KernelExports;
  private readonly bytes: Uint8Array;
  private readonly words: Uint32Array;
  private readonly inputStart: number;
  private readonly inputBytes: number;
  private readonly outputStart: number;
  private readonly contentBytesMax: number;
  private readonly firstRecord: number;
  private record = 0;
  private readonly entry: KernelEntry = {
    type: 0,
    sizeBytes: 0,
    start: 0,
    dataStart: 0,
    end: 0,
    crc: 0,
    baseDistance: 0,
    isHashed: false,
  };

  constructor(exports: KernelExports) {
    this.exports = exports;
    this.bytes = new Uint8Array(exports.memory.buffer);
    this.words = new Uint32Array(exports.memory.buffer);
    this.inputStart = exports.inputStart();
    this.inputBytes = exports.inputBytes();
    this.outputStart = exports.outputStart();
    this.contentBytesMax = exports.contentBytesMax();
    this.firstRecord = exports.recordsStart() / 4;
  }

  /** Size of its memory in bytes. */
  get heldBytes(): number {
    return this.bytes.length;
  }

  /**
   * Reads the entries from `at` on, as far as they are complete and usual, and fit into a slice.
   *
   * @param slice State of the caller's pack for the next call.
   * @param visit Called for each entry. The entry and its content are valid only during the call.
   * @returns Offset after the last entry; `at` if there is none.
   */
  scan(
    bytes: Uint8Array,
    at: number,
    countMax: number,
    slice: KernelSlice,
    visit: (entry: KernelEntry, content: Uint8Array) => void,
  ): number {
    const { entry, inputBytes, words } = this;
    let count = 0;
    let length = Math.min(bytes.length - at, slice.isShort ? SHORT_SLICE_BYTES : inputBytes);
    count = this.scanSlice(bytes, at, length, countMax);
    let isCutOff = this.exports.isCutOff() !== 0;
    if (count === 0 && length === SHORT_SLICE_BYTES && isCutOff) {
      length = Math.min(bytes.length - at, inputBytes);
      count = this.scanSlice(bytes, at, length, countMax);
      isCutOff = this.exports.isCutOff() !== 0;
    }
    const isWhole = at + length === bytes.length;

    const moved = at - this.inputStart;
    let end = at;
    for (let index = 0; index < count; index++) {
      const record = this.firstRecord + RECORD_WORDS * index;
      this.record = record;
      entry.type = words[record] as number;
      entry.sizeBytes = words[record + 1] as number;
      entry.start = (words[record + 2] as number) + moved;
      entry.dataStart = (words[record + 3] as number) + moved;
      entry.end = (words[record + 4] as number) + moved;
      entry.crc = words[record + 5] as number;
      const start = words[record + 6] as number;
      entry.isHashed = words[record + 7] === 1;
      entry.baseDistance = words[record + 8] as number;
      end = entry.end;
      visit(entry, this.bytes.subarray(start, start + entry.sizeBytes));
    }
    slice.awaitsInput = isWhole && isCutOff && bytes.length - end < inputBytes;
    slice.isShort = count === 0 && !slice.awaitsInput;
    return end;
  }

  private scanSlice(bytes: Uint8Array, at: number, length: number, countMax: number): number {
    const { exports, inputStart } = this;
    this.bytes.set(bytes.subarray(at, at + length), inputStart);
    return exports.scan(inputStart, inputStart + length, countMax, HASH_BYTES_MAX);
  }

  /** Writes the raw id of the visited or resolved object to `oids`. */
  copyOid(oids: Uint8Array, offset: number): void {
    const from = 4 * (this.record + RECORD_OID_WORD);
    for (let at = 0; at < OID_BYTES; at++) oids[offset + at] = this.bytes[from + at] as number;
  }

  /**
   * Inflates the zlib stream from `start` to `end`.
   *
   * @returns A view of the content; undefined if the kernel does not take the stream.
   */
  inflate(
    bytes: Uint8Array,
    start: number,
    end: number,
    sizeBytes: number,
  ): Uint8Array | undefined {
    const length = end - start;
    const isLong = length > this.inputBytes || sizeBytes > this.contentBytesMax;
    if (length === 0 || isLong) return undefined;
    this.bytes.set(bytes.subarray(start, end), this.inputStart);
    if (this.exports.inflateOne(length, sizeBytes) !== length) return undefined;
    return this.bytes.subarray(this.outputStart, this.outputStart + sizeBytes);
  }

  /**
   * Makes an object from a base and a delta.
   *
   * @param kind The kind as a number, for the object's id.
   * @returns A view of the object; undefined if the kernel does not take it.
   */
  resolve(
    base: Uint8Array,
    delta: Uint8Array,
    { baseBytes, resultBytes, next }: DeltaHeader,
    kind: number,
  ): Uint8Array | undefined {
    const { exports, inputStart, outputStart } = this;
    const deltaOffset = base.length + SLACK_BYTES;
    if (base.length !== baseBytes) return undefined;
    if (resultBytes > this.contentBytesMax || deltaOffset + delta.length > this.inputBytes)
      return undefined;
    this.bytes.set(base, inputStart);
    this.bytes.set(delta, inputStart + deltaOffset);
    const isTaken = exports.resolve(
      base.length,
      deltaOffset + next,
      deltaOffset + delta.length,
      resultBytes,
      kind,
      HASH_BYTES_MAX,
    );
    if (!isTaken) return undefined;
    this.record = this.firstRecord - RECORD_OID_WORD;
    return this.bytes.subarray(outputStart, outputStart + resultBytes);
  }

  /** Whether bytes are in the kernel's memory. */
  owns({ buffer }: Uint8Array): boolean {
    return buffer === this.bytes.buffer;
  }

  /** True if `resolve` hashed an object of this size. */
  hashes(resultBytes: number): boolean {
    return resultBytes <= HASH_BYTES_MAX;
  }
}

/** The state of `scan` for a pack. */
export interface KernelSlice {
  /** True after an entry that the kernel did not take. */
  isShort: boolean;
  /**
   * True if the entry at the offset that was returned ends behind the bytes, and may be taken with
   * those that follow.
   */
  awaitsInput: boolean;
}
