import { runNow, type Steps } from "../budget.ts";
import { type ByteText, readByteText } from "../byte-text.ts";
import { OID_BYTES } from "../oid.ts";
import { isTreeMode, STEPS_PER_TREE_BYTE, TREE_PART_BYTES } from "./tree.ts";

/**
 * Receives an entry: its mode, and the offsets of its id and of its start in the bytes of its tree.
 */
type EntryVisitor = (mode: number, oidOffset: number, start: number) => void;

/**
 * Compares two sorted trees and reports the entries that only one of them has. A changed entry is
 * reported twice, once for each side. Both must be trees that `visitTree` can read.
 */
export function compareTrees(
  left: Uint8Array,
  right: Uint8Array,
  onlyLeft: EntryVisitor,
  onlyRight: EntryVisitor,
): void {
  runNow(compareInParts(left, right, onlyLeft, onlyRight));
}

/** `compareTrees` in parts. */
export function* compareInParts(
  left: Uint8Array,
  right: Uint8Array,
  onlyLeft: EntryVisitor,
  onlyRight: EntryVisitor,
): Steps {
  // Two versions of a directory share nearly all of their bytes, at both ends.
  const { head, tail } = measureCommon(left, right);
  yield STEPS_PER_COMMON_BYTE * (head + tail);
  let a = 0;
  let yielded = 0;
  while (a < left.length) {
    if (a - yielded > TREE_PART_BYTES) {
      yield STEPS_PER_TREE_BYTE * (a - yielded);
      yielded = a;
    }
    const end = entryEnd(left, a);
    if (end > head) break;
    a = end;
  }
  let b = a;
  yielded = a + b;
  while (a < left.length && b < right.length) {
    if (a + b - yielded > TREE_PART_BYTES) {
      yield STEPS_PER_TREE_BYTE * (a + b - yielded);
      yielded = a + b;
    }
    if (left.length - a <= tail && left.length - a === right.length - b) return;
    const aEnd = entryEnd(left, a);
    const bEnd = entryEnd(right, b);
    const order = compareEntries(left, a, aEnd, right, b, bEnd);
    if (order === 0 && aEnd - a === bEnd - b && isSame(left, a, right, b, aEnd - a)) {
      a = aEnd;
      b = bEnd;
      continue;
    }
    if (order <= 0) {
      onlyLeft(entryMode(left, a), aEnd - OID_BYTES, a);
      a = aEnd;
    }
    if (order >= 0) {
      onlyRight(entryMode(right, b), bEnd - OID_BYTES, b);
      b = bEnd;
    }
  }
  for (; a < left.length; a = entryEnd(left, a)) {
    if (a + b - yielded > TREE_PART_BYTES) {
      yield STEPS_PER_TREE_BYTE * (a + b - yielded);
      yielded = a + b;
    }
    onlyLeft(entryMode(left, a), entryEnd(left, a) - OID_BYTES, a);
  }
  for (; b < right.length; b = entryEnd(right, b)) {
    if (a + b - yielded > TREE_PART_BYTES) {
      yield STEPS_PER_TREE_BYTE * (a + b - yielded);
      yielded = a + b;
    }
    onlyRight(entryMode(right, b), entryEnd(right, b) - OID_BYTES, b);
  }
}

/** Steps to find that a byte of two trees is the same. */
const STEPS_PER_COMMON_BYTE = 0.1;

/**
 * Measures the common prefix and the common suffix of two contents. The suffix does not overlap the
 * prefix.
 */
function measureCommon(left: Uint8Array, right: Uint8Array): { head: number; tail: number } {
  const shorter = Math.min(left.length, right.length);
  let head = 0;
  while (head < shorter && left[head] === right[head]) head++;
  const rest = shorter - head;
  let tail = 0;
  while (tail < rest && left[left.length - 1 - tail] === right[right.length - 1 - tail]) tail++;
  return { head, tail };
}

export function entryEnd(bytes: Uint8Array, start: number): number {
  let at = start;
  // A loop, because names are short and `indexOf` costs more.
  while (bytes[at] !== 0) at++;
  return at + 1 + OID_BYTES;
}

