import { corrupt } from "../error.ts";
import { adler32 } from "../hash/adler32.ts";
import {
  CODE_LENGTH_MEANINGS,
  CODE_LENGTH_ORDER,
  DISTANCE_MEANINGS,
  FIXED_LENGTHS,
  LITERAL_MEANINGS,
} from "./deflate-codes.ts";
import { ENTRY_BASE, ENTRY_INVALID, ENTRY_KIND, ENTRY_LITERAL, HuffmanTable } from "./huffman.ts";

/**
 * Maximum distance of a match, in bytes: the caller must keep this much earlier output in front of
 * the buffer.
 */
export const WINDOW_BYTES = 32768;

/**
 * Matches longer than this, in bytes, are copied faster by the runtime than by a loop (measured).
 */
const COPY_BYTES_MIN = 64;

/**
 * Maximum bytes that the fast loop reads for one symbol: two codes, their extra bits, and slack.
 */
const SYMBOL_BYTES_MAX = 10;

/**
 * Why the inflater stopped: the end of the stream, the end of the input, or a full output. After
 * `need-input` the caller passes the unread bytes again, followed by more.
 */
export type InflateStatus = "done" | "need-input" | "output-full";

// States: the element that comes next in the stream.
const header = 0;
const block = 1;
const stored = 2;
const table = 3;
const codes = 4;
const match = 5;
const check = 6;
const done = 7;

let fixed: { literals: HuffmanTable; distances: HuffmanTable } | undefined;

/**
 * A resumable zlib decoder with exact boundaries: it never reads a byte past the end of the stream,
 * and reports where the stream ended, which is the only way to find the next entry of a pack.
 *
 * It allocates nothing while it runs. Output goes into the caller's buffer, so the caller bounds
 * it. Matches are copied from the same buffer, so a caller that empties it keeps the last
 * `WINDOW_BYTES` in front.
 *
 * @see RFC 1950 (zlib), RFC 1951 (deflate).
 */
export class Inflater {
  /** After `run`: offset of the first unconsumed input byte. */
  inputOffset = 0;
  /** After `run`: offset after the last byte written. */
  outputOffset = 0;

  private mode = header;
  private isLastBlock = false;
  /** Unused bits already read: fewer than eight between runs. First bit lowest. */
  private hold = 0;
  private holdBits = 0;
  /** Remaining bytes of a stored block, or of a match that did not fit the output. */
  private leftBytes = 0;
  private matchDistance = 0;
  private adler = 1;
  private literals: HuffmanTable;
  private distances: HuffmanTable;
  private readonly ownLiterals = new HuffmanTable(10, LITERAL_MEANINGS);
  private readonly ownDistances = new HuffmanTable(8, DISTANCE_MEANINGS);
  private readonly codeLengths = new HuffmanTable(7, CODE_LENGTH_MEANINGS);
  private readonly lengths = new Uint8Array(288 + 32);

  constructor() {
    this.literals = this.ownLiterals;
    this.distances = this.ownDistances;
  }

  /** Resets the state for the next stream. */
  reset(): void {
    this.mode = header;
    this.isLastBlock = false;
    this.hold = 0;
    this.holdBits = 0;
    this.adler = 1;
  }

