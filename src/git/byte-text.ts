declare const isByteText: unique symbol;

/**
 * Text as git stores it: a string with one char (0 to 255) for each byte.
 *
 * Names, paths and messages in git are bytes, usually UTF-8 and sometimes not. As byte text they
 * survive unchanged, `<` and `===` compare them as git's memcmp does, and they serve as map keys.
 * Decode them with `decodeText` only where they leave the service for people to read.
 */
export type ByteText = string & { readonly [isByteText]: true };

// The host's globals that the engine uses. Both exist in Node and in workerd.
interface Utf8Decoder {
  decode(bytes: Uint8Array): string;
}
interface Utf8Encoder {
  encode(text: string): Uint8Array;
}
const host = globalThis as unknown as {
  TextDecoder: new (label: string, options: { fatal: boolean; ignoreBOM: boolean }) => Utf8Decoder;
  TextEncoder: new () => Utf8Encoder;
};
const lossyUtf8 = new host.TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
const encoder = new host.TextEncoder();

/**
 * Chars per call of `String.fromCharCode`: its arguments are put on the stack, so their number is
 * bounded.
 */
const CHUNK_CHARS = 4096;

/** Bytes `start` to `end` as byte text. Cost: one copy. */
export function readByteText(bytes: Uint8Array, start = 0, end = bytes.length): ByteText {
  let text = "";
  for (let at = start; at < end; at += CHUNK_CHARS) {
    const chunk = bytes.subarray(at, Math.min(end, at + CHUNK_CHARS));
    text += String.fromCharCode.apply(null, chunk as unknown as number[]);
  }
  return text as ByteText;
}

/** The bytes of `text`. Cost: one copy. */
export function byteTextBytes(text: ByteText): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/** Ordinary text as git stores it, in UTF-8. */
export function encodeText(text: string): ByteText {
  // ASCII is its own UTF-8, and nearly all names are ASCII.
  return (isAscii(text) ? text : readByteText(encoder.encode(text))) as ByteText;
}

/** UTF-8 bytes of ordinary text. */
export function encodeUtf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/**
 * Decodes stored text for people to read: as UTF-8, with replacement characters for invalid bytes.
 *
 * Not reversible. Compare, sort and look up with the byte text itself.
 */
export function decodeText(text: ByteText): string {
  return isAscii(text) ? text : lossyUtf8.decode(byteTextBytes(text));
}

/** True if the bytes of `text` are valid UTF-8. */
export function isValidUtf8(text: ByteText): boolean {
  return decodeBytes(byteTextBytes(text), "utf-8") !== undefined;
}

/**
 * Length in bytes of the UTF-8 character that starts at `at`, as git reads it; 0 if the bytes are
 * invalid.
 */
export function utf8Length(text: ByteText, at: number): number {
  const byte = (offset: number): number => text.charCodeAt(at + offset);
  const isNext = (offset: number): boolean => (byte(offset) & 0xc0) === 0x80;
  const first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4 || !isNext(1)) return 0;
  if (first < 0xe0) return 2;
  const second = byte(1);
  if (!isNext(2)) return 0;
  if (first < 0xf0) {
    const isOdd = (first === 0xe0 && second < 0xa0) || (first === 0xed && second > 0x9f);
    const isNoCharacter = first === 0xef && second === 0xbf && byte(2) > 0xbd;
    return isOdd || isNoCharacter ? 0 : 3;
  }
  const isOdd = (first === 0xf0 && second < 0x90) || (first === 0xf4 && second > 0x8f);
  return isOdd || !isNext(3) ? 0 : 4;
}

/**
 * Decodes bytes in a named encoding; undefined if the encoding is unknown or the bytes are invalid
 * in it.
 */
export function decodeBytes(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    return new host.TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) return undefined;
    throw error;
  }
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) > 0x7f) return false;
  }
  return true;
}
