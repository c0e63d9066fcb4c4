import { malformed } from "../../lib/failure.ts";
import { pause } from "../../lib/time-slice.ts";

/** Where decoded bytes go, and matches come from. */
interface Output {
  readonly length: number;
  push(byte: number): void;
  append(bytes: Uint8Array): void;
  back(distance: number): number;
}

const STATES = 12;
const POSITION_STATES_MAX = 16;
const LENGTH_STATES = 4;
const MATCH_LENGTH_MIN = 2;
/**
 * Slots of distances below this one have no bits of their own; from the second one on, aligned bits
 * end them.
 */
const FIRST_MODEL_SLOT = 4;
const FIRST_ALIGNED_SLOT = 14;
const ALIGN_BITS = 4;
const HALF = 1024;
/** Steps to decode a chunk, and a byte of its output. */
const CHUNK_STEPS = 1000;
const BYTE_STEPS = 5;
const PROBABILITY_BITS = 11;
const TOP = 2 ** 24;

/**
 * Decodes the chunks of an LZMA2 stream.
 *
 * @see https://tukaani.org/xz/xz-file-format.txt, 5.3.1; the LZMA SDK's lzma-specification.txt.
 */
export class Lzma2Decoder {
  private readonly bytes: Uint8Array;
  private readonly output: Output;
  private lzma: LzmaDecoder | undefined;
  /** Where in the output the dictionary begins. */
  private dictionaryStart = 0;

  constructor(bytes: Uint8Array, output: Output) {
    this.bytes = bytes;
    this.output = output;
  }

  /** @returns The offset behind the stream. @throws Failure `malformed` */
  async decode(start: number): Promise<number> {
    let isFirst = true;
    let decoded = this.output.length;
    for (let offset = start; ; isFirst = false) {
      await pause(CHUNK_STEPS + BYTE_STEPS * (this.output.length - decoded));
      decoded = this.output.length;
      const control = this.at(offset);
      if (control === 0) return offset + 1;
      const resetsDictionary = control === 1 || control >= 0xe0;
      if (isFirst && !resetsDictionary) throw broken();
      if (resetsDictionary) this.dictionaryStart = this.output.length;
      if (control >= 0x80) offset = this.decodeChunk(control, offset);
      else if (control <= 2) offset = this.copyChunk(offset);
      else throw broken();
    }
  }

  /** A chunk that is not compressed: its size and its bytes. */
  private copyChunk(offset: number): number {
    const start = offset + 3;
    const end = start + this.at(offset + 1) * 256 + this.at(offset + 2) + 1;
    if (end > this.bytes.length) throw broken();
    this.output.append(this.bytes.subarray(start, end));
    return end;
  }

  private decodeChunk(control: number, offset: number): number {
    const unpacked = (control & 0x1f) * 65536 + this.at(offset + 1) * 256 + this.at(offset + 2) + 1;
    const packed = this.at(offset + 3) * 256 + this.at(offset + 4) + 1;
    const reset = (control >> 5) & 0x03;
    let start = offset + 5;
    if (reset >= 2) this.lzma = new LzmaDecoder(this.output, this.at(start++));
    else if (reset === 1) this.lzma?.reset();
    const end = start + packed;
    if (!this.lzma || end > this.bytes.length) throw broken();
    this.lzma.decode(this.bytes.subarray(start, end), unpacked, this.dictionaryStart);
    return end;
  }

  private at(offset: number): number {
    const byte = this.bytes[offset];
    if (byte === undefined) throw broken();
    return byte;
  }
}

/** Probabilities of bits, each one half at first. */
const makeProbabilities = (count: number): Uint16Array => new Uint16Array(count).fill(HALF);

/** Decodes LZMA, with the state that its chunks share. */
class LzmaDecoder {
  private readonly output: Output;
  private readonly literalContextBits: number;
  private readonly literalPositionMask: number;
  private readonly positionMask: number;

  private state = 0;
  /** The last four distances, less one, the latest first. */
  private distances: [number, number, number, number] = [0, 0, 0, 0];
  private isMatch = makeProbabilities(0);
  private isRepeat = makeProbabilities(0);
  private isNotFirst = makeProbabilities(0);
  private isNotSecond = makeProbabilities(0);
  private isNotThird = makeProbabilities(0);
  private isLong = makeProbabilities(0);
  private slots = makeProbabilities(0);
  private special = makeProbabilities(0);
  private align = makeProbabilities(0);
  private literals = makeProbabilities(0);
  private matchLength = new LengthDecoder();
  private repeatLength = new LengthDecoder();

