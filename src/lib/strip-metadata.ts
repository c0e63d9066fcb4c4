import type { ImageHeader } from "./image-header.ts";

/**
 * Removes from an image what does not change its picture: the place, time and device that a camera
 * notes, names, comments, thumbnails, and what follows the picture. Color profiles, animations and
 * the orientation of a photograph stay.
 *
 * Nothing is decoded, so the picture loses nothing. Linear in the length; stripping a second time
 * changes nothing.
 *
 * @param bytes An image of which `readImageHeader` returned the type.
 * @see PNG specification, section 4.8; GIF89a, sections 24 to 26; ITU T.81, annex B; RFC 9649; Exif
 *   2.32, section 4.5.
 */
export function stripMetadata(
  bytes: Uint8Array<ArrayBuffer>,
  contentType: ImageHeader["contentType"],
): Uint8Array<ArrayBuffer> {
  const kept = STRIPPERS[contentType](bytes);
  const result = new Uint8Array(kept.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of kept) {
    result.set(part, at);
    at += part.length;
  }
  // The size of what follows the first 8 bytes.
  if (contentType === "image/webp") viewOf(result).setUint32(4, result.length - 8, true);
  return result;
}

/** The parts that stay. */
type Stripper = (bytes: Uint8Array) => Uint8Array[];

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

/** Latin-1. */
const textAt = (bytes: Uint8Array, at: number, length: number): string =>
  String.fromCharCode(...bytes.subarray(at, at + length));

/** The pixels, how they are shown, and the frames of an animation. */
const PNG_CHUNKS: ReadonlySet<string> = new Set(
  "IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB iCCP cICP sBIT bKGD pHYs acTL fcTL fdAT".split(" "),
);

const stripPng: Stripper = (bytes) => {
  const view = viewOf(bytes);
  const kept = [bytes.subarray(0, 8)];
  for (let at = 8; at + 12 <= bytes.length;) {
    const end = at + 12 + view.getUint32(at);
    if (PNG_CHUNKS.has(textAt(bytes, at + 4, 4))) kept.push(bytes.subarray(at, end));
    at = end;
  }
  return kept;
};

const WEBP_CHUNKS: ReadonlySet<string> = new Set([
  "VP8 ",
  "VP8L",
  "VP8X",
  "ALPH",
  "ANIM",
  "ANMF",
  "ICCP",
]);
/** The flags of VP8X that announce Exif and XMP. */
const WEBP_METADATA_FLAGS = 0x08 | 0x04;

const stripWebp: Stripper = (bytes) => {
  const view = viewOf(bytes);
  const kept = [bytes.subarray(0, 12)];
  for (let at = 12; at + 8 <= bytes.length;) {
    const size = view.getUint32(at + 4, true);
    const end = at + 8 + size + (size % 2);
    const name = textAt(bytes, at, 4);
    const chunk = name === "VP8X" ? bytes.slice(at, end) : bytes.subarray(at, end);
    if (name === "VP8X" && chunk[8] !== undefined) chunk[8] &= ~WEBP_METADATA_FLAGS;
    if (WEBP_CHUNKS.has(name)) kept.push(chunk);
    at = end;
  }
  return kept;
};

const GIF_HEADER_BYTES = 13;
const GIF_EXTENSION = 0x21;
const GIF_COMMENT = 0xfe;
const GIF_APPLICATION = 0xff;
const GIF_PICTURE = 0x2c;
/** Applications that define how often an animation is repeated. */
const GIF_LOOPS: ReadonlySet<string> = new Set(["NETSCAPE2.0", "ANIMEXTS1.0"]);

const stripGif: Stripper = (bytes) => {
  const tableEnd = (flags: number, at: number): number =>
    (flags & 0x80) === 0 ? at : at + 3 * 2 ** ((flags & 7) + 1);
  const blocksEnd = (from: number): number => {
    let at = from;
    while (at < bytes.length && bytes[at] !== 0) at += 1 + (bytes[at] ?? 0);
    return at + 1;
  };
  const start = tableEnd(bytes[10] ?? 0, GIF_HEADER_BYTES);
  const kept = [bytes.subarray(0, start)];
  for (let at = start; at < bytes.length;) {
    const [kind, label] = [bytes[at], bytes[at + 1]];
    let end = at + 1;
    if (kind === GIF_EXTENSION) end = blocksEnd(at + 2);
    if (kind === GIF_PICTURE) end = blocksEnd(tableEnd(bytes[at + 9] ?? 0, at + 10) + 1);
    const isMetadata =
      kind === GIF_EXTENSION &&
      (label === GIF_COMMENT ||
        (label === GIF_APPLICATION && !GIF_LOOPS.has(textAt(bytes, at + 3, 11))));
    if (!isMetadata) kept.push(bytes.subarray(at, end));
    at = end;
  }
  return kept;
};

const JPEG_END = 0xd9;
const JPEG_SCAN = 0xda;
const JPEG_COMMENT = 0xfe;
const JPEG_APP0 = 0xe0;
const JPEG_EXIF = 0xe1;
const JPEG_APP15 = 0xef;
/** Bytes of a JFIF segment without a thumbnail. */
const JFIF_BYTES = 18;