  /**
   * Decodes until the stream ends, the input runs out or the output is full.
   *
   * @param output Receives bytes from `outputStart` to `outputEnd`; holds the earlier output before
   * `outputStart`.
   * @throws GitError `corrupt` if the bytes are not a zlib stream or the checksum does not match.
   */
  run(
    input: Uint8Array,
    inputStart: number,
    inputEnd: number,
    output: Uint8Array,
    outputStart: number,
    outputEnd: number,
  ): InflateStatus {
    this.inputOffset = inputStart;
    this.outputOffset = outputStart;
    let checkedOffset = outputStart;
    for (;;) {
      let isStarved = false;
      switch (this.mode) {
        case header:
          isStarved = !this.readHeader(input, inputEnd);
          break;
        case block:
          isStarved = !this.readBlockStart(input, inputEnd);
          break;
        case stored:
          if (this.leftBytes > 0 && this.outputOffset === outputEnd) {
            this.adler = adler32(output, checkedOffset, this.outputOffset, this.adler);
            return "output-full";
          }
          isStarved = !this.copyStored(input, inputEnd, output, outputEnd);
          break;
        case table:
          isStarved = !this.readTables(input, inputEnd);
          break;
        case codes:
          isStarved = !this.decode(input, inputEnd, output, outputEnd);
          break;
        case match:
          if (this.outputOffset === outputEnd) {
            this.adler = adler32(output, checkedOffset, this.outputOffset, this.adler);
            return "output-full";
          }
          this.continueMatch(output, outputEnd);
          break;
        case check:
          this.adler = adler32(output, checkedOffset, this.outputOffset, this.adler);
          checkedOffset = this.outputOffset;
          isStarved = !this.readCheck(input, inputEnd);
          break;
        default:
          return "done";
      }
      if (isStarved) {
        this.adler = adler32(output, checkedOffset, this.outputOffset, this.adler);
        return "need-input";
      }
    }
  }

  /** Makes at least `count` bits (up to 24) available; false if the input has too few. */
  private need(input: Uint8Array, inputEnd: number, count: number): boolean {
    while (this.holdBits < count) {
      if (this.inputOffset >= inputEnd) return false;
      this.hold |= (input[this.inputOffset++] as number) << this.holdBits;
      this.holdBits += 8;
    }
    return true;
  }

  private take(count: number): number {
    const value = this.hold & ((1 << count) - 1);
    this.hold >>>= count;
    this.holdBits -= count;
    return value;
  }

  /** Returns whole unused bytes to the input. */
  private unread(): void {
    this.inputOffset -= this.holdBits >>> 3;
    this.holdBits &= 7;
    this.hold &= (1 << this.holdBits) - 1;
  }

  private readHeader(input: Uint8Array, inputEnd: number): boolean {
    if (inputEnd - this.inputOffset < 2) return false;
    const method = input[this.inputOffset] as number;
    const flags = input[this.inputOffset + 1] as number;
    if ((method & 0x0f) !== 8 || method >>> 4 > 7 || ((method << 8) | flags) % 31 !== 0) {
      throw corrupt("zlib: bad header");
    }
    if (flags & 0x20) throw corrupt("zlib: preset dictionary");
    this.inputOffset += 2;
    this.mode = block;
    return true;
  }

  private readBlockStart(input: Uint8Array, inputEnd: number): boolean {
    if (this.isLastBlock) {
      // The checksum starts at the next whole byte.
      this.hold = 0;
      this.holdBits = 0;
      this.mode = check;
      return true;
    }
    const { inputOffset, hold, holdBits } = this;
    if (!this.need(input, inputEnd, 3)) return this.rewind(inputOffset, hold, holdBits);
    const start = this.take(3);
    switch (start >>> 1) {
      case 0: {
        // The rest of this byte is padding; the length and its complement follow.
        this.take(this.holdBits & 7);
        if (!this.need(input, inputEnd, 16)) return this.rewind(inputOffset, hold, holdBits);
        const length = this.take(16);
        if (!this.need(input, inputEnd, 16)) return this.rewind(inputOffset, hold, holdBits);
        if ((this.take(16) ^ 0xffff) !== length) throw corrupt("zlib: bad stored block length");
        this.unread();
        this.leftBytes = length;
        this.mode = stored;
        break;
      }
      case 1:
        fixed ??= makeFixed();
        this.literals = fixed.literals;
        this.distances = fixed.distances;
        this.unread();
        this.mode = codes;
        break;
      case 2:
        this.unread();
        this.mode = table;
        break;
      default:
        throw corrupt("zlib: bad block type");
    }
    this.isLastBlock = (start & 1) === 1;
    return true;
  }

