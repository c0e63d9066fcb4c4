import type { FileEntry, Reader } from "@zip.js/zip.js/lib/zip-core-native.js";

import type { ByteRange } from "./byte-range.ts";
import { Failure, malformed, tooLarge } from "./failure.ts";
import { requireEntryPath } from "./archive-path.ts";
import { type ArchiveSource, readSmallPieces, splitPiece } from "./archive-source.ts";
import { pause } from "./time-slice.ts";
import { toPieceStream } from "./piece-stream.ts";
import { UNPACKED_BYTES_FREE, UNPACKED_RATIO_MAX } from "./unpacked-size.ts";

/** A file in a zip archive. */
export interface ZipFile {
  /** Relative. */
  readonly path: string;
  /** Bytes of the content, as the archive declares. `read` refuses content of another size. */
  readonly sizeBytes: number;
  readonly isExecutable: boolean;
  /**
   * Reads the content, and checks it by its CRC and its local header.
   *
   * @throws Failure `too_large` beyond `bytesMax`; `malformed` for a broken content.
   */
  read(bytesMax: number): Promise<Uint8Array>;
  /**
   * Streams the content, of which nothing is held in memory as a whole. Its CRC and its size are
   * known to be right only at its end.
   *
   * @throws Failure `malformed` for a broken content, at the latest at its end.
   */
  open(): AsyncGenerator<Uint8Array, void>;
}

/** The limits of an archive, and the files that are read. */
export interface ZipOptions {
  readonly entriesMax?: number;
  /** Whether a file's content is read or streamed; all by default. */
  readonly isRead?: (path: string) => boolean;
  /** Maximum bytes of all contents together. */
  readonly unpackedBytesMax?: number;
  /** Gets the path of each folder that has an entry of its own, which ends in a slash. */
  readonly onFolder?: (path: string) => void;
}

const ENTRIES_MAX = 100_000;
/**
 * Files whose contents are read: the library holds 8 KB in memory for each, of the 128 MB that a
 * Worker has.
 */
const READ_FILES_MAX = 5000;
/** Maximum bytes of the archive's directory. */
const DIRECTORY_BYTES_MAX = 32 * 1024 * 1024;
/**
 * The end of an archive that is read at once: most directories lie there, and small archives
 * wholly.
 */
const TAIL_BYTES = 128 * 1024;
const LOCAL_HEADER_BYTES = 30;
/** Steps to read an entry of the directory, and to compare it with the others. */
const ENTRY_STEPS = 4000;
const COMPARED_STEPS = 40;
/** Steps to unpack and check a byte. */
const BYTE_STEPS = 1;

const STORED = 0;
const DEFLATED = 8;
/** The most that deflate expands: 258 bytes from two bits. */
const DEFLATE_RATIO_MAX = 1032;

/**
 * Opens a zip archive: reads its directory and checks the entries.
 *
 * SECURITY: refuses an archive that readers understand differently, whose entries overlap or claim
 * more than they can hold, that unpacks to too much for its size, and paths that leave its folder,
 * links and encrypted entries.
 *
 * @returns The files, in the order of the directory, without folders. Contents are not read yet.
 * @throws Failure `malformed` and `too_large`. An error of the source is thrown unchanged.
 * @see PKWARE's APPNOTE.TXT.
 */
