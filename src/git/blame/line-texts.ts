import { type Budget, finishInTurns, type Steps } from "../budget.ts";
import { type Change, comparisonInTurns } from "../diff/line-diff.ts";
import { findLine, LineInterner, type Lines } from "../diff/lines.ts";
import { missing } from "../error.ts";
import type { Oid } from "../oid.ts";
import type { ObjectReader } from "../store.ts";

/**
 * Bytes of texts and tables of lines that are held at most, unless two texts alone are larger: the
 * versions of a file share most lines, so each is split and numbered once.
 */
const HELD_BYTES_MAX = 16 * 1024 * 1024;

/** Bytes to hold a line of a text, and a distinct line. */
const BYTES_PER_LINE = 8;
const BYTES_PER_CLASS = 40;

/** Steps for each distinct line of all texts, which a comparison counts. */
const STEPS_PER_CLASS = 0.5;

/** Steps for each byte that two texts have in common. */
const STEPS_PER_COMMON_BYTE = 0.05;

/** The size of the blocks in which git compares the ends of two texts, in bytes. */
const TAIL_BLOCK_BYTES = 1024;

/** Compares many texts line by line, most of which are versions of one file. */
export class LineTexts {
  private readonly objects: ObjectReader;
  private readonly budget: Budget;
  private interner: LineInterner;
  private held = new Map<Oid, Lines>();
  private heldBytes = 0;

  /** @param objects Counts its reads in the same budget. */
  constructor(objects: ObjectReader, budget: Budget) {
    this.objects = objects;
    this.budget = budget;
    this.interner = new LineInterner(budget);
  }

  /**
   * Compares two blobs as `git blame` does: as `git diff` without lines of context, which leaves
   * out the end that both have in common.
   *
   * @throws GitError `limit` once the budget, or half of it by this comparison, is exhausted.
   */
  async compare(leftOid: Oid, rightOid: Oid): Promise<Change[]> {
    if (this.heldBytes > HELD_BYTES_MAX) this.restart();
    const right = await this.read(rightOid);
    const left = await this.read(leftOid, right);
    const suffixBytes = countCommonSuffix(left.bytes, right.bytes);
    this.budget.consume(STEPS_PER_COMMON_BYTE * suffixBytes);
    const tailBytes = countTail(left.bytes, suffixBytes);
    const classes = this.interner.count;
    this.budget.consume(STEPS_PER_CLASS * classes);
    const pair = {
      left: withoutEnd(left, tailBytes),
      right: withoutEnd(right, tailBytes),
      classes,
    };
    return finishInTurns(comparisonInTurns(pair, "show", this.budget.half()), this.budget);
  }

  private restart(): void {
    this.interner = new LineInterner(this.budget);
    this.held = new Map();
    this.heldBytes = 0;
  }

  /** @param like A text that is probably much like it. */
  private async read(oid: Oid, like?: Lines): Promise<Lines> {
    const known = this.held.get(oid);
    if (known) return known;
    const found = await this.objects.readObject(oid);
    if (!found) throw missing(`blob ${oid}`);
    const { content } = found;
    const classes = this.interner.count;
    const splitting = like ? this.splitAlike(content, like) : this.interner.split(content);
    const lines = await finishInTurns(splitting, this.budget);
    this.held.set(oid, lines);
    this.heldBytes +=
      content.length +
      BYTES_PER_LINE * lines.count +
      BYTES_PER_CLASS * (this.interner.count - classes);
    return lines;
  }

  private splitAlike(content: Uint8Array, like: Lines): Steps<Lines> {
    const headBytes = countCommonPrefix(content, like.bytes);
    const tailBytes = countCommonSuffix(content, like.bytes);
    this.budget.consume(STEPS_PER_COMMON_BYTE * (headBytes + tailBytes));
    return this.interner.splitAlike(content, like, headBytes, tailBytes);
  }
}

/** Bytes that are compared at once. */
const WORD_BYTES = 4;

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

/** How many bytes are the same at the start of two texts. */
function countCommonPrefix(left: Uint8Array, right: Uint8Array): number {
  const shorter = Math.min(left.length, right.length);
  const [leftView, rightView] = [viewOf(left), viewOf(right)];
  let same = 0;
  while (same + WORD_BYTES <= shorter && leftView.getInt32(same) === rightView.getInt32(same)) {
    same += WORD_BYTES;
  }
  while (same < shorter && left[same] === right[same]) same++;
  return same;
}

/** How many bytes are the same at the end of two texts. */
function countCommonSuffix(left: Uint8Array, right: Uint8Array): number {
  const shorter = Math.min(left.length, right.length);
  const [leftView, rightView] = [viewOf(left), viewOf(right)];
  const [leftEnd, rightEnd] = [left.length, right.length];
  let same = WORD_BYTES;
  while (
    same <= shorter &&
    leftView.getInt32(leftEnd - same) === rightView.getInt32(rightEnd - same)
  ) {
    same += WORD_BYTES;
  }
  same -= WORD_BYTES;
  while (same < shorter && left[leftEnd - same - 1] === right[rightEnd - same - 1]) same++;
  return same;
}

/**
 * The bytes at the end of a text that git leaves out: whole blocks that are the same, without the
 * line in which they begin.
 *
 * @see `trim_common_tail` in git's xdiff-interface.c
 */
function countTail(text: Uint8Array, suffixBytes: number): number {
  const tailBytes = suffixBytes - (suffixBytes % TAIL_BLOCK_BYTES);
  const feed = tailBytes === 0 ? -1 : text.indexOf(0x0a, text.length - tailBytes);
  return feed < 0 ? 0 : text.length - feed - 1;
}

/** The lines without some bytes at their end, which are whole lines. */
function withoutEnd(lines: Lines, endBytes: number): Lines {
  const { bytes, starts, numbers } = lines;
  const count = findLine(lines, bytes.length - endBytes);
  return {
    bytes,
    count,
    starts: starts.subarray(0, count + 1),
    numbers: numbers.subarray(0, count),
  };
}
