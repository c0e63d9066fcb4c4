import { joinBytes } from "../wire/pkt-line.ts";

/** Small pieces are joined up to this size, in bytes. */
const PIECE_BYTES = 64 * 1024;

/** Joins what is written to pieces that are worth sending, and counts it. */
export class PieceJoiner {
  /** All that was pushed so far. */
  sizeBytes = 0;
  private pieces: Uint8Array[] = [];
  private waitingBytes = 0;

  get isFull(): boolean {
    return this.waitingBytes >= PIECE_BYTES;
  }

  /** Takes bytes that nobody changes any more. */
  push(bytes: Uint8Array): void {
    this.pieces.push(bytes);
    this.waitingBytes += bytes.length;
    this.sizeBytes += bytes.length;
  }

  /** All that was pushed since. */
  take(): Uint8Array {
    const joined = joinBytes(this.pieces);
    this.pieces = [];
    this.waitingBytes = 0;
    return joined;
  }
}