const isRestart = (marker: number): boolean => marker >= 0xd0 && marker <= 0xd7;
/** JPG0 to JPG13 are reserved for extensions. */
const isReserved = (marker: number): boolean => marker >= 0xf0 && marker <= 0xfd;

const stripJpeg: Stripper = (bytes) => {
  const view = viewOf(bytes);
  const kept: Uint8Array[] = [];
  let [jfif, orientation]: [Uint8Array | undefined, number] = [undefined, 1];
  for (let at = 2; at + 4 <= bytes.length && bytes[at] === 0xff;) {
    const marker = bytes[at + 1] ?? JPEG_END;
    // Another picture may follow, with metadata of its own.
    if (marker === JPEG_END) break;
    if (marker === 0xff || isRestart(marker)) {
      at += marker === 0xff ? 1 : 2;
      continue;
    }
    const headerEnd = at + 2 + view.getUint16(at + 2);
    const end = marker === JPEG_SCAN ? scanEnd(bytes, headerEnd) : headerEnd;
    const segment = bytes.subarray(at, end);
    if (marker === JPEG_EXIF) orientation = readOrientation(segment) ?? orientation;
    if (marker === JPEG_APP0 && textAt(segment, 4, 5) === "JFIF\0") jfif ??= toJfif(segment);
    else if (isPicture(marker, segment)) kept.push(segment);
    at = end;
  }
  const exif = orientation === 1 ? [] : [toExif(orientation)];
  const ends = Uint8Array.of(0xff, JPEG_END);
  return [bytes.subarray(0, 2), ...(jfif ? [jfif] : []), ...exif, ...kept, ends];
};

/**
 * Whether a segment is needed to show the picture: tables, frames, scans, color profiles and color
 * models.
 */
function isPicture(marker: number, segment: Uint8Array): boolean {
  if (marker === JPEG_COMMENT || isReserved(marker)) return false;
  if (marker < JPEG_APP0 || marker > JPEG_APP15) return true;
  return textAt(segment, 4, 12) === "ICC_PROFILE\0" || textAt(segment, 4, 5) === "Adobe";
}

/** The end of the compressed data of a scan: the next marker that does not belong to it. */
function scanEnd(bytes: Uint8Array, from: number): number {
  for (let at = from; ;) {
    const found = bytes.indexOf(0xff, at);
    const marker = found === -1 ? undefined : bytes[found + 1];
    if (marker === undefined) return bytes.length;
    if (marker !== 0 && marker !== 0xff && !isRestart(marker)) return found;
    at = found + (marker === 0xff ? 1 : 2);
  }
}

/** The segment without its thumbnail. */
function toJfif(segment: Uint8Array): Uint8Array | undefined {
  if (segment.length < JFIF_BYTES) return undefined;
  const jfif = segment.slice(0, JFIF_BYTES);
  jfif.set([0, JFIF_BYTES - 2], 2);
  jfif.set([0, 0], JFIF_BYTES - 2);
  return jfif;
}

const ORIENTATION = 0x0112;
const SHORT = 3;
/** Entries of the first directory that are looked at. */
const ENTRIES_MAX = 200;

/** How the photograph is to be turned, 2 to 8; undefined if its Exif data has none. */
function readOrientation(segment: Uint8Array): number | undefined {
  if (textAt(segment, 4, 6) !== "Exif\0\0" || segment.length < 18) return undefined;
  const tiff = viewOf(segment.subarray(10));
  const isLittle = textAt(segment, 10, 2) === "II";
  const start = tiff.getUint32(4, isLittle);
  if (start + 2 > tiff.byteLength) return undefined;
  const count = Math.min(tiff.getUint16(start, isLittle), ENTRIES_MAX);
  for (let index = 0; index < count; index++) {
    const at = start + 2 + 12 * index;
    if (at + 12 > tiff.byteLength) return undefined;
    if (tiff.getUint16(at, isLittle) !== ORIENTATION) continue;
    const value = tiff.getUint16(at + 8, isLittle);
    const isValid = tiff.getUint16(at + 2, isLittle) === SHORT && value >= 2 && value <= 8;
    return isValid ? value : undefined;
  }
  return undefined;
}

/** Exif data with nothing but the orientation. */
function toExif(orientation: number): Uint8Array {
  const exif = new Uint8Array(36);
  const view = viewOf(exif);
  exif.set([0xff, JPEG_EXIF, 0, 34]);
  exif.set(new TextEncoder().encode("Exif\0\0MM\0*"), 4);
  view.setUint32(14, 8);
  view.setUint16(18, 1);
  view.setUint16(20, ORIENTATION);
  view.setUint16(22, SHORT);
  view.setUint32(24, 1);
  view.setUint16(28, orientation);
  return exif;
}

const STRIPPERS: Readonly<Record<ImageHeader["contentType"], Stripper>> = {
  "image/png": stripPng,
  "image/jpeg": stripJpeg,
  "image/gif": stripGif,
  "image/webp": stripWebp,
};