  constructor(output: Output, properties: number) {
    const contextBits = properties % 9;
    const positionBits = Math.floor(properties / 9) % 5;
    const stateBits = Math.floor(properties / 45);
    if (stateBits > 4 || contextBits + positionBits > 4) throw broken();
    this.output = output;
    this.literalContextBits = contextBits;
    this.literalPositionMask = 2 ** positionBits - 1;
    this.positionMask = 2 ** stateBits - 1;
    this.reset();
  }

  reset(): void {
    this.state = 0;
    this.distances = [0, 0, 0, 0];
    this.isMatch = makeProbabilities(STATES * POSITION_STATES_MAX);
    this.isRepeat = makeProbabilities(STATES);
    this.isNotFirst = makeProbabilities(STATES);
    this.isNotSecond = makeProbabilities(STATES);
    this.isNotThird = makeProbabilities(STATES);
    this.isLong = makeProbabilities(STATES * POSITION_STATES_MAX);
    this.slots = makeProbabilities(LENGTH_STATES * 64);
    this.special = makeProbabilities(128);
    this.align = makeProbabilities(2 ** ALIGN_BITS);
    this.literals = makeProbabilities(
      0x300 * (this.literalPositionMask + 1) * 2 ** this.literalContextBits,
    );
    this.matchLength = new LengthDecoder();
    this.repeatLength = new LengthDecoder();
  }

  /** Decodes one chunk, which yields exactly `unpacked` bytes. @throws Failure `malformed` */
  decode(bytes: Uint8Array, unpacked: number, dictionaryStart: number): void {
    const { output } = this;
    const bits = new RangeDecoder(bytes);
    const end = output.length + unpacked;
    while (output.length < end) {
      const positionState = (output.length - dictionaryStart) & this.positionMask;
      const at = this.state * POSITION_STATES_MAX + positionState;
      if (bits.read(this.isMatch, at) === 0) {
        this.decodeLiteral(bits, output.length - dictionaryStart);
        continue;
      }
      const length = this.decodeMatch(bits, at, positionState);
      const distance = this.distances[0] + 1;
      if (distance > output.length - dictionaryStart || length > end - output.length) {
        throw broken();
      }
      for (let copied = 0; copied < length; copied++) output.push(output.back(distance));
    }
  }

  private decodeLiteral(bits: RangeDecoder, position: number): void {
    const { output, literals } = this;
    const previous = position === 0 ? 0 : output.back(1);
    const context =
      (position & this.literalPositionMask) * 2 ** this.literalContextBits +
      (previous >> (8 - this.literalContextBits));
    const base = 0x300 * context;
    let symbol = 1;
    if (this.state >= 7) {
      // After a match the byte that would have followed it predicts the literal.
      let matched = output.back(this.distances[0] + 1);
      while (symbol < 0x100) {
        const matchedBit = (matched >> 7) & 1;
        matched <<= 1;
        const bit = bits.read(literals, base + ((1 + matchedBit) << 8) + symbol);
        symbol = symbol * 2 + bit;
        if (bit !== matchedBit) break;
      }
    }
    while (symbol < 0x100) symbol = symbol * 2 + bits.read(literals, base + symbol);
    output.push(symbol & 0xff);
    this.state = this.state < 4 ? 0 : this.state < 10 ? this.state - 3 : this.state - 6;
  }

  /** Decodes a match: sets its distance, and returns its length. */
  private decodeMatch(bits: RangeDecoder, at: number, positionState: number): number {
    const { state } = this;
    const [first, second, third, fourth] = this.distances;
    if (bits.read(this.isRepeat, state) === 0) {
      const length = this.matchLength.decode(bits, positionState);
      this.distances = [this.decodeDistance(bits, length), first, second, third];
      this.state = state < 7 ? 7 : 10;
      return length;
    }
    if (bits.read(this.isNotFirst, state) === 0) {
      if (bits.read(this.isLong, at) === 0) {
        this.state = state < 7 ? 9 : 11;
        return 1;
      }
    } else if (bits.read(this.isNotSecond, state) === 0) {
      this.distances = [second, first, third, fourth];
    } else if (bits.read(this.isNotThird, state) === 0) {
      this.distances = [third, first, second, fourth];
    } else {
      this.distances = [fourth, first, second, third];
    }
    this.state = state < 7 ? 8 : 11;
    return this.repeatLength.decode(bits, positionState);
  }

