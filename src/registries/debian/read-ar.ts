import { malformed } from "../../lib/failure.ts";
import type { ArchiveSource } from "../../lib/archive-source.ts";

/** A member of an ar archive. */
export interface ArMember {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

const MAGIC = "!<arch>\n";
const HEADER_BYTES = 60;
const MEMBERS_MAX = 20;
/** The start of the archive that is read at once: in most packages all headers are in it. */
const HEAD_BYTES = 64 * 1024;

/**
 * Reads the headers of an ar archive, as a Debian package is one.
 *
 * @throws Failure `malformed` for anything else, with a member that claims more than there is, or
 *   with too many members.
 * @see ar(5), deb(5)
 */
export async function readAr(source: ArchiveSource): Promise<ArMember[]> {
  const { sizeBytes } = source;
  const head = await source.read({ start: 0, end: Math.min(HEAD_BYTES, sizeBytes) });
  const read = async (start: number, end: number): Promise<string> => {
    if (end > sizeBytes) throw broken();
    const bytes =
      end <= head.length ? head.subarray(start, end) : await source.read({ start, end });
    return new TextDecoder("latin1").decode(bytes);
  };
  if ((await read(0, Math.min(MAGIC.length, sizeBytes))) !== MAGIC) throw broken();
  const members: ArMember[] = [];
  for (let at = MAGIC.length; at < sizeBytes;) {
    const header = await read(at, at + HEADER_BYTES);
    const name = header.slice(0, 16).trimEnd().replace(/\/$/, "");
    const size = /^\d+ *$/.test(header.slice(48, 58)) ? Number(header.slice(48, 58)) : undefined;
    if (!header.endsWith("`\n") || size === undefined) throw broken();
    const start = at + HEADER_BYTES;
    const end = start + size;
    if (end > sizeBytes || members.length === MEMBERS_MAX) throw broken();
    members.push({ name, start, end });
    // Members begin at even offsets.
    at = end + (end % 2);
  }
  return members;
}

const broken = () => malformed("the file is no Debian package, or broken");
