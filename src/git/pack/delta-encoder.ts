import { runNow, type Steps } from "../budget.ts";

/** Size of the indexed blocks of the base, in bytes: shorter matches are not found. */
const BLOCK_BYTES = 16;
/** Longest copy of one instruction, in bytes. The format allows more, but git never writes it. */
const COPY_BYTES_MAX = 0x10000;
/** Longest insert of one instruction, in bytes. */
const INSERT_BYTES_MAX = 127;
/**
 * Maximum number of blocks tried per hash: otherwise a base of one repeated line would try all its
 * blocks.
 */
const CANDIDATES_MAX = 16;

const MULTIPLIER = 0x01000193;

/** The factor of a block's oldest byte in the hash, to remove that byte from the rolling hash. */
const OLDEST_FACTOR = (() => {
  let factor = 1;
  for (let at = 1; at < BLOCK_BYTES; at++) factor = Math.imul(factor, MULTIPLIER);
  return factor;
})();

/** Bytes after which encoding can be interrupted, and steps for each. */
const TURN_BYTES = 16 * 1024;
const BYTE_STEPS = 3;

/** How far a target is encoded. */
interface Encoding {
  /** Start of the bytes that no instruction covers yet. */
  pending: number;
  at: number;
  /** The hash of the block at `at`. */
  hash: number;
}

/** Encodes `target` as a delta of `base`, as `DeltaEncoder.encode` does. Can be interrupted. */
export function* encodeInTurns(
  base: Uint8Array,
  target: Uint8Array,
  bytesMax: number,
): Steps<Uint8Array | undefined> {
  const encoder = new DeltaEncoder(base);
  yield base.length;
  return yield* encoder.encodeInTurns(target, bytesMax);
}

/**
 * A base indexed for delta encoding: its blocks by hash. Cost: eight bytes for every sixteen bytes
 * of the base, and one pass over it.
 */
export class DeltaEncoder {
  private readonly base: Uint8Array;
  private readonly mask: number;
  /** First block of each hash slot, as block number plus one. */
  private readonly heads: Uint32Array;
  /** Next block of the same slot, as block number plus one. */
  private readonly nexts: Uint32Array;

  constructor(base: Uint8Array) {
    this.base = base;
    const blocks = Math.floor(base.length / BLOCK_BYTES);
    const size = 1 << Math.max(4, 32 - Math.clz32(blocks));
    this.mask = size - 1;
    this.heads = new Uint32Array(size);
    this.nexts = new Uint32Array(blocks);
    // From the end, so that the earliest block of a hash is tried first.
    for (let block = blocks - 1; block >= 0; block--) {
      const slot = this.slot(hashBlock(base, block * BLOCK_BYTES));
      this.nexts[block] = this.heads[slot] as number;
      this.heads[slot] = block + 1;
    }
  }

  /**
   * Encodes `target` as a delta of the base.
   *
   * @param bytesMax Maximum useful length of the delta; encoding stops early beyond it.
   * @returns Undefined if the delta would be longer.
   * @see gitformat-pack(5), "Deltified representation".
   */
  encode(target: Uint8Array, bytesMax: number): Uint8Array | undefined {
    return runNow(this.encodeInTurns(target, bytesMax));
  }

  /** `encode`, which can be interrupted. */
  *encodeInTurns(target: Uint8Array, bytesMax: number): Steps<Uint8Array | undefined> {
    const { base } = this;
    const output = new DeltaOutput(bytesMax);
    output.size(base.length);
    output.size(target.length);
    const state: Encoding = {
      pending: 0,
      at: 0,
      hash: target.length >= BLOCK_BYTES ? hashBlock(target, 0) : 0,
    };
    for (let end = TURN_BYTES; state.at + BLOCK_BYTES <= target.length; end += TURN_BYTES) {
      this.encodeUntil(Math.min(end, target.length), target, output, state);
      if (output.isTooLong) return undefined;
      yield BYTE_STEPS * TURN_BYTES;
    }
    output.insert(target, state.pending, target.length);
    return output.isTooLong ? undefined : output.bytes();
  }

