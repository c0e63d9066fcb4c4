import { type Budget, UNLIMITED } from "../budget.ts";
import { type ByteText, byteTextBytes } from "../byte-text.ts";
import { isValidUtf8 } from "../byte-text.ts";
import type { Compressor } from "../codec.ts";
import { isBinary } from "../diff/line-diff.ts";
import { crc32 } from "../hash/crc32.ts";
import { isSubmoduleMode, isSymlinkMode, isTreeMode } from "../object/tree.ts";
import {
  DEFLATED_BYTE_STEPS,
  DEFLATED_TOGETHER,
  deflateInPieces,
} from "../zlib/deflate-in-pieces.ts";
import { type ArchiveEntry, type ArchiveHead, exactSeconds } from "./archive-entry.ts";
import { PieceJoiner } from "./piece-joiner.ts";

const LOCAL_HEADER = 0x04034b50;
const DATA_DESCRIPTOR = 0x08074b50;
const CENTRAL_HEADER = 0x02014b50;
const END = 0x06054b50;
const END_64 = 0x06064b50;
const END_64_LOCATOR = 0x07064b50;

const VERSION = 10;
/** The version that a reader must support for 64-bit sizes. */
const VERSION_64 = 45;
/** Marks an entry as made on Unix, so that readers use its file mode. */
const MADE_ON_UNIX = 0x0317;

const FLAG_DESCRIPTOR = 1 << 3;
const FLAG_UTF8 = 1 << 11;

const STORED = 0;
const DEFLATED = 8;

const EXTRA_TIME = 0x5455;
const EXTRA_64 = 0x0001;

const MAX_16 = 0xffff;
const MAX_32 = 0xffffffff;

const ATTRIBUTE_DIRECTORY = 16;

/** Steps to write the headers of an entry. */
const ENTRY_STEPS = 1500;

/**
 * Writes entries as a zip file. Readers see the same metadata and contents as in the output of
 * `git archive --format=zip`.
 *
 * Holds the directory header of each entry until the end: about 70 bytes plus its path.
 *
 * @see git's archive-zip.c; APPNOTE.TXT, "Overall .ZIP file format".
 */
export async function* formatZip(
  head: ArchiveHead,
  entries: AsyncIterable<ArchiveEntry>,
  compressor: Compressor,
  budget: Budget = UNLIMITED,
): AsyncGenerator<Uint8Array> {
  const writer = new ZipWriter(head, compressor, budget);
  for await (const entry of entries) yield* writer.write(entry);
  yield* writer.finish();
}

/** The fields in both headers of an entry. */
interface EntryFields {
  readonly path: Uint8Array;
  flags: number;
  method: number;
  crc: number;
  compressedBytes: number;
  sizeBytes: number;
}

class ZipWriter {
  private readonly head: ArchiveHead;
  private readonly compressor: Compressor;
  private readonly budget: Budget;
  private readonly dosTime: number;
  private readonly dosDate: number;
  private readonly output = new PieceJoiner();
  private readonly directory = new PieceJoiner();
  private readonly directoryPieces: Uint8Array[] = [];
  private entryCount = 0;
  private madeOn = 0;

  constructor(head: ArchiveHead, compressor: Compressor, budget: Budget) {
    this.budget = budget;
    this.head = head;
    this.compressor = compressor;
    const { time, date } = toDosTime(head.timeSeconds);
    this.dosTime = time;
    this.dosDate = date;
  }

  async *write(entry: ArchiveEntry): AsyncGenerator<Uint8Array> {
    const { mode, content } = entry;
    await this.budget.pause(ENTRY_STEPS);
    const offset = this.output.sizeBytes;
    const fields: EntryFields = {
      path: byteTextBytes(entry.path),
      flags: isUtf8Name(entry.path) ? FLAG_UTF8 : 0,
      method: STORED,
      crc: 0,
      compressedBytes: 0,
      sizeBytes: 0,
    };
    let isText = false;
    if (content instanceof Uint8Array) {
      isText = hasContent(mode) && !(entry.isBinary ?? isBinary(content));
      await this.writeBuffered(fields, content, !isSymlinkMode(mode));
      if (this.output.isFull) yield this.output.take();
    } else {
      isText = yield* this.writeStream(fields, entry, content);
    }
    this.addToDirectory(fields, mode, isText, offset);
  }

