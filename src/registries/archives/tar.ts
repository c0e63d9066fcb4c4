import { createTarDecoder, type ParsedTarEntry } from "modern-tar";

import { Failure, malformed, tooLarge } from "../../lib/failure.ts";
import { requireEntryPath } from "../../lib/archive-path.ts";
import { type ArchiveSource, readSource } from "../../lib/archive-source.ts";
import { boundTarHeaders } from "./bound-tar-headers.ts";
import { gunzip } from "./gunzip.ts";
import { toPieceStream } from "../../lib/piece-stream.ts";
import { pause } from "../../lib/time-slice.ts";

/** An entry of a tar archive. */
export interface TarEntry {
  /** Relative, without a slash at its end; never empty. */
  readonly path: string;
  readonly type: "file" | "directory" | "symlink" | "link";
  /** The target of a link, as it is written there; "" for other entries. */
  readonly linkTarget: string;
  readonly sizeBytes: number;
  /** Permissions. */
  readonly mode: number;
  /** Streams the content, before the next entry is asked for. */
  pieces(): AsyncGenerator<Uint8Array>;
  /**
   * Reads the content, before the next entry is asked for. @throws Failure `too_large` beyond
   * `bytesMax`.
   */
  read(bytesMax: number): Promise<Uint8Array>;
}

/** The limits of an archive. */
export interface TarLimits {
  readonly entriesMax?: number;
  /** Whether there may be links. Their targets are not checked. False by default. */
  readonly hasLinks?: boolean;
}

const ENTRIES_MAX = 100_000;
/** Steps to read an entry. */
const ENTRY_STEPS = 3000;
const TYPES = new Set(["file", "directory", "symlink", "link"]);

/**
 * Reads the entries of a tar archive, as a stream. Content that is not asked for is skipped.
 *
 * @param pieces The archive, uncompressed.
 * @throws Failure `malformed` for what is no tar archive, is incomplete, or has an entry that it
 * must not have, such as a path with `..`, a device, or a link; `too_large` for too many entries.
 * An error of `pieces` is thrown unchanged.
 * @see pax(1), "ustar Interchange Format"; GNU tar's manual for its long names.
 */
export async function* readTar(
  pieces: AsyncIterable<Uint8Array>,
  { entriesMax = ENTRIES_MAX, hasLinks = false }: TarLimits = {},
): AsyncGenerator<TarEntry> {
  const { stream, fault } = toPieceStream(boundTarHeaders(pieces));
  const refuse = (error: unknown): unknown => {
    if (error instanceof Failure) return error;
    return fault()?.error ?? malformed("the file is no tar archive, or broken");
  };
  const reader = stream.pipeThrough(createTarDecoder({ strict: true })).getReader();
  let count = 0;
  try {
    for (;;) {
      const { value, done } = await reader.read().catch((error: unknown) => {
        throw refuse(error);
      });
      if (done) return;
      await pause(ENTRY_STEPS);
      if (++count > entriesMax) throw tooLarge(`the archive has more than ${entriesMax} entries`);
      const entry = toEntry(value, hasLinks, refuse);
      if (entry) yield entry;
      if (!value.body.locked) await value.body.cancel();
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/**
 * Reads the entries of a stored tar archive that is compressed by gzip. @throws Failure as
 * `readTar` and `gunzip`.
 */
export const readTarGz = (
  source: ArchiveSource,
  { unpackedBytesMax, ...limits }: TarLimits & { readonly unpackedBytesMax?: number } = {},
): AsyncGenerator<TarEntry> => readTar(gunzip(readSource(source), unpackedBytesMax), limits);

/** @returns Undefined for the folder that holds all entries. */
function toEntry(
  { header, body }: ParsedTarEntry,
  hasLinks: boolean,
  refuse: (error: unknown) => unknown,
): TarEntry | undefined {
  const { name, size, type = "file", linkname = "", mode = 0 } = header;
  const isLink = type === "symlink" || type === "link";
  if (!TYPES.has(type) || (isLink && !hasLinks)) {
    throw malformed(`the archive has an entry of a type that it must not have: ${type}`);
  }
  const path = requireEntryPath(name);
  if (path === "") return undefined;
  async function* pieces(): AsyncGenerator<Uint8Array> {
    const reader = body.getReader();
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        yield value;
      }
    } catch (error) {
      throw refuse(error);
    } finally {
      // The rest of the entry is skipped.
      await reader.cancel().catch(() => undefined);
    }
  }
  return {
    path,
    type: type as TarEntry["type"],
    linkTarget: isLink ? linkname : "",
    sizeBytes: size,
    mode,
    pieces,
    read: (bytesMax) => gather(pieces(), size, bytesMax, path),
  };
}

async function gather(
  pieces: AsyncGenerator<Uint8Array>,
  sizeBytes: number,
  bytesMax: number,
  path: string,
): Promise<Uint8Array> {
  if (sizeBytes > bytesMax) throw tooLarge(`${path} has more than ${bytesMax} bytes`);
  const bytes = new Uint8Array(sizeBytes);
  let at = 0;
  for await (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
