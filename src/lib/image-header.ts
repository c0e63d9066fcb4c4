/** The facts that the header of an image declares. */
export interface ImageHeader {
  readonly contentType: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
  readonly widthPx: number;
  readonly heightPx: number;
}

/**
 * Reads the header of a PNG, JPEG, GIF or WebP image.
 *
 * Nothing is decompressed: the sizes are those from which a decoder allocates its output, so a
 * caller that bounds them refuses images that are small as files and huge as pictures.
 *
 * @returns Undefined for anything else, for an image without pixels, and for a PNG, GIF or WebP
 * image that does not end with the bytes. Cameras append more to JPEG images.
 * @see PNG specification, sections 5 and 11.2; ITU T.81, annex B; GIF89a, sections 17 and 18; RFC
 *   9649.
 */
export function readImageHeader(bytes: Uint8Array): ImageHeader | undefined {
  const header = READERS.map((read) => read(bytes)).find((each) => each !== undefined);
  return header && header.widthPx > 0 && header.heightPx > 0 ? header : undefined;
}

type Reader = (bytes: Uint8Array) => ImageHeader | undefined;

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

/** Whether `text`, in Latin-1, is at an offset. */
const hasText = (bytes: Uint8Array, at: number, text: string): boolean =>
  at + text.length <= bytes.length &&
  [...text].every((char, index) => bytes[at + index] === char.charCodeAt(0));

/** A signature and chunks of length, type, data and checksum: the first is IHDR, the last IEND. */
const readPng: Reader = (bytes) => {
  if (!hasText(bytes, 0, "\x89PNG\r\n\x1a\n") || !hasText(bytes, 12, "IHDR")) return undefined;
  const view = viewOf(bytes);
  let hasPixels = false;
  for (let at = 8; at + 12 <= bytes.length;) {
    const next = at + 12 + view.getUint32(at);
    if (at === 8 && next !== 33) return undefined;
    if (hasText(bytes, at + 4, "IDAT")) hasPixels = true;
    if (hasText(bytes, at + 4, "IEND")) {
      if (next !== bytes.length || !hasPixels) return undefined;
      return {
        contentType: "image/png",
        widthPx: view.getUint32(16),
        heightPx: view.getUint32(20),
      };
    }
    at = next;
  }
  return undefined;
};

/**
 * A header with the size of the screen, then extensions and pictures, each of which may exceed the
 * screen.
 */
const readGif: Reader = (bytes) => {
  if (!hasText(bytes, 0, "GIF87a") && !hasText(bytes, 0, "GIF89a")) return undefined;
  const view = viewOf(bytes);
  /** The end of a color table that begins at an offset, if the flags announce one. */
  const tableEnd = (flags: number, at: number): number =>
    (flags & 0x80) === 0 ? at : at + 3 * 2 ** ((flags & 7) + 1);
  /** The end of data in blocks of up to 255 bytes, which an empty one ends. */
  const blocksEnd = (from: number): number => {
    let at = from;
    while (at < bytes.length && bytes[at] !== 0) at += 1 + (bytes[at] as number);
    return at + 1;
  };
  if (bytes.length < GIF_HEADER_BYTES) return undefined;
  let [widthPx, heightPx] = [view.getUint16(6, true), view.getUint16(8, true)];
  let hasPixels = false;
  for (let at = tableEnd(bytes[10] as number, GIF_HEADER_BYTES); at < bytes.length;) {
    const kind = bytes[at];
    if (kind === GIF_END && hasPixels) {
      return at + 1 === bytes.length ? { contentType: "image/gif", widthPx, heightPx } : undefined;
    }
    if (kind === GIF_EXTENSION) {
      at = blocksEnd(at + 2);
    } else if (kind === GIF_PICTURE && at + 10 <= bytes.length) {
      widthPx = Math.max(widthPx, view.getUint16(at + 1, true) + view.getUint16(at + 5, true));
      heightPx = Math.max(heightPx, view.getUint16(at + 3, true) + view.getUint16(at + 7, true));
      hasPixels = true;
      at = blocksEnd(tableEnd(bytes[at + 9] as number, at + 10) + 1);
    } else {
      return undefined;
    }
  }
  return undefined;
};

const GIF_HEADER_BYTES = 13;
const GIF_EXTENSION = 0x21;
const GIF_PICTURE = 0x2c;
const GIF_END = 0x3b;

/** Segments up to the one that starts the picture; a frame header among them has the size. */
const readJpeg: Reader = (bytes) => {
  if (!hasText(bytes, 0, "\xff\xd8\xff")) return undefined;
  const view = viewOf(bytes);
  let size: Pick<ImageHeader, "widthPx" | "heightPx"> | undefined;
  for (let at = 2; at + 4 <= bytes.length && bytes[at] === 0xff;) {
    const marker = bytes[at + 1] as number;
    if (marker === 0xff) {
      // A fill byte.
      at++;
      continue;
    }
    if (marker === START_OF_SCAN) return size && { contentType: "image/jpeg", ...size };
    if (isFrame(marker)) {
      if (size !== undefined || at + 9 > bytes.length) return undefined;
      size = { heightPx: view.getUint16(at + 5), widthPx: view.getUint16(at + 7) };
    }
    at += 2 + view.getUint16(at + 2);
  }
  return undefined;
};

const START_OF_SCAN = 0xda;

/** SOF0 to SOF15; three markers of that range begin tables. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

/** A RIFF file: the size is in its first chunk, in one of three forms. */
const readWebp: Reader = (bytes) => {
  if (!hasText(bytes, 0, "RIFF") || !hasText(bytes, 8, "WEBP") || bytes.length < 30) {
    return undefined;
  }
  const view = viewOf(bytes);
  // A chunk of odd length is followed by a zero, which some encoders do not count.
  const riffBytes = 8 + view.getUint32(4, true);
  if (riffBytes !== bytes.length && riffBytes + 1 !== bytes.length) return undefined;
  const contentType = "image/webp";
  const uint24 = (at: number): number =>
    view.getUint16(at, true) + 65536 * (bytes[at + 2] as number);
  if (hasText(bytes, 12, "VP8X")) {
    return { contentType, widthPx: uint24(24) + 1, heightPx: uint24(27) + 1 };
  }
  if (hasText(bytes, 12, "VP8L") && bytes[20] === 0x2f) {
    const bits = view.getUint32(21, true);
    return { contentType, widthPx: (bits & 0x3fff) + 1, heightPx: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (hasText(bytes, 12, "VP8 ") && hasText(bytes, 23, "\x9d\x01\x2a")) {
    return {
      contentType,
      widthPx: view.getUint16(26, true) & 0x3fff,
      heightPx: view.getUint16(28, true) & 0x3fff,
    };
  }
  return undefined;
};

const READERS: readonly Reader[] = [readPng, readJpeg, readGif, readWebp];