  private rewind(inputOffset: number, hold: number, holdBits: number): false {
    this.inputOffset = inputOffset;
    this.hold = hold;
    this.holdBits = holdBits;
    return false;
  }

  private copyStored(
    input: Uint8Array,
    inputEnd: number,
    output: Uint8Array,
    outputEnd: number,
  ): boolean {
    if (this.leftBytes === 0) {
      this.mode = block;
      return true;
    }
    const { inputOffset } = this;
    const length = Math.min(this.leftBytes, inputEnd - inputOffset, outputEnd - this.outputOffset);
    if (length === 0) return false;
    output.set(input.subarray(inputOffset, inputOffset + length), this.outputOffset);
    this.inputOffset += length;
    this.outputOffset += length;
    this.leftBytes -= length;
    return true;
  }

  /**
   * Reads the codes of a dynamic block. If the input ends inside them, the next run starts over.
   */
  private readTables(input: Uint8Array, inputEnd: number): boolean {
    const { inputOffset, hold, holdBits, lengths, codeLengths } = this;
    if (!this.need(input, inputEnd, 14)) return this.rewind(inputOffset, hold, holdBits);
    const literalCount = this.take(5) + 257;
    const distanceCount = this.take(5) + 1;
    const codeLengthCount = this.take(4) + 4;
    if (literalCount > 286 || distanceCount > 30) throw corrupt("zlib: too many symbols");

    lengths.fill(0, 0, CODE_LENGTH_ORDER.length);
    for (let at = 0; at < codeLengthCount; at++) {
      if (!this.need(input, inputEnd, 3)) return this.rewind(inputOffset, hold, holdBits);
      lengths[CODE_LENGTH_ORDER[at] as number] = this.take(3);
    }
    codeLengths.build(lengths, 0, CODE_LENGTH_ORDER.length, false);

    const total = literalCount + distanceCount;
    for (let at = 0; at < total;) {
      this.need(input, inputEnd, 14);
      const entry = codeLengths.entries[this.hold & 0x7f] as number;
      const codeBits = entry & 15;
      const symbol = entry >>> 16;
      const extraBits = symbol < 16 ? 0 : symbol === 16 ? 2 : symbol === 17 ? 3 : 7;
      if (codeBits + extraBits > this.holdBits) return this.rewind(inputOffset, hold, holdBits);
      this.take(codeBits);
      if (symbol < 16) {
        lengths[at++] = symbol;
        continue;
      }
      if (symbol === 16 && at === 0) throw corrupt("zlib: no length to repeat");
      const repeated = symbol === 16 ? (lengths[at - 1] as number) : 0;
      const count = this.take(extraBits) + (symbol === 18 ? 11 : 3);
      if (at + count > total) throw corrupt("zlib: too many code lengths");
      for (const stop = at + count; at < stop; at++) lengths[at] = repeated;
    }
    if (lengths[256] === 0) throw corrupt("zlib: no end of block");

    this.ownLiterals.build(lengths, 0, literalCount, true);
    this.ownDistances.build(lengths, literalCount, total, true);
    this.literals = this.ownLiterals;
    this.distances = this.ownDistances;
    this.unread();
    this.mode = codes;
    return true;
  }

  /** Decodes symbols until the block or a buffer ends; false if more input is needed. */
  private decode(
    input: Uint8Array,
    inputEnd: number,
    output: Uint8Array,
    outputEnd: number,
  ): boolean {
    for (;;) {
      if (this.decodeFar(input, inputEnd - SYMBOL_BYTES_MAX, output, outputEnd)) return true;
      if (!this.decodeAtEnd(input, inputEnd, output, outputEnd)) return false;
      if (this.mode !== codes) return true;
    }
  }

