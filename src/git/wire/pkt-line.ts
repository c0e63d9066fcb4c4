import { type ByteText, readByteText } from "../byte-text.ts";
import { corrupt, GitError } from "../error.ts";

/** Longest pkt-line in bytes, including its four length digits. */
export const PKT_BYTES_MAX = 65520;

/** One packet: a payload, or a marker between payloads. */
export type Pkt =
  | { readonly kind: "data"; readonly payload: Uint8Array }
  | { readonly kind: "flush" }
  | { readonly kind: "delimiter" }
  | { readonly kind: "response-end" };

/** `0000`: the end of a list or message. */
export const FLUSH_PKT = Uint8Array.of(0x30, 0x30, 0x30, 0x30);
/** `0001`: the end of a section. */
export const DELIMITER_PKT = Uint8Array.of(0x30, 0x30, 0x30, 0x31);

/**
 * Reads the pkt-line that starts at `offset`.
 *
 * @param bytes The bytes of the stream received so far. A payload is a view into them, not a copy.
 * @param offset Start of the line, in bytes.
 * @returns The packet and the offset after it, or undefined while the packet is incomplete.
 * @throws GitError `corrupt` if the length is not four hex digits, is 0003, or is over 65520.
 * @see gitprotocol-common(5), "pkt-line Format"; gitprotocol-v2(5) for 0001 and 0002.
 */
export function readPkt(bytes: Uint8Array, offset: number): { pkt: Pkt; next: number } | undefined {
  if (bytes.length < offset + 4) return undefined;
  const length = readLength(bytes, offset);
  switch (length) {
    case 0:
      return { pkt: { kind: "flush" }, next: offset + 4 };
    case 1:
      return { pkt: { kind: "delimiter" }, next: offset + 4 };
    case 2:
      return { pkt: { kind: "response-end" }, next: offset + 4 };
    default:
      break;
  }
  if (!(length >= 4 && length <= PKT_BYTES_MAX)) {
    const digits = JSON.stringify(readByteText(bytes, offset, offset + 4));
    throw corrupt(`pkt-line of length ${digits}`);
  }
  const next = offset + length;
  if (bytes.length < next) return undefined;
  return { pkt: { kind: "data", payload: bytes.subarray(offset + 4, next) }, next };
}

/** The value of four hex digits; -1 if they are not hex digits. */
function readLength(bytes: Uint8Array, offset: number): number {
  let length = 0;
  for (let at = offset; at < offset + 4; at++) {
    const byte = bytes[at] as number;
    const lower = byte | 0x20;
    const isDigit = byte >= 0x30 && byte <= 0x39;
    if (!isDigit && !(lower >= 0x61 && lower <= 0x66)) return -1;
    length = (length << 4) | (isDigit ? byte - 0x30 : lower - 0x57);
  }
  return length;
}

/** The text of a line: the payload without its final line feed. */
export function pktText(payload: Uint8Array): ByteText {
  const end = payload.at(-1) === 0x0a ? payload.length - 1 : payload.length;
  return readByteText(payload, 0, end);
}

/**
 * A packet with `payload`.
 *
 * @throws GitError `limit` if the payload does not fit in one packet. The engine's own lines always
 * fit, so a longer line contains input whose length was not limited.
 */
export function formatPkt(payload: Uint8Array | ByteText): Uint8Array {
  const length = payload.length + 4;
  if (length > PKT_BYTES_MAX) throw new GitError("limit", `pkt-line of ${length} bytes`);
  const bytes = new Uint8Array(length);
  writePktLength(bytes, 0, length);
  if (typeof payload === "string") {
    for (let at = 0; at < payload.length; at++) bytes[4 + at] = payload.charCodeAt(at);
  } else {
    bytes.set(payload, 4);
  }
  return bytes;
}

/** A packet with `text` and a line feed. `text` is byte text or plain ASCII. */
export function formatLine(text: string): Uint8Array {
  return formatPkt(`${text}\n` as ByteText);
}

/** Writes `length` as four hex digits. `length` includes these digits. */
export function writePktLength(bytes: Uint8Array, offset: number, length: number): void {
  for (let digit = 0; digit < 4; digit++) {
    const value = (length >>> (12 - 4 * digit)) & 15;
    bytes[offset + digit] = value < 10 ? 0x30 + value : 0x57 + value;
  }
}

/** Concatenates byte arrays. */
export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}
