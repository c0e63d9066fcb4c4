import { type ByteText, byteTextBytes, encodeText, readByteText } from "../byte-text.ts";
import { GitError } from "../error.ts";
import { joinBytes, PKT_BYTES_MAX, readPkt, writePktLength } from "./pkt-line.ts";
import { ServerRefusal } from "./server-refusal.ts";

/** The content of a frame: the pack or report, progress text for the user, or an error message. */
export const BAND_DATA = 1;
export const BAND_PROGRESS = 2;
export const BAND_ERROR = 3;
export type Band = typeof BAND_DATA | typeof BAND_PROGRESS | typeof BAND_ERROR;

/** Length digits and band number before a frame's payload, in bytes. */
const FRAME_HEADER_BYTES = 5;
/** Largest payload of a frame of `side-band-64k`, in bytes. */
export const FRAME_PAYLOAD_MAX = PKT_BYTES_MAX - FRAME_HEADER_BYTES;
/** Largest payload of a frame of the old `side-band`, in bytes. */
export const SMALL_FRAME_PAYLOAD_MAX = 1000 - FRAME_HEADER_BYTES;

/** An empty frame that keeps a waiting client's connection open. */
export const KEEPALIVE_FRAME = Uint8Array.of(0x30, 0x30, 0x30, 0x35, BAND_PROGRESS);

/**
 * Writes the header of a frame. The caller writes the payload after it, so that a large pack is
 * framed with a single copy.
 */
function writeFrameHeader(
  bytes: Uint8Array,
  offset: number,
  band: Band,
  payloadBytes: number,
): void {
  writePktLength(bytes, offset, payloadBytes + FRAME_HEADER_BYTES);
  bytes[offset + 4] = band;
}

/** The gaps that `writeFrameHeaders` expects, in buffers of some 256 KB. */
export const FRAME_SPACING = {
  gapBytes: FRAME_HEADER_BYTES,
  pieceBytes: FRAME_PAYLOAD_MAX,
  count: 4,
};

/** Makes frames of payloads that have been read with `FRAME_SPACING`. */
export function writeFrameHeaders(band: Band, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; at += PKT_BYTES_MAX) {
    const end = Math.min(bytes.length, at + PKT_BYTES_MAX);
    writeFrameHeader(bytes, at, band, end - at - FRAME_HEADER_BYTES);
  }
}

/** Splits `payload` into frames of at most `payloadMax` payload bytes each. */
export function formatFrames(
  band: Band,
  payload: Uint8Array,
  payloadMax = FRAME_PAYLOAD_MAX,
): Uint8Array {
  const count = Math.ceil(payload.length / payloadMax);
  const bytes = new Uint8Array(payload.length + count * FRAME_HEADER_BYTES);
  let to = 0;
  for (let at = 0; at < payload.length; at += payloadMax) {
    const piece = payload.subarray(at, at + payloadMax);
    writeFrameHeader(bytes, to, band, piece.length);
    bytes.set(piece, to + FRAME_HEADER_BYTES);
    to += FRAME_HEADER_BYTES + piece.length;
  }
  return bytes;
}

/**
 * Wraps the payloads of `message` in frames of `BAND_DATA`, as `sideband-all` requires; flush and
 * delimiter packets stay unwrapped.
 *
 * @param message Complete packets, none longer than a frame can hold.
 */
export function frameMessage(message: Uint8Array): Uint8Array {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < message.length;) {
    const read = readPkt(message, at);
    if (!read) throw new Error("a message of whole packets ends inside one");
    const { pkt, next } = read;
    pieces.push(
      pkt.kind === "data" ? formatFrames(BAND_DATA, pkt.payload) : message.subarray(at, next),
    );
    at = next;
  }
  return joinBytes(pieces);
}

/**
 * The error frame that ends a side-band response. The client shows the message, which is byte text,
 * to the user.
 */
export function formatBandError(message: string, payloadMax = FRAME_PAYLOAD_MAX): Uint8Array {
  return formatFrames(BAND_ERROR, byteTextBytes(message as ByteText), payloadMax);
}

/** Progress text that the client shows as `remote:` lines in the terminal. */
export function formatProgress(text: string, payloadMax = FRAME_PAYLOAD_MAX): Uint8Array {
  return formatFrames(BAND_PROGRESS, byteTextBytes(encodeText(text)), payloadMax);
}

/** One frame, or the flush after the last frame. */
export type Frame =
  | { readonly kind: "frame"; readonly band: Band; readonly payload: Uint8Array }
  | { readonly kind: "flush" };

/**
 * Reads the frame that starts at `offset`. The payload is a view.
 *
 * @returns Undefined while the frame is incomplete.
 * @throws GitError `protocol` for a packet without a band, and for a frame of `BAND_ERROR`, with
 *   its message.
 */
export function readFrame(
  bytes: Uint8Array,
  offset: number,
): { frame: Frame; next: number } | undefined {
  const read = readPkt(bytes, offset);
  if (!read) return undefined;
  const { pkt, next } = read;
  if (pkt.kind === "flush") return { frame: { kind: "flush" }, next };
  const band = pkt.kind === "data" ? pkt.payload[0] : undefined;
  if (
    pkt.kind !== "data" ||
    !(band === BAND_DATA || band === BAND_PROGRESS || band === BAND_ERROR)
  ) {
    throw new GitError("protocol", "a packet outside of the side-bands");
  }
  const payload = pkt.payload.subarray(1);
  if (band === BAND_ERROR) {
    throw new ServerRefusal(readByteText(payload));
  }
  return { frame: { kind: "frame", band, payload }, next };
}