export async function openZip(
  source: ArchiveSource,
  {
    entriesMax = ENTRIES_MAX,
    isRead = () => true,
    unpackedBytesMax = Number.POSITIVE_INFINITY,
    onFolder,
  }: ZipOptions = {},
): Promise<ZipFile[]> {
  // On first use, since it would be 4 % of the start-up.
  const { ZipReader } = await import("./zip-library.ts");
  const reader = new SourceReader(source);
  const options = { strictness: "strict", filenameValidation: "tolerant" } as const;
  const zip = new ZipReader(reader as unknown as Reader<unknown>, options);
  const files: Listed[] = [];
  let count = 0;
  let readCount = 0;
  await reader.guard(async () => {
    for await (const entry of zip.getEntriesGenerator()) {
      const pausing = pause(ENTRY_STEPS);
      if (pausing) await pausing;
      if (++count > entriesMax) throw tooLarge(`the archive has more than ${entriesMax} entries`);
      requireEntryPath(entry.filename);
      if (entry.symlink || entry.encrypted) {
        throw malformed("the archive has an entry that is a link or encrypted");
      }
      if (entry.directory) {
        onFolder?.(entry.filename);
        continue;
      }
      const isSelected = isRead(entry.filename);
      if (isSelected && ++readCount > READ_FILES_MAX) {
        throw tooLarge(`the archive has more than ${READ_FILES_MAX} files that are read`);
      }
      files.push(toListed(entry, isSelected));
    }
  });
  requireSizes(files, source.sizeBytes, unpackedBytesMax);
  await pause(COMPARED_STEPS * files.length);
  return files.map((file) => ({
    path: file.path,
    sizeBytes: file.uncompressedSize,
    isExecutable: file.isExecutable,
    read: (bytesMax) => readContent(reader, entryOf(file), bytesMax),
    open: () => streamContent(reader, entryOf(file)),
  }));
}

/** An entry of the directory. */
interface Listed {
  readonly path: string;
  readonly isExecutable: boolean;
  readonly compressionMethod: number;
  readonly compressedSize: number;
  readonly uncompressedSize: number;
  /** Where its local header begins, and at least how many bytes that has. */
  readonly offset: number;
  readonly headerBytes: number;
  /** Undefined for a file that is not read. */
  readonly entry: FileEntry | undefined;
}

const toListed = (entry: FileEntry, isSelected: boolean): Listed => ({
  path: entry.filename,
  isExecutable: entry.executable,
  compressionMethod: entry.compressionMethod,
  compressedSize: entry.compressedSize,
  uncompressedSize: entry.uncompressedSize,
  offset: entry.offset,
  headerBytes: LOCAL_HEADER_BYTES + entry.rawFilename.length,
  entry: isSelected ? entry : undefined,
});

function entryOf({ path, entry }: Listed): FileEntry {
  if (!entry) throw new Error(`${path} is read, but was not to be`);
  return entry;
}

/** Checks that the sizes in the directory are possible. */
function requireSizes(
  files: readonly Listed[],
  archiveBytes: number,
  unpackedBytesMax: number,
): void {
  let total = 0;
  for (const { compressionMethod, compressedSize, uncompressedSize } of files) {
    const isPossible =
      compressionMethod === STORED
        ? compressedSize === uncompressedSize
        : compressionMethod === DEFLATED && uncompressedSize <= compressedSize * DEFLATE_RATIO_MAX;
    if (!isPossible) {
      throw malformed(
        "the archive has an entry that claims more than it holds, or of a method other than deflate",
      );
    }
    total += uncompressedSize;
  }
  if (total > unpackedBytesMax) {
    throw tooLarge(`the archive unpacks to more than ${unpackedBytesMax} bytes`);
  }
  if (total > Math.max(UNPACKED_BYTES_FREE, archiveBytes * UNPACKED_RATIO_MAX)) {
    throw tooLarge("the archive unpacks to too much for its size");
  }
  let end = 0;
  for (const { offset, headerBytes, compressedSize } of files.toSorted(
    (a, b) => a.offset - b.offset,
  )) {
    if (offset < end) throw malformed("the archive has entries that overlap");
    end = offset + headerBytes + compressedSize;
  }
  if (end > archiveBytes) throw malformed("the archive has an entry that lies outside of it");
}