  /** Encodes what begins before `end`, in a loop of its own that the engine compiles. */
  private encodeUntil(end: number, target: Uint8Array, output: DeltaOutput, state: Encoding): void {
    const { base } = this;
    let { pending, at, hash } = state;
    while (at < end && at + BLOCK_BYTES <= target.length) {
      const match = this.longestMatch(target, at, hash);
      if (match.length < BLOCK_BYTES) {
        const oldest = Math.imul(target[at] as number, OLDEST_FACTOR);
        const next = target[at + BLOCK_BYTES] ?? 0;
        hash = (Math.imul(hash - oldest, MULTIPLIER) + next) | 0;
        at++;
        continue;
      }
      let { start, length } = match;
      // The skipped bytes before the match may match too.
      while (
        at > pending &&
        start > 0 &&
        length < COPY_BYTES_MAX &&
        base[start - 1] === target[at - 1]
      ) {
        start--;
        at--;
        length++;
      }
      output.insert(target, pending, at);
      output.copy(start, length);
      if (output.isTooLong) return;
      at += length;
      pending = at;
      if (at + BLOCK_BYTES <= target.length) hash = hashBlock(target, at);
    }
    Object.assign(state, { pending, at, hash });
  }

  private longestMatch(
    target: Uint8Array,
    at: number,
    hash: number,
  ): { start: number; length: number } {
    const { base, nexts } = this;
    let start = 0;
    let length = 0;
    let tries = CANDIDATES_MAX;
    let block = this.heads[this.slot(hash)] as number;
    for (; block !== 0 && tries > 0; tries--, block = nexts[block - 1] as number) {
      const from = (block - 1) * BLOCK_BYTES;
      const limit = Math.min(base.length - from, target.length - at, COPY_BYTES_MAX);
      if (limit <= length) continue;
      let same = 0;
      while (same < limit && base[from + same] === target[at + same]) same++;
      if (same > length) {
        start = from;
        length = same;
      }
    }
    return { start, length };
  }

  private slot(hash: number): number {
    return (hash ^ (hash >>> 15)) & this.mask;
  }
}

function hashBlock(bytes: Uint8Array, start: number): number {
  let hash = 0;
  for (let at = start; at < start + BLOCK_BYTES; at++) {
    hash = (Math.imul(hash, MULTIPLIER) + (bytes[at] as number)) | 0;
  }
  return hash;
}

/** A delta being written. */
class DeltaOutput {
  private buffer = new Uint8Array(256);
  private length = 0;
  private readonly bytesMax: number;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  get isTooLong(): boolean {
    return this.length > this.bytesMax;
  }

  bytes(): Uint8Array {
    return this.buffer.slice(0, this.length);
  }

  size(size: number): void {
    let rest = size;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.push((rest % 128) | 0x80);
    this.push(rest);
  }

  insert(bytes: Uint8Array, start: number, end: number): void {
    for (let at = start; at < end && !this.isTooLong; at += INSERT_BYTES_MAX) {
      const stop = Math.min(end, at + INSERT_BYTES_MAX);
      this.push(stop - at);
      for (let from = at; from < stop; from++) this.push(bytes[from] as number);
    }
  }

  copy(start: number, length: number): void {
    const code = this.length;
    this.push(0);
    let flags = 0x80;
    for (let byte = 0; byte < 4; byte++) {
      const value = (start >>> (8 * byte)) & 0xff;
      if (value === 0) continue;
      flags |= 1 << byte;
      this.push(value);
    }
    // A length of exactly 64 KB is encoded as 0.
    const written = length === 0x10000 ? 0 : length;
    for (let byte = 0; byte < 2; byte++) {
      const value = (written >>> (8 * byte)) & 0xff;
      if (value === 0) continue;
      flags |= 0x10 << byte;
      this.push(value);
    }
    this.buffer[code] = flags;
  }

  private push(byte: number): void {
    if (this.length === this.buffer.length) {
      const larger = new Uint8Array(this.buffer.length * 2);
      larger.set(this.buffer);
      this.buffer = larger;
    }
    this.buffer[this.length++] = byte;
  }
}
