import { type Budget, type Steps, UNLIMITED } from "../budget.ts";
import { overLimit } from "../error.ts";
import { comparedBytes, type Whitespace } from "./whitespace.ts";

/** The lines of two texts, where equal lines have the same number. */
export interface LinePair {
  readonly left: Lines;
  readonly right: Lines;
  /** The number of distinct lines. */
  readonly classes: number;
}

export interface Lines {
  readonly bytes: Uint8Array;
  readonly count: number;
  /** Byte offset of each line; one more element holds the end of the last line. */
  readonly starts: Uint32Array;
  /**
   * Number of each line. Two lines with equal numbers have equal bytes, including the line feed,
   * unless they were compared without some of their white space.
   */
  readonly numbers: Int32Array;
}

/** Steps to split off and number a line, and for each of its bytes. */
const STEPS_PER_LINE = 15;
const STEPS_PER_BYTE = 0.5;
/** The same to leave out white space, where a line may be copied. */
const STEPS_PER_COMPARED_LINE = 50;
const STEPS_PER_COMPARED_BYTE = 2;

/** Steps to take a line over from another text. */
const STEPS_PER_COPIED_LINE = 0.5;

/** How many lines are read between two checks of the budget. */
const CHECKED_LINES = 10_000;

/** Steps after which splitting can be interrupted. */
const TURN_STEPS = 50_000;

/**
 * Splits two texts into lines and numbers them. Cost: one pass, and a map of the distinct lines.
 *
 * @throws GitError `limit` if the texts have more lines than the budget allows.
 */
export function* splitInTurns(
  left: Uint8Array,
  right: Uint8Array,
  budget: Budget,
  whitespace: Whitespace = "show-all",
): Steps<LinePair> {
  const interner = new LineInterner(budget, whitespace);
  const leftLines = yield* interner.split(left);
  const rightLines = yield* interner.split(right);
  return { left: leftLines, right: rightLines, classes: interner.count };
}

/** The bytes of one line, with its line feed. */
export function lineBytes(lines: Lines, line: number): Uint8Array {
  return lines.bytes.subarray(lines.starts[line], lines.starts[line + 1]);
}

