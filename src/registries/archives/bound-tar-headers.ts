import { malformed, tooLarge } from "../../lib/failure.ts";
import { pause } from "../../lib/time-slice.ts";

const BLOCK_BYTES = 512;
/** Maximum bytes of one extended header: a long path, or some attributes. */
const EXTENDED_BYTES_MAX = 64 * 1024;
/** Steps to parse a byte of an extended header: a record takes six at least. */
const BYTE_STEPS = 12;

const codesOf = (letters: string): ReadonlySet<number> =>
  new Set([...letters].map((letter) => letter.charCodeAt(0)));
/** The kinds of headers that describe the entry behind them, or all. */
const EXTENDED = codesOf("xgLK");
const GLOBAL = "g".charCodeAt(0);
/** Links, devices and folders, which have no content. */
const WITHOUT_CONTENT = codesOf("123456");

/**
 * Passes a tar archive on, and refuses large extended headers: the library parses each at once, and
 * up to 8 MB, which takes a second.
 *
 * SECURITY: an extended header may state the size of the entry behind it, by which archives would
 * be read differently here and there. It must be that of the entry's own header.
 *
 * @throws Failure `too_large` and `malformed`
 * @see pax(1), "pax Header Block"
 */
export async function* boundTarHeaders(
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const block = new Uint8Array(BLOCK_BYTES);
  let filled = 0;
  /** Bytes of content until the next header. */
  let skipped = 0;
  /** The extended header that is being read. */
  let extended: { readonly isGlobal: boolean; text: string } | undefined;
  /** The sizes that extended headers state of the next entry. */
  let stated: string[] = [];
  const endHeader = (): void => {
    const [type = 0, sizeBytes] = [block[156], sizeOf(block)];
    const isExtended = EXTENDED.has(type);
    if (isExtended) {
      if (sizeBytes > EXTENDED_BYTES_MAX) {
        throw tooLarge(`an extended header has more than ${EXTENDED_BYTES_MAX} bytes`);
      }
      extended = { isGlobal: type === GLOBAL, text: "" };
    } else {
      if (stated.some((size) => Number(size) !== sizeBytes)) throw twoSizes();
      stated = [];
    }
    const padded = Math.ceil(sizeBytes / BLOCK_BYTES) * BLOCK_BYTES;
    skipped = WITHOUT_CONTENT.has(type) ? 0 : padded;
  };
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length;) {
      const end = Math.min(piece.length, at + (skipped || BLOCK_BYTES - filled));
      const part = piece.subarray(at, end);
      at = end;
      if (skipped > 0) {
        skipped -= part.length;
        if (!extended) continue;
        extended.text += latin1.decode(part);
        await pause(BYTE_STEPS * part.length);
      } else {
        block.set(part, filled);
        filled = (filled + part.length) % BLOCK_BYTES;
        if (filled === 0) endHeader();
      }
      if (extended && skipped === 0 && filled === 0) {
        const sizes = [...extended.text.matchAll(STATED_SIZE)].map(([, size = ""]) => size);
        if (extended.isGlobal && sizes.length > 0) throw twoSizes();
        stated.push(...sizes);
        extended = undefined;
      }
    }
    yield piece;
  }
}

const latin1 = new TextDecoder("latin1");
/** The record of a size, also behind a byte order mark, which readers ignore. */
const STATED_SIZE = /(?: |\u00EF\u00BB\u00BF)size=(\d*)/g;

const twoSizes = () => malformed("the archive has an entry with two sizes");

/** The size that a header states: octal digits, or a number of 95 bits. */
function sizeOf(block: Uint8Array): number {
  const field = block.subarray(124, 136);
  if (((field[0] ?? 0) & 0x80) !== 0) {
    return field.reduce((size, byte, at) => size * 256 + (at === 0 ? byte & 0x7f : byte), 0);
  }
  const [digits = ""] = latin1.decode(field).split("\0");
  return Number.parseInt(digits.replaceAll(" ", "") || "0", 8);
}
