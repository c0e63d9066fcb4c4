import type { Codec, Hash } from "../codec.ts";

/** Size of the pieces written, in bytes; longer input is passed on as it is. */
const PIECE_BYTES = 1024 * 1024;

/** A file that is written in pieces and hashed at the same time. */
export class PieceOutput {
  /** Bytes written so far. */
  sizeBytes = 0;
  private piece = new Uint8Array(PIECE_BYTES);
  private filled = 0;
  private readonly hash: Hash;
  private readonly write: (piece: Uint8Array) => Promise<void>;

  constructor(codec: Codec, write: (piece: Uint8Array) => Promise<void>) {
    this.hash = codec.createSha1();
    this.write = write;
  }

  /** Memory held in bytes: the piece being filled and the one being written. */
  get heldBytes(): number {
    return 2 * PIECE_BYTES;
  }

  /** True if `put` accepts `bytes` more bytes without a flush. */
  hasRoom(bytes: number): boolean {
    return this.filled + bytes <= PIECE_BYTES;
  }

  /** Appends a copy of the bytes, for which there must be room. */
  put(bytes: Uint8Array): void {
    this.piece.set(bytes, this.filled);
    this.filled += bytes.length;
    this.sizeBytes += bytes.length;
  }

  /** Appends any number of bytes. Input longer than a piece is passed on without copying. */
  async push(bytes: Uint8Array): Promise<void> {
    if (!this.hasRoom(bytes.length)) await this.flush();
    if (this.hasRoom(bytes.length)) {
      this.put(bytes);
      return;
    }
    this.hash.update(bytes);
    this.sizeBytes += bytes.length;
    await this.write(bytes);
  }

  /** Writes the pending bytes. */
  async flush(): Promise<void> {
    if (this.filled === 0) return;
    const piece = this.piece.subarray(0, this.filled);
    this.hash.update(piece);
    await this.write(piece);
    this.piece = new Uint8Array(PIECE_BYTES);
    this.filled = 0;
  }

  /** Writes the hash of all bytes as the trailer, and returns it. */
  async finish(): Promise<Uint8Array> {
    await this.flush();
    const digest = this.hash.digest();
    this.sizeBytes += digest.length;
    await this.write(digest);
    return digest;
  }
}