  private decodeDistance(bits: RangeDecoder, length: number): number {
    const lengthState = Math.min(length - MATCH_LENGTH_MIN, LENGTH_STATES - 1);
    const slot = bits.readTree(this.slots, lengthState * 64, 6);
    if (slot < FIRST_MODEL_SLOT) return slot;
    const directBits = (slot >> 1) - 1;
    const base = (2 | (slot & 1)) * 2 ** directBits;
    if (slot < FIRST_ALIGNED_SLOT) {
      return base + bits.readReverseTree(this.special, base - slot, directBits);
    }
    return (
      base +
      bits.readDirect(directBits - ALIGN_BITS) * 2 ** ALIGN_BITS +
      bits.readReverseTree(this.align, 0, ALIGN_BITS)
    );
  }
}

/** Decodes the lengths of matches, which have three ranges. */
class LengthDecoder {
  private readonly choices = makeProbabilities(2);
  private readonly low = makeProbabilities(POSITION_STATES_MAX * 8);
  private readonly middle = makeProbabilities(POSITION_STATES_MAX * 8);
  private readonly high = makeProbabilities(256);

  decode(bits: RangeDecoder, positionState: number): number {
    if (bits.read(this.choices, 0) === 0) {
      return MATCH_LENGTH_MIN + bits.readTree(this.low, positionState * 8, 3);
    }
    if (bits.read(this.choices, 1) === 0) {
      return MATCH_LENGTH_MIN + 8 + bits.readTree(this.middle, positionState * 8, 3);
    }
    return MATCH_LENGTH_MIN + 16 + bits.readTree(this.high, 0, 8);
  }
}

/** Reads bits by their probabilities. */
class RangeDecoder {
  private readonly bytes: Uint8Array;
  private offset = 1;
  private range = 0xffffffff;
  private code = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    if (bytes[0] !== 0) throw broken();
    for (let count = 0; count < 4; count++) this.code = ((this.code << 8) | this.next()) >>> 0;
  }

  read(probabilities: Uint16Array, at: number): 0 | 1 {
    const probability = probabilities[at] ?? HALF;
    const bound = (this.range >>> PROBABILITY_BITS) * probability;
    let bit: 0 | 1 = 0;
    if (this.code < bound) {
      this.range = bound;
      probabilities[at] = probability + ((2 ** PROBABILITY_BITS - probability) >> 5);
    } else {
      this.range -= bound;
      this.code -= bound;
      probabilities[at] = probability - (probability >> 5);
      bit = 1;
    }
    this.normalize();
    return bit;
  }

  /** Reads bits that are as likely 0 as 1. */
  readDirect(count: number): number {
    let value = 0;
    for (let read = 0; read < count; read++) {
      this.range >>>= 1;
      const bit = this.code >= this.range ? 1 : 0;
      if (bit === 1) this.code -= this.range;
      value = value * 2 + bit;
      this.normalize();
    }
    return value;
  }

  /** Reads a number of some bits, each by what the ones before it are. */
  readTree(probabilities: Uint16Array, base: number, bitCount: number): number {
    let symbol = 1;
    for (let read = 0; read < bitCount; read++) {
      symbol = symbol * 2 + this.read(probabilities, base + symbol);
    }
    return symbol - 2 ** bitCount;
  }

  /** The same, lowest bit first. */
  readReverseTree(probabilities: Uint16Array, base: number, bitCount: number): number {
    let symbol = 1;
    let value = 0;
    for (let read = 0; read < bitCount; read++) {
      const bit = this.read(probabilities, base + symbol);
      symbol = symbol * 2 + bit;
      value += bit * 2 ** read;
    }
    return value;
  }

  private normalize(): void {
    if (this.range >= TOP) return;
    this.range = (this.range << 8) >>> 0;
    this.code = ((this.code << 8) | this.next()) >>> 0;
  }

  private next(): number {
    const byte = this.bytes[this.offset++];
    if (byte === undefined) throw broken();
    return byte;
  }
}

const broken = () => malformed("the file is not compressed by LZMA2, or broken");