/** The first line that starts at an offset or after it; the number of lines if none does. */
export function findLine({ count, starts }: Lines, offset: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((starts[middle] as number) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Numbers lines across several texts, such as the three texts of a merge. */
export class LineInterner {
  count = 0;
  /**
   * For each slot of the hash table: a line's number plus one, or 0. A used slot continues at the
   * next slot.
   */
  private slots = new Uint32Array(1024);
  /** By number: the hash of the line, and its text and range there. */
  private readonly hashes: number[] = [];
  private readonly texts: Uint8Array[] = [];
  private readonly starts: number[] = [];
  private readonly ends: number[] = [];
  /**
   * SECURITY: a random seed, unknown to the author of the text. With a fixed seed, an attacker
   * could craft lines with equal hashes and make the lookup of each line a search through all other
   * lines.
   */
  private readonly seed = Math.floor(Math.random() * 2 ** 32) | 0;
  private readonly budget: Budget;
  private readonly whitespace: Whitespace;

  constructor(budget: Budget = UNLIMITED, whitespace: Whitespace = "show-all") {
    this.budget = budget;
    this.whitespace = whitespace;
  }

  /** Its steps count in the budget at each yield. */
  *split(bytes: Uint8Array): Steps<Lines> {
    const { starts, numbers } = yield* this.splitRange(bytes, 0, bytes.length);
    starts.push(bytes.length);
    return {
      bytes,
      count: numbers.length,
      starts: new Uint32Array(starts),
      numbers: new Int32Array(numbers),
    };
  }

  /**
   * `split` of a text that begins and ends like another one, whose numbers it takes there.
   *
   * @param like Split by this interner.
   * @param headBytes How many bytes at the start of both texts are the same, and `tailBytes` at the
   * end.
   */
  *splitAlike(bytes: Uint8Array, like: Lines, headBytes: number, tailBytes: number): Steps<Lines> {
    // Without the line in which the texts begin to differ, or which may go on in the other one.
    const headCount = Math.max(0, findLine(like, headBytes + 1) - 1);
    const headEnd = like.starts[headCount] as number;
    const tailMax = Math.min(tailBytes, Math.min(bytes.length, like.bytes.length) - headEnd);
    // The line feed before it is a part of what is the same.
    const tailFirst = findLine(like, like.bytes.length - tailMax + 1);
    const tailStart = like.starts[tailFirst] as number;
    const shift = bytes.length - like.bytes.length;
    const middle = yield* this.splitRange(bytes, headEnd, tailStart + shift);
    const tailLine = headCount + middle.numbers.length;
    const count = tailLine + like.count - tailFirst;
    const starts = new Uint32Array(count + 1);
    const numbers = new Int32Array(count);
    starts.set(like.starts.subarray(0, headCount));
    numbers.set(like.numbers.subarray(0, headCount));
    starts.set(middle.starts, headCount);
    numbers.set(middle.numbers, headCount);
    for (let at = tailLine; at <= count; at++) {
      starts[at] = (like.starts[at - tailLine + tailFirst] as number) + shift;
    }
    numbers.set(like.numbers.subarray(tailFirst), tailLine);
    this.budget.consume(STEPS_PER_COPIED_LINE * count);
    return { bytes, count, starts, numbers };
  }

  /** Splits a range of a text that begins and ends with whole lines. */
  private *splitRange(
    bytes: Uint8Array,
    from: number,
    to: number,
  ): Steps<{ starts: number[]; numbers: number[] }> {
    const starts: number[] = [];
    const numbers: number[] = [];
    const isPlain = this.whitespace === "show-all";
    const stepsPerLine = isPlain ? STEPS_PER_LINE : STEPS_PER_COMPARED_LINE;
    const stepsPerByte = isPlain ? STEPS_PER_BYTE : STEPS_PER_COMPARED_BYTE;
    let steps = 0;
    for (let start = from; start < to;) {
      const feed = bytes.indexOf(0x0a, start);
      const end = feed < 0 ? to : feed + 1;
      starts.push(start);
      numbers.push(this.numberLine(bytes, start, end));
      steps += stepsPerLine + stepsPerByte * (end - start);
      start = end;
      const isChecked = numbers.length % CHECKED_LINES === 0;
      if (!isChecked && steps < TURN_STEPS) continue;
      this.budget.consume(steps);
      steps = 0;
      if (isChecked && this.budget.isExhausted) {
        throw overLimit("a text has too many lines to compare");
      }
      yield 0;
    }
    this.budget.consume(steps);
    return { starts, numbers };
  }

  private numberLine(text: Uint8Array, start: number, end: number): number {
    if (this.whitespace === "show-all") return this.number(text, start, end);
    const compared = comparedBytes(text.subarray(start, end), this.whitespace);
    return this.number(compared, 0, compared.length);
  }

  private number(text: Uint8Array, start: number, end: number): number {
    let hash = this.seed;
    for (let at = start; at < end; at++) {
      hash = Math.imul(hash ^ (text[at] as number), 0x5bd1e995);
      hash ^= hash >>> 13;
    }
    const mask = this.slots.length - 1;
    let slot = hash & mask;
    for (let held = this.slots[slot] as number; held > 0; held = this.slots[slot] as number) {
      if (this.hashes[held - 1] === hash && this.isLine(held - 1, text, start, end))
        return held - 1;
      slot = (slot + 1) & mask;
    }
    const number = this.count++;
    this.slots[slot] = number + 1;
    this.hashes.push(hash);
    this.texts.push(text);
    this.starts.push(start);
    this.ends.push(end);
    if (2 * this.count > this.slots.length) this.grow();
    return number;
  }

  private isLine(number: number, text: Uint8Array, start: number, end: number): boolean {
    const known = this.texts[number] as Uint8Array;
    const from = this.starts[number] as number;
    if ((this.ends[number] as number) - from !== end - start) return false;
    for (let at = start; at < end; at++) {
      if (known[from + at - start] !== text[at]) return false;
    }
    return true;
  }

  private grow(): void {
    const slots = new Uint32Array(2 * this.slots.length);
    const mask = slots.length - 1;
    for (let number = 0; number < this.count; number++) {
      let slot = (this.hashes[number] as number) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = number + 1;
    }
    this.slots = slots;
  }
}
