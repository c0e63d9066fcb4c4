import { OID_BYTES } from "../oid.ts";

const BLOCK_BYTES = 64;

/**
 * Computes a SHA-1 over pieces of any size.
 *
 * Plain TypeScript beats the host's hash on small objects, where the call into native code costs
 * more than the hash, and is four to six times slower on large ones: see `Codec`.
 *
 * `digest` resets the instance, so it can be used for the next hash.
 *
 * @see FIPS 180-4, section 6.1.2.
 */
export class Sha1 {
  /** The five words of the state. */
  private readonly state = new Int32Array(5);
  /** The message schedule of the block being hashed: 80 words. */
  private readonly schedule = new Int32Array(80);
  /** The input bytes after the last full block. */
  private readonly pending = new Uint8Array(BLOCK_BYTES);
  private pendingBytes = 0;
  /** Total input in bytes. Exact up to 2^53. */
  private totalBytes = 0;

  constructor() {
    this.reset();
  }

  update(bytes: Uint8Array): this {
    const { length } = bytes;
    let at = 0;
    this.totalBytes += length;

    if (this.pendingBytes > 0) {
      at = Math.min(BLOCK_BYTES - this.pendingBytes, length);
      copyBytes(bytes, 0, this.pending, this.pendingBytes, at);
      this.pendingBytes += at;
      if (this.pendingBytes < BLOCK_BYTES) return this;
      this.compress(this.pending, 0);
      this.pendingBytes = 0;
    }

    for (; at + BLOCK_BYTES <= length; at += BLOCK_BYTES) this.compress(bytes, at);
    this.pendingBytes = length - at;
    copyBytes(bytes, at, this.pending, 0, this.pendingBytes);
    return this;
  }

  /** Writes the 20 bytes of the hash into `digest` and resets the state. */
  digestInto(digest: Uint8Array, offset = 0): void {
    const { pending, state, totalBytes } = this;
    let at = this.pendingBytes;
    pending[at++] = 0x80;
    if (at > BLOCK_BYTES - 8) {
      pending.fill(0, at);
      this.compress(pending, 0);
      at = 0;
    }
    pending.fill(0, at);
    // The message length in bits, as a 64-bit big-endian number.
    writeWord(pending, 56, Math.floor(totalBytes / 0x20000000));
    writeWord(pending, 60, (totalBytes << 3) >>> 0);
    this.compress(pending, 0);
    for (let word = 0; word < 5; word++)
      writeWord(digest, offset + 4 * word, state[word] as number);
    this.reset();
  }

  /** Returns the 20 bytes of the hash of all input since the last digest. */
  digest(): Uint8Array {
    const digest = new Uint8Array(OID_BYTES);
    this.digestInto(digest);
    return digest;
  }

  reset(): void {
    const { state } = this;
    state[0] = 0x67452301;
    state[1] = 0xefcdab89;
    state[2] = 0x98badcfe;
    state[3] = 0x10325476;
    state[4] = 0xc3d2e1f0;
    this.pendingBytes = 0;
    this.totalBytes = 0;
  }

  private compress(bytes: Uint8Array, offset: number): void {
    const { schedule: w, state } = this;
    for (let word = 0, at = offset; word < 16; word++, at += 4) {
      w[word] =
        ((bytes[at] as number) << 24) |
        ((bytes[at + 1] as number) << 16) |
        ((bytes[at + 2] as number) << 8) |
        (bytes[at + 3] as number);
    }
    for (let word = 16; word < 80; word++) {
      const mixed =
        (w[word - 3] as number) ^
        (w[word - 8] as number) ^
        (w[word - 14] as number) ^
        (w[word - 16] as number);
      w[word] = (mixed << 1) | (mixed >>> 31);
    }

    let a = state[0] as number;
    let b = state[1] as number;
    let c = state[2] as number;
    let d = state[3] as number;
    let e = state[4] as number;
    let next = 0;
    let word = 0;
    for (; word < 20; word++) {
      next =
        (((a << 5) | (a >>> 27)) + (d ^ (b & (c ^ d))) + e + 0x5a827999 + (w[word] as number)) | 0;
      e = d;
      d = c;
      c = (b << 30) | (b >>> 2);
      b = a;
      a = next;
    }
    for (; word < 40; word++) {
      next = (((a << 5) | (a >>> 27)) + (b ^ c ^ d) + e + 0x6ed9eba1 + (w[word] as number)) | 0;
      e = d;
      d = c;
      c = (b << 30) | (b >>> 2);
      b = a;
      a = next;
    }
    for (; word < 60; word++) {
      next =
        (((a << 5) | (a >>> 27)) +
          ((b & c) | (d & (b | c))) +
          e +
          0x8f1bbcdc +
          (w[word] as number)) |
        0;
      e = d;
      d = c;
      c = (b << 30) | (b >>> 2);
      b = a;
      a = next;
    }
    for (; word < 80; word++) {
      next = (((a << 5) | (a >>> 27)) + (b ^ c ^ d) + e + 0xca62c1d6 + (w[word] as number)) | 0;
      e = d;
      d = c;
      c = (b << 30) | (b >>> 2);
      b = a;
      a = next;
    }
    state[0] = (state[0] as number) + a;
    state[1] = (state[1] as number) + b;
    state[2] = (state[2] as number) + c;
    state[3] = (state[3] as number) + d;
    state[4] = (state[4] as number) + e;
  }
}

function copyBytes(
  from: Uint8Array,
  fromOffset: number,
  to: Uint8Array,
  toOffset: number,
  length: number,
): void {
  for (let at = 0; at < length; at++) to[toOffset + at] = from[fromOffset + at] as number;
}

function writeWord(bytes: Uint8Array, offset: number, word: number): void {
  bytes[offset] = word >>> 24;
  bytes[offset + 1] = word >>> 16;
  bytes[offset + 2] = word >>> 8;
  bytes[offset + 3] = word;
}