  private async writeBuffered(
    fields: EntryFields,
    content: Uint8Array,
    isDeflated: boolean,
  ): Promise<void> {
    fields.crc = crc32(content);
    fields.sizeBytes = content.length;
    let data = content;
    if (isDeflated && content.length > 0) {
      const deflated = await this.deflate(content);
      if (deflated.length < content.length) {
        data = deflated;
        fields.method = DEFLATED;
      }
    }
    fields.compressedBytes = data.length;
    this.output.push(this.localHeader(fields, new Uint8Array(0)));
    this.output.push(data);
  }

  private async deflate(content: Uint8Array): Promise<Uint8Array> {
    if (content.length > DEFLATED_TOGETHER) {
      return deflateInPieces(content, this.compressor.open("raw"), this.budget);
    }
    await this.budget.pause(DEFLATED_BYTE_STEPS * content.length);
    return this.compressor.deflateRaw(content);
  }

  /**
   * Writes a content of which only the size is known in advance: its checksum and sizes follow it
   * in a data descriptor. Returns whether the content is text.
   */
  private async *writeStream(
    fields: EntryFields,
    entry: ArchiveEntry,
    content: AsyncIterable<Uint8Array>,
  ): AsyncGenerator<Uint8Array, boolean> {
    const { output } = this;
    // Deflated data may be slightly longer than the content.
    const is64 = entry.sizeBytes * 1.01 + MAX_16 > MAX_32;
    fields.flags |= FLAG_DESCRIPTOR;
    fields.method = DEFLATED;
    output.push(this.localHeader(fields, is64 ? formatExtra64([0, 0]) : new Uint8Array(0), is64));
    const start = output.sizeBytes;
    const deflating = this.compressor.open("raw");
    let isText: boolean | undefined;
    try {
      for await (const piece of content) {
        await this.budget.pause(DEFLATED_BYTE_STEPS * piece.length);
        isText ??= !(entry.isBinary ?? isBinary(piece));
        fields.crc = crc32(piece, 0, piece.length, fields.crc);
        fields.sizeBytes += piece.length;
        for (const bytes of await deflating.push(piece)) output.push(bytes);
        if (output.isFull) yield output.take();
      }
      for (const bytes of await deflating.finish()) output.push(bytes);
    } finally {
      deflating.close();
    }
    fields.compressedBytes = output.sizeBytes - start;
    output.push(formatDescriptor(fields, is64));
    return isText ?? true;
  }

  private localHeader(
    { path, flags, method, crc, compressedBytes, sizeBytes }: EntryFields,
    extra64: Uint8Array,
    is64 = false,
  ): Uint8Array {
    const time = formatExtraTime(this.head.timeSeconds);
    const record = new Record(30 + path.length + extra64.length + time.length);
    record
      .u32(LOCAL_HEADER)
      .u16(is64 ? VERSION_64 : VERSION)
      .u16(flags)
      .u16(method);
    record.u16(this.dosTime).u16(this.dosDate).u32(crc);
    record.u32(is64 ? MAX_32 : compressedBytes).u32(is64 ? MAX_32 : sizeBytes);
    record.u16(path.length).u16(extra64.length + time.length);
    return record.put(path).put(time).put(extra64).bytes;
  }

  private addToDirectory(
    { path, flags, method, crc, compressedBytes, sizeBytes }: EntryFields,
    mode: number,
    isText: boolean,
    offset: number,
  ): void {
    const madeOn = isSymlinkMode(mode) || isExecutable(mode) ? MADE_ON_UNIX : 0;
    this.madeOn = Math.max(this.madeOn, madeOn);
    this.entryCount++;
    const large = [sizeBytes, compressedBytes, offset].filter((value) => value >= MAX_32);
    const extra64 = large.length > 0 ? formatExtra64(large) : new Uint8Array(0);
    const time = formatExtraTime(this.head.timeSeconds);
    const record = new Record(46 + path.length + time.length + extra64.length);
    record
      .u32(CENTRAL_HEADER)
      .u16(madeOn)
      .u16(large.length > 0 ? VERSION_64 : VERSION);
    record.u16(flags).u16(method).u16(this.dosTime).u16(this.dosDate).u32(crc);
    record.u32(Math.min(compressedBytes, MAX_32)).u32(Math.min(sizeBytes, MAX_32));
    record
      .u16(path.length)
      .u16(time.length + extra64.length)
      .u16(0)
      .u16(0);
    record
      .u16(isText ? 1 : 0)
      .u32(toAttributes(mode))
      .u32(Math.min(offset, MAX_32));
    this.directory.push(record.put(path).put(time).put(extra64).bytes);
    if (this.directory.isFull) this.directoryPieces.push(this.directory.take());
  }

