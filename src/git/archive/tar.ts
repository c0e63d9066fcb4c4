import { type Budget, UNLIMITED } from "../budget.ts";
import { type ByteText, byteTextBytes, readByteText } from "../byte-text.ts";
import { isRegularMode } from "../object/tree.ts";
import { isSubmoduleMode, isSymlinkMode, isTreeMode } from "../object/tree.ts";
import { type ArchiveEntry, type ArchiveHead, exactSeconds } from "./archive-entry.ts";
import { PieceJoiner } from "./piece-joiner.ts";

/** Headers and contents in a tar file start at a multiple of this, in bytes. */
const RECORD_BYTES = 512;
/** The file's length is a multiple of this, in bytes. */
const BLOCK_BYTES = 20 * RECORD_BYTES;

/** The largest number of eleven octal digits. */
const NUMBER_MAX = 0o77777777777;
const NAME_BYTES_MAX = 100;
const PREFIX_BYTES_MAX = 155;

/** Steps to write the header of an entry. */
const ENTRY_STEPS = 1500;

/** Permission bits that are removed from every entry: git's default. */
const UMASK = 0o002;

const TYPE = { file: "0", symlink: "2", directory: "5", extended: "x", global: "g" } as const;

/**
 * Writes entries as a tar file, byte for byte as `git archive --format=tar` does.
 *
 * @see git's archive-tar.c; pax(1), "ustar Interchange Format" and "pax Extended Header".
 */
export async function* formatTar(
  head: ArchiveHead,
  entries: AsyncIterable<ArchiveEntry>,
  budget: Budget = UNLIMITED,
): AsyncGenerator<Uint8Array> {
  const output = new PieceJoiner();
  const mtime = Math.min(head.timeSeconds, NUMBER_MAX);
  const comment = formatRecord("comment", head.commitOid);
  const late =
    head.timeSeconds > NUMBER_MAX
      ? formatRecord("mtime", String(exactSeconds(head.timeSeconds)))
      : "";
  output.push(formatExtension(TYPE.global, "pax_global_header", comment + late, mtime));
  for await (const entry of entries) {
    await budget.pause(ENTRY_STEPS);
    output.push(formatHead(entry, mtime));
    if (isRegularMode(entry.mode)) {
      const pieces = entry.content instanceof Uint8Array ? [entry.content] : entry.content;
      for await (const piece of pieces) {
        output.push(piece);
        if (output.isFull) yield output.take();
      }
      output.push(new Uint8Array(paddingOf(entry.sizeBytes, RECORD_BYTES)));
    }
    if (output.isFull) yield output.take();
  }
  const tail = BLOCK_BYTES - (output.sizeBytes % BLOCK_BYTES);
  // Two empty records end the file; if the last block has no room for both, a block is added.
  output.push(new Uint8Array(tail < 2 * RECORD_BYTES ? tail + BLOCK_BYTES : tail));
  yield output.take();
}

const paddingOf = (length: number, unit: number): number => (unit - (length % unit)) % unit;

/** The header of an entry, preceded by an extended header for values that do not fit. */
function formatHead(entry: ArchiveEntry, mtime: number): Uint8Array {
  const { path, oid, mode } = entry;
  let extension = "";
  const fields = { name: path as string, prefix: "", linkName: "" };
  if (path.length > NAME_BYTES_MAX) {
    const cut = findCut(path);
    if (cut > 0 && path.length - cut - 1 <= NAME_BYTES_MAX) {
      fields.prefix = path.slice(0, cut);
      fields.name = path.slice(cut + 1);
    } else {
      fields.name = `${oid}.data`;
      extension += formatRecord("path", path);
    }
  }
  let type: string = TYPE.file;
  if (isTreeMode(mode) || isSubmoduleMode(mode)) {
    type = TYPE.directory;
  } else if (isSymlinkMode(mode) && entry.content instanceof Uint8Array) {
    type = TYPE.symlink;
    fields.linkName = readByteText(entry.content);
    if (fields.linkName.length > NAME_BYTES_MAX) {
      extension += formatRecord("linkpath", fields.linkName);
      fields.linkName = `see ${oid}.paxheader`;
    }
  }
  let sizeBytes = isRegularMode(mode) ? entry.sizeBytes : 0;
  if (sizeBytes > NUMBER_MAX) {
    extension += formatRecord("size", String(sizeBytes));
    sizeBytes = 0;
  }
  const header = formatHeader({ ...fields, type, mode: toTarMode(mode), sizeBytes, mtime });
  if (extension === "") return header;
  const front = formatExtension(TYPE.extended, `${oid}.paxheader`, extension, mtime);
  const both = new Uint8Array(front.length + header.length);
  both.set(front);
  both.set(header, front.length);
  return both;
}

function toTarMode(mode: number): number {
  if (isTreeMode(mode) || isSubmoduleMode(mode)) return (mode | 0o777) & ~UMASK;
  if (isSymlinkMode(mode)) return mode | 0o777;
  return (mode | (mode & 0o100 ? 0o777 : 0o666)) & ~UMASK;
}

/** The position at which a long path is split: the last slash that leaves a prefix short enough. */
function findCut(path: ByteText): number {
  const end = path.endsWith("/") ? path.length - 1 : path.length;
  return Math.max(0, path.lastIndexOf("/", Math.min(end, PREFIX_BYTES_MAX) - 1));
}

/** One record of an extended header: its length, a keyword and a value. */
function formatRecord(keyword: string, value: string): string {
  const rest = ` ${keyword}=${value}\n`;
  let length = rest.length + 1;
  while (String(length).length + rest.length !== length) length++;
  return `${length}${rest}`;
}

/**
 * An extended header: a header followed by records that apply to the next entry, or to all entries.
 */
function formatExtension(type: string, name: string, records: string, mtime: number): Uint8Array {
  const sizeBytes = records.length;
  const header = formatHeader({
    name,
    prefix: "",
    linkName: "",
    type,
    mode: 0o100666,
    sizeBytes,
    mtime,
  });
  const bytes = new Uint8Array(RECORD_BYTES + sizeBytes + paddingOf(sizeBytes, RECORD_BYTES));
  bytes.set(header);
  bytes.set(byteTextBytes(records as ByteText), RECORD_BYTES);
  return bytes;
}

interface Header {
  readonly name: string;
  readonly prefix: string;
  readonly linkName: string;
  readonly type: string;
  readonly mode: number;
  readonly sizeBytes: number;
  readonly mtime: number;
}

function formatHeader(header: Header): Uint8Array {
  const bytes = new Uint8Array(RECORD_BYTES);
  const put = (at: number, text: string): void => {
    bytes.set(byteTextBytes(text as ByteText), at);
  };
  const octal = (value: number, digits: number): string =>
    `${value.toString(8).padStart(digits, "0")}\0`;
  put(0, header.name);
  put(100, octal(header.mode & 0o7777, 7));
  put(108, octal(0, 7));
  put(116, octal(0, 7));
  put(124, octal(header.sizeBytes, 11));
  put(136, octal(header.mtime, 11));
  put(148, " ".repeat(8));
  put(156, header.type);
  put(157, header.linkName);
  put(257, "ustar\0");
  put(263, "00");
  put(265, "root");
  put(297, "root");
  put(329, octal(0, 7));
  put(337, octal(0, 7));
  put(345, header.prefix);
  put(148, octal(sum(bytes), 7));
  return bytes;
}

const sum = (bytes: Uint8Array): number => bytes.reduce((total, byte) => total + byte, 0);