async function readContent(
  reader: SourceReader,
  file: FileEntry,
  bytesMax: number,
): Promise<Uint8Array> {
  const { filename, uncompressedSize } = file;
  if (uncompressedSize > bytesMax) throw tooLarge(`${filename} has more than ${bytesMax} bytes`);
  const bytes = new Uint8Array(uncompressedSize);
  let at = 0;
  const output = new WritableStream<Uint8Array>({
    async write(piece) {
      await pause(BYTE_STEPS * piece.length);
      if (at + piece.length > bytes.length) throw malformed(`${filename} is larger than it claims`);
      bytes.set(piece, at);
      at += piece.length;
    },
  });
  const options = { checkCrc32: true, useWebWorkers: false, useCompressionStream: true };
  await reader.guard(() => file.getData(output, options));
  return bytes;
}

async function* streamContent(
  reader: SourceReader,
  file: FileEntry,
): AsyncGenerator<Uint8Array, void> {
  let controller: TransformStreamDefaultController<Uint8Array> | undefined;
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>({
    start(given) {
      controller = given;
    },
  });
  const options = { checkCrc32: true, useWebWorkers: false, useCompressionStream: true };
  const work = reader.guard(() => file.getData(writable, options));
  // Its failure ends the stream, and is thrown in its own words below.
  work.catch((error: unknown) => controller?.error(error));
  let sizeBytes = 0;
  const pieces = readable.getReader();
  try {
    for (;;) {
      const { value, done } = await pieces.read().catch(() => ({ value: undefined, done: true }));
      if (done || !value) break;
      await pause(BYTE_STEPS * value.length);
      sizeBytes += value.length;
      if (sizeBytes > file.uncompressedSize) {
        throw malformed(`${file.filename} is larger than it claims`);
      }
      yield value;
    }
    await work;
    if (sizeBytes < file.uncompressedSize) {
      throw malformed(`${file.filename} is smaller than it claims`);
    }
  } finally {
    // The caller left: the stream notifies its reader.
    await pieces.cancel().catch(() => undefined);
  }
}

/** A source in the form that the library reads. */
class SourceReader {
  readonly size: number;
  private readonly source: ArchiveSource;
  private tail: Promise<Uint8Array> | undefined;
  private fault: { readonly error: unknown } | undefined;

  constructor(source: ArchiveSource) {
    this.source = source;
    this.size = source.sizeBytes;
  }

  /**
   * Runs a function of the library. Its errors are refusals, unless the source or this file threw
   * them.
   */
  async guard(run: () => Promise<unknown>): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (this.fault) throw this.fault.error;
      if (error instanceof Failure) throw error;
      throw malformed(
        "the file is no zip archive, or broken, or readers may understand it differently",
      );
    }
  }

  async readUint8Array(offset: number, length: number): Promise<Uint8Array> {
    const start = Math.min(Math.max(0, offset), this.size);
    const end = Math.min(start + length, this.size);
    if (end - start > DIRECTORY_BYTES_MAX) throw tooLarge("the archive's directory is too large");
    if (start === end) return new Uint8Array();
    return this.watch(async () => {
      const tailStart = Math.max(0, this.size - TAIL_BYTES);
      if (start < tailStart) return this.source.read({ start, end });
      this.tail ??= this.source.read({ start: tailStart, end: this.size });
      return (await this.tail).slice(start - tailStart, end - tailStart);
    });
  }

  createReadable({ offset, size }: { offset: number; size: number }): ReadableStream<Uint8Array> {
    const end = Math.min(offset + size, this.size);
    return toPieceStream(this.readRange({ start: offset, end })).stream;
  }

  private async *readRange(range: ByteRange): AsyncGenerator<Uint8Array> {
    if (range.start >= range.end) return;
    if (range.start >= this.size - TAIL_BYTES) {
      yield* splitPiece(await this.readUint8Array(range.start, range.end - range.start));
      return;
    }
    const pieces = readSmallPieces(await this.watch(() => this.source.open(range)));
    try {
      for (;;) {
        const { value, done } = await this.watch(() => pieces.next());
        if (done) return;
        yield value;
      }
    } finally {
      await pieces.return(undefined);
    }
  }

  private async watch<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      this.fault = { error };
      throw error;
    }
  }
}