  *finish(): Generator<Uint8Array> {
    const { entryCount, directory, directoryPieces, head } = this;
    const start = this.output.sizeBytes;
    const comment = byteTextBytes(head.commitOid as ByteText);
    directoryPieces.push(directory.take());
    yield this.output.take();
    yield* directoryPieces;
    const { sizeBytes } = directory;
    const is64 = entryCount > MAX_16 || start > MAX_32 || sizeBytes > MAX_32;
    const record = new Record((is64 ? 56 + 20 : 0) + 22 + comment.length);
    if (is64) {
      record.u32(END_64).u64(44).u16(this.madeOn).u16(VERSION_64).u32(0).u32(0);
      record.u64(entryCount).u64(entryCount).u64(sizeBytes).u64(start);
      record
        .u32(END_64_LOCATOR)
        .u32(0)
        .u64(start + sizeBytes)
        .u32(1);
    }
    const count = Math.min(entryCount, MAX_16);
    record.u32(END).u16(0).u16(0).u16(count).u16(count);
    record.u32(Math.min(sizeBytes, MAX_32)).u32(Math.min(start, MAX_32)).u16(comment.length);
    yield record.put(comment).bytes;
  }
}

const hasContent = (mode: number): boolean => !isTreeMode(mode) && !isSubmoduleMode(mode);

const isExecutable = (mode: number): boolean => hasContent(mode) && (mode & 0o111) !== 0;

/**
 * The external attributes of an entry: for executables and symlinks, the mode in the upper half.
 */
function toAttributes(mode: number): number {
  if (!hasContent(mode)) return ATTRIBUTE_DIRECTORY;
  if (isSymlinkMode(mode)) return (mode | 0o777) * 0x10000;
  return isExecutable(mode) ? mode * 0x10000 : 0;
}

const isAscii = (text: ByteText): boolean => /^[\0-\x7f]*$/.test(text);

const isUtf8Name = (path: ByteText): boolean => !isAscii(path) && isValidUtf8(path);

function formatDescriptor(
  { crc, compressedBytes, sizeBytes }: EntryFields,
  is64: boolean,
): Uint8Array {
  const record = new Record(is64 ? 24 : 16).u32(DATA_DESCRIPTOR).u32(crc);
  if (is64) return record.u64(compressedBytes).u64(sizeBytes).bytes;
  return record.u32(compressedBytes).u32(sizeBytes).bytes;
}

function formatExtra64(values: readonly number[]): Uint8Array {
  const record = new Record(4 + 8 * values.length).u16(EXTRA_64).u16(8 * values.length);
  for (const value of values) record.u64(value);
  return record.bytes;
}

/** The extra field with a time in seconds since 1970. */
function formatExtraTime(seconds: number): Uint8Array {
  return new Record(9)
    .u16(EXTRA_TIME)
    .u16(5)
    .u8(1)
    .u32(Number(exactSeconds(seconds) & 0xffffffffn)).bytes;
}

/** A UTC time in DOS format: a resolution of two seconds, from 1980 to 2107. */
function toDosTime(seconds: number): { time: number; date: number } {
  const first = Date.UTC(1980, 0, 1);
  const last = Date.UTC(2107, 11, 31, 23, 59, 58);
  const at = new Date(Math.min(Math.max(seconds * 1000, first), last));
  const time = at.getUTCHours() * 2048 + at.getUTCMinutes() * 32 + (at.getUTCSeconds() >> 1);
  const date = (at.getUTCFullYear() - 1980) * 512 + (at.getUTCMonth() + 1) * 32 + at.getUTCDate();
  return { time, date };
}

/** Writes consecutive fields in little-endian order into a record of fixed length. */
class Record {
  readonly bytes: Uint8Array;
  private readonly view: DataView;
  private at = 0;

  constructor(length: number) {
    this.bytes = new Uint8Array(length);
    this.view = new DataView(this.bytes.buffer);
  }

  u8(value: number): this {
    this.view.setUint8(this.at++, value);
    return this;
  }

  u16(value: number): this {
    this.view.setUint16(this.at, value, true);
    this.at += 2;
    return this;
  }

  u32(value: number): this {
    this.view.setUint32(this.at, value, true);
    this.at += 4;
    return this;
  }

  u64(value: number): this {
    this.view.setBigUint64(this.at, BigInt(value), true);
    this.at += 8;
    return this;
  }

  put(bytes: Uint8Array): this {
    this.bytes.set(bytes, this.at);
    this.at += bytes.length;
    return this;
  }
}
