import type { Codec, Hash } from "../codec.ts";

/** Bytes are handed on in pieces of this size; what is larger goes on as it is. */
const PIECE_BYTES = 1024 * 1024;

/** A file that is written in pieces, and hashed on the way. */
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

  /** Bytes in memory: the piece that fills and the one that is being taken. */
  get heldBytes(): number {
    return 2 * PIECE_BYTES;
  }

  /** True if `bytes` more can be put without waiting. */
  hasRoom(bytes: number): boolean {
    return this.filled + bytes <= PIECE_BYTES;
  }

  /** Takes bytes for which there is room, and copies them. */
  put(bytes: Uint8Array): void {
    this.piece.set(bytes, this.filled);
    this.filled += bytes.length;
    this.sizeBytes += bytes.length;
  }

  /** Takes any number of bytes, which are not copied if they are many. */
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

  /** Hands on what is waiting. */
  async flush(): Promise<void> {
    if (this.filled === 0) return;
    const piece = this.piece.subarray(0, this.filled);
    this.hash.update(piece);
    await this.write(piece);
    this.piece = new Uint8Array(PIECE_BYTES);
    this.filled = 0;
  }

  /** Writes the hash of everything as the last bytes, and returns it. */
  async finish(): Promise<Uint8Array> {
    await this.flush();
    const digest = this.hash.digest();
    this.sizeBytes += digest.length;
    await this.write(digest);
    return digest;
  }
}