export function entryMode(bytes: Uint8Array, start: number): number {
  let mode = 0;
  for (let at = start; bytes[at] !== 0x20; at++) mode = mode * 8 + (bytes[at] as number) - 0x30;
  return mode;
}

/** The name of the entry from `start`, whose id is at `oidOffset`. */
export const entryName = (bytes: Uint8Array, start: number, oidOffset: number): ByteText =>
  readByteText(bytes, bytes.indexOf(SPACE, start) + 1, oidOffset - 1);

const SPACE = 0x20;

function isSame(a: Uint8Array, aStart: number, b: Uint8Array, bStart: number, length: number) {
  for (let at = 0; at < length; at++) {
    if (a[aStart + at] !== b[bStart + at]) return false;
  }
  return true;
}

/** Compares two entries by name; a directory sorts as if its name ended in a slash. */
function compareEntries(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): number {
  let left = a.indexOf(0x20, aStart) + 1;
  let right = b.indexOf(0x20, bStart) + 1;
  const aTail = isTreeMode(entryMode(a, aStart)) ? 0x2f : 0;
  const bTail = isTreeMode(entryMode(b, bStart)) ? 0x2f : 0;
  const leftEnd = aEnd - OID_BYTES - 1;
  const rightEnd = bEnd - OID_BYTES - 1;
  for (; left < leftEnd && right < rightEnd; left++, right++) {
    const difference = (a[left] as number) - (b[right] as number);
    if (difference !== 0) return difference;
  }
  const aNext = left < leftEnd ? (a[left] as number) : aTail;
  const bNext = right < rightEnd ? (b[right] as number) : bTail;
  return aNext - bNext || leftEnd - left - (rightEnd - right);
}

/**
 * Returns the offsets of the entries that differ, if two trees differ only in the ids of entries;
 * undefined otherwise.
 *
 * @param base A valid tree.
 */
export function* findEdits(base: Uint8Array, content: Uint8Array): Steps<number[] | undefined> {
  if (base.length !== content.length) return undefined;
  // The search for differences, which takes four bytes at once.
  yield STEPS_PER_COMMON_BYTE * base.length;
  const entries: number[] = [];
  const baseWords = wordsOf(base);
  const words = wordsOf(content);
  let start = 0;
  let yielded = 0;
  for (let at = findDifference(base, content, 0, baseWords, words); at < base.length;) {
    let end = entryEnd(base, start);
    while (end <= at) {
      start = end;
      if (start - yielded > TREE_PART_BYTES) {
        yield STEPS_PER_TREE_BYTE * (start - yielded);
        yielded = start;
      }
      end = entryEnd(base, start);
    }
    if (at < end - OID_BYTES) return undefined;
    entries.push(start);
    start = end;
    at = findDifference(base, content, end, baseWords, words);
  }
  return entries;
}

/** The bytes as words of four, without the last ones; undefined if they are not aligned. */
const wordsOf = ({ buffer, byteOffset, length }: Uint8Array): Int32Array | undefined =>
  (byteOffset & 3) === 0 ? new Int32Array(buffer, byteOffset, length >>> 2) : undefined;

/**
 * Returns the offset of the first difference at or after `start`, or the common length if there is
 * none.
 *
 * @param leftWords The same bytes by `wordsOf`.
 */
function findDifference(
  left: Uint8Array,
  right: Uint8Array,
  start: number,
  leftWords: Int32Array | undefined,
  rightWords: Int32Array | undefined,
): number {
  const { length } = left;
  let at = start;
  if (leftWords && rightWords) {
    while (at < length && (at & 3) !== 0 && left[at] === right[at]) at++;
    if ((at & 3) === 0) {
      const words = leftWords.length;
      let word = at >>> 2;
      while (word < words && leftWords[word] === rightWords[word]) word++;
      at = word * 4;
    }
  }
  while (at < length && left[at] === right[at]) at++;
  return at;
}