  /**
   * Decodes symbols as long as the input cannot end inside one, which saves checks for its end.
   *
   * @returns True if decoding stopped at the end of the block, or at a match that does not fit the
   * output.
   */
  private decodeFar(
    input: Uint8Array,
    inputLast: number,
    output: Uint8Array,
    outputEnd: number,
  ): boolean {
    const { literals, distances } = this;
    const literalEntries = literals.entries;
    const distanceEntries = distances.entries;
    const literalMask = literalEntries.length - 1;
    const distanceMask = distanceEntries.length - 1;
    let { hold, holdBits, inputOffset: at, outputOffset: to } = this;

    while (at <= inputLast && to < outputEnd) {
      if (holdBits < 16) {
        hold |= ((input[at] as number) | ((input[at + 1] as number) << 8)) << holdBits;
        at += 2;
        holdBits += 16;
      }
      let entry = literalEntries[hold & literalMask] as number;
      if (entry === 0) entry = literals.decodeLong(hold, holdBits);
      hold >>>= entry & 15;
      holdBits -= entry & 15;
      if ((entry & ENTRY_KIND) === ENTRY_LITERAL) {
        output[to++] = entry >>> 16;
        continue;
      }
      if ((entry & ENTRY_KIND) !== ENTRY_BASE) {
        if ((entry & ENTRY_KIND) === ENTRY_INVALID) throw corrupt("zlib: invalid length symbol");
        this.suspend(at, hold, holdBits, to);
        this.mode = block;
        return true;
      }

      if (holdBits < 16) {
        hold |= ((input[at] as number) | ((input[at + 1] as number) << 8)) << holdBits;
        at += 2;
        holdBits += 16;
      }
      let extraBits = (entry >>> 4) & 15;
      const length = (entry >>> 16) + (hold & ((1 << extraBits) - 1));
      hold >>>= extraBits;
      holdBits -= extraBits;

      if (holdBits < 16) {
        hold |= ((input[at] as number) | ((input[at + 1] as number) << 8)) << holdBits;
        at += 2;
        holdBits += 16;
      }
      entry = distanceEntries[hold & distanceMask] as number;
      if (entry === 0) entry = distances.decodeLong(hold, holdBits);
      if ((entry & ENTRY_KIND) !== ENTRY_BASE) throw corrupt("zlib: invalid distance symbol");
      hold >>>= entry & 15;
      holdBits -= entry & 15;
      if (holdBits < 16) {
        hold |= ((input[at] as number) | ((input[at + 1] as number) << 8)) << holdBits;
        at += 2;
        holdBits += 16;
      }
      extraBits = (entry >>> 4) & 15;
      const distance = (entry >>> 16) + (hold & ((1 << extraBits) - 1));
      hold >>>= extraBits;
      holdBits -= extraBits;

      let from = to - distance;
      if (from < 0) throw corrupt("zlib: distance too far back");
      const stop = to + length;
      if (stop > outputEnd) {
        this.suspend(at, hold, holdBits, to);
        this.leftBytes = length;
        this.matchDistance = distance;
        this.mode = match;
        return true;
      }
      if (length > COPY_BYTES_MIN && distance >= length) {
        output.copyWithin(to, from, from + length);
        to = stop;
      } else {
        while (to < stop) output[to++] = output[from++] as number;
      }
    }
    this.suspend(at, hold, holdBits, to);
    return false;
  }

