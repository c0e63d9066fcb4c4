import { type ByteText, readByteText } from "../byte-text.ts";
import { corrupt, GitError, overLimit } from "../error.ts";
import { isOid } from "../oid.ts";
import type { BundleRef } from "./bundle.ts";

/** A bundle that was opened: its refs, and its pack. */
export interface OpenedBundle {
  /** In the bundle's order, with HEAD if it has one. */
  readonly refs: readonly BundleRef[];
  /** The pack after the header, to be read once. Its own header and checksum are unchecked. */
  readonly pack: AsyncGenerator<Uint8Array, void>;
}

const SIGNATURE = "# v2 git bundle";
const LINE_FEED = 0x0a;

/**
 * Reads the header of a bundle of version 2 that needs no objects besides its own.
 *
 * @param pieces Closed on failure, and with the pack.
 * @param headerBytesMax Maximum bytes of the header.
 * @throws GitError `corrupt` for anything else than a bundle, `unsupported` for another version and
 * for a bundle with prerequisites, `limit` for a header that is too large. An error of `pieces` is
 * thrown unchanged.
 * @see gitformat-bundle(5).
 */
export async function readBundle(
  pieces: AsyncGenerator<Uint8Array, void>,
  headerBytesMax: number,
): Promise<OpenedBundle> {
  try {
    const { lines, rest } = await readHeader(pieces, headerBytesMax);
    return { refs: parseLines(lines), pack: packOf(rest, pieces) };
  } catch (error) {
    await pieces.return();
    throw error;
  }
}

async function readHeader(pieces: AsyncGenerator<Uint8Array, void>, bytesMax: number) {
  const lines: ByteText[] = [];
  let line = "";
  let readBytes = 0;
  for (;;) {
    const { value, done } = await pieces.next();
    if (done) throw corrupt("the bundle ends within its header");
    let start = 0;
    for (;;) {
      const end = value.indexOf(LINE_FEED, start);
      const stop = end < 0 ? value.length : end;
      readBytes += stop - start + 1;
      if (readBytes > bytesMax) throw overLimit("the header of the bundle is too large");
      line += readByteText(value, start, stop);
      if (end < 0) break;
      start = end + 1;
      if (line === "" && lines.length > 0) return { lines, rest: value.subarray(start) };
      if (lines.length === 0) requireSignature(line);
      lines.push(line as ByteText);
      line = "";
    }
  }
}

function requireSignature(line: string): void {
  if (line === SIGNATURE) return;
  if (/^# v\d+ git bundle$/.test(line)) {
    throw new GitError("unsupported", "the bundle is of another version than 2");
  }
  throw corrupt("the file is no bundle of git");
}

function parseLines([, ...lines]: readonly ByteText[]): BundleRef[] {
  return lines.map((line) => {
    if (line.startsWith("-")) {
      throw new GitError("unsupported", "the bundle needs objects that it does not have");
    }
    const oid = line.slice(0, 40);
    const name = line.slice(41);
    if (!isOid(oid) || line[40] !== " " || name === "") {
      throw corrupt("the bundle has a line that names no ref");
    }
    return { name: name as ByteText, oid };
  });
}

async function* packOf(
  rest: Uint8Array,
  pieces: AsyncGenerator<Uint8Array, void>,
): AsyncGenerator<Uint8Array, void> {
  try {
    if (rest.length > 0) yield rest;
    yield* pieces;
  } finally {
    await pieces.return();
  }
}
