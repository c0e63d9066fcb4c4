import { malformed, tooLarge } from "../../lib/failure.ts";
import {
  type ArchiveSource,
  readSource,
  sourceOfBytes,
  splitPiece,
} from "../../lib/archive-source.ts";
import { gunzip } from "../archives/gunzip.ts";
import { readTar } from "../archives/tar.ts";
import { unxz } from "../archives/unxz.ts";
import { unzstd } from "../archives/unzstd.ts";
import { type Control, parseControl } from "./parse-control.ts";
import { type ArMember, readAr } from "./read-ar.ts";

/**
 * Maximum bytes of the archive of control files, packed and unpacked, and of the control file
 * itself.
 */
const PACKED_BYTES_MAX = 2 * 1024 * 1024;
const UNPACKED_BYTES_MAX = 8 * 1024 * 1024;
const CONTROL_BYTES_MAX = 64 * 1024;
const ENTRIES_MAX = 1000;

const DATA = /^data\.tar(?:\.(?:gz|xz|zst|bz2|lzma))?$/;

/**
 * Reads the control file of a binary package.
 *
 * @throws Failure `malformed` for anything else than a binary package of format 2; `too_large` for
 *   control files that are.
 * @see deb(5)
 */
export async function parseDeb(source: ArchiveSource): Promise<Control> {
  // Members whose names begin with an underscore are for others.
  const members = (await readAr(source)).filter(({ name }) => !name.startsWith("_"));
  const [format, control, data] = members;
  if (format?.name !== "debian-binary" || !control || !data || !DATA.test(data.name)) {
    throw malformed("the file is no Debian package: its members are others");
  }
  await requireFormat(source, format);
  const text = await readControl(unpack(control.name, await readMember(source, control)));
  const parsed = text && parseControl(text);
  if (!parsed) throw malformed("the package has no valid control file");
  return parsed;
}

async function requireFormat(source: ArchiveSource, { start, end }: ArMember): Promise<void> {
  const isShort = end - start > 0 && end - start <= 100;
  const text = isShort ? new TextDecoder().decode(await source.read({ start, end })) : "";
  if (!/^2\.\d+\n/.test(text)) throw malformed("the package is not of the format 2.0");
}

function readMember(source: ArchiveSource, { start, end }: ArMember): Promise<Uint8Array> {
  if (end - start > PACKED_BYTES_MAX) {
    throw tooLarge(`the control files have more than ${PACKED_BYTES_MAX} bytes`);
  }
  return source.read({ start, end });
}

/** The uncompressed tar archive in pieces. */
async function* unpack(name: string, bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  switch (name) {
    case "control.tar":
      yield* splitPiece(bytes);
      return;
    case "control.tar.gz":
      yield* gunzip(readSource(sourceOfBytes(bytes)), UNPACKED_BYTES_MAX);
      return;
    case "control.tar.xz":
      yield* splitPiece(await unxz(bytes, UNPACKED_BYTES_MAX));
      return;
    case "control.tar.zst":
      yield* splitPiece(await unzstd(bytes, UNPACKED_BYTES_MAX));
      return;
    default:
      throw malformed("the file is no Debian package: its control files are packed in another way");
  }
}

async function readControl(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array | undefined> {
  for await (const entry of readTar(pieces, { entriesMax: ENTRIES_MAX })) {
    if (entry.path !== "control" || entry.type !== "file") continue;
    // Awaited here: what is left of the archive is dropped when the loop ends.
    return await entry.read(CONTROL_BYTES_MAX);
  }
  return undefined;
}
