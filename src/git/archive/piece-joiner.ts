import { joinBytes } from "../wire/pkt-line.ts";

/** Small pieces are joined up to this size, in bytes. */
const PIECE_BYTES = 64 * 1024;

/** Joins written bytes into pieces that are large enough to send, and counts the bytes. */
export class PieceJoiner {
  /** Total bytes pushed so far. */
  sizeBytes = 0;
  private pieces: Uint8Array[] = [];
  private waitingBytes = 0;

  get isFull(): boolean {
    return this.waitingBytes >= PIECE_BYTES;
  }

  /** Appends bytes, which must not be changed afterwards. */
  push(bytes: Uint8Array): void {
    this.pieces.push(bytes);
    this.waitingBytes += bytes.length;
    this.sizeBytes += bytes.length;
  }

  /** Returns and clears the bytes pushed since the last call. */
  take(): Uint8Array {
    const joined = joinBytes(this.pieces);
    this.pieces = [];
    this.waitingBytes = 0;
    return joined;
  }
}