  /**
   * Decodes one symbol in a position where a buffer may end inside it.
   *
   * @returns False, with the state as before the symbol, if bits are missing.
   */
  private decodeAtEnd(
    input: Uint8Array,
    inputEnd: number,
    output: Uint8Array,
    outputEnd: number,
  ): boolean {
    const { literals, distances, inputOffset, hold, holdBits } = this;
    this.fill(input, inputEnd);
    let entry = literals.entries[this.hold & (literals.entries.length - 1)] as number;
    if (entry === 0) entry = literals.decodeLong(this.hold, this.holdBits);
    if (entry === 0 || (entry & 15) > this.holdBits) {
      return this.rewind(inputOffset, hold, holdBits);
    }
    if ((entry & ENTRY_KIND) === ENTRY_LITERAL) {
      if (this.outputOffset >= outputEnd) {
        // Only output space is missing: the symbol is read again when there is room.
        this.rewind(inputOffset, hold, holdBits);
        this.leftBytes = 0;
        this.mode = match;
        return true;
      }
      this.take(entry & 15);
      output[this.outputOffset++] = entry >>> 16;
      this.unread();
      return true;
    }
    this.take(entry & 15);
    if ((entry & ENTRY_KIND) !== ENTRY_BASE) {
      if ((entry & ENTRY_KIND) === ENTRY_INVALID) throw corrupt("zlib: invalid length symbol");
      this.unread();
      this.mode = block;
      return true;
    }

    this.fill(input, inputEnd);
    const lengthBits = (entry >>> 4) & 15;
    if (lengthBits > this.holdBits) return this.rewind(inputOffset, hold, holdBits);
    const length = (entry >>> 16) + this.take(lengthBits);

    this.fill(input, inputEnd);
    entry = distances.entries[this.hold & (distances.entries.length - 1)] as number;
    if (entry === 0) entry = distances.decodeLong(this.hold, this.holdBits);
    if (entry === 0 || (entry & 15) > this.holdBits) {
      return this.rewind(inputOffset, hold, holdBits);
    }
    if ((entry & ENTRY_KIND) !== ENTRY_BASE) throw corrupt("zlib: invalid distance symbol");
    this.take(entry & 15);
    this.fill(input, inputEnd);
    const distanceBits = (entry >>> 4) & 15;
    if (distanceBits > this.holdBits) return this.rewind(inputOffset, hold, holdBits);
    const distance = (entry >>> 16) + this.take(distanceBits);
    if (distance > this.outputOffset) throw corrupt("zlib: distance too far back");

    this.unread();
    this.leftBytes = length;
    this.matchDistance = distance;
    this.mode = match;
    if (this.outputOffset < outputEnd) this.continueMatch(output, outputEnd);
    return true;
  }

  /** Makes 16 bits available, or as many as the input still has. */
  private fill(input: Uint8Array, inputEnd: number): void {
    while (this.holdBits < 16 && this.inputOffset < inputEnd) {
      this.hold |= (input[this.inputOffset++] as number) << this.holdBits;
      this.holdBits += 8;
    }
  }

  private suspend(inputOffset: number, hold: number, holdBits: number, outputOffset: number): void {
    this.inputOffset = inputOffset;
    this.hold = hold;
    this.holdBits = holdBits;
    this.outputOffset = outputOffset;
    this.unread();
  }

  private continueMatch(output: Uint8Array, outputEnd: number): void {
    let to = this.outputOffset;
    const distance = this.matchDistance;
    const stop = Math.min(outputEnd, to + this.leftBytes);
    this.leftBytes -= stop - to;
    for (; to < stop; to++) output[to] = output[to - distance] as number;
    this.outputOffset = to;
    if (this.leftBytes === 0) this.mode = codes;
  }

  private readCheck(input: Uint8Array, inputEnd: number): boolean {
    const at = this.inputOffset;
    if (inputEnd - at < 4) return false;
    const expected =
      ((input[at] as number) << 24) |
      ((input[at + 1] as number) << 16) |
      ((input[at + 2] as number) << 8) |
      (input[at + 3] as number);
    if (expected !== this.adler) throw corrupt("zlib: checksum mismatch");
    this.inputOffset = at + 4;
    this.mode = done;
    return true;
  }
}

function makeFixed(): { literals: HuffmanTable; distances: HuffmanTable } {
  const literals = new HuffmanTable(9, LITERAL_MEANINGS);
  const distances = new HuffmanTable(5, DISTANCE_MEANINGS);
  literals.build(FIXED_LENGTHS, 0, 288, false);
  distances.build(FIXED_LENGTHS, 288, FIXED_LENGTHS.length, false);
  return { literals, distances };
}
