import { type Budget, finishInTurns, type Steps, UNLIMITED } from "../budget.ts";
import { type Change, comparisonInTurns } from "../diff/line-diff.ts";
import { LineInterner, type Lines } from "../diff/lines.ts";

/** Conflicts with at most this many unchanged lines between them are joined into one. */
const GAP_LINES_MAX = 3;

/** Corresponding line ranges of the three texts. */
interface Span {
  readonly baseStart: number;
  readonly baseEnd: number;
  readonly ourStart: number;
  readonly ourEnd: number;
  readonly theirStart: number;
  readonly theirEnd: number;
}

/** A range of the three texts that at least one side changed. */
interface Hunk extends Span {
  readonly kind: "ours" | "theirs" | "conflict";
}

/** Three texts and the changes of both sides to the base. */
export interface LineMerge {
  readonly base: Lines;
  readonly ours: Lines;
  readonly theirs: Lines;
  /** In order. Lines between hunks are taken from our text. */
  readonly hunks: readonly Hunk[];
}

/** How conflicts are shown: `diff3` shows the base between the sides, `merge` does not. */
export type ConflictStyle = "merge" | "diff3";

/**
 * Merges two changed versions of a text, line by line, as `git merge` does.
 *
 * Changes conflict if they overlap or touch, unless both sides made the same change. A conflict is
 * reduced to the lines that differ between the sides.
 *
 * Cost: three comparisons (`compareLines`). The caller must limit the sizes of the texts, or the
 * work.
 *
 * @param style With `diff3`, conflicts are not reduced, so that the base shown still corresponds to
 *   them.
 * @throws GitError `limit` if the merge exceeds its budget.
 */
export function mergeLines(
  baseText: Uint8Array,
  ourText: Uint8Array,
  theirText: Uint8Array,
  style: ConflictStyle = "merge",
  budget: Budget = UNLIMITED,
): Promise<LineMerge> {
  return finishInTurns(mergeInTurns([baseText, ourText, theirText], style, budget), budget);
}

function* mergeInTurns(
  [baseText, ourText, theirText]: readonly [Uint8Array, Uint8Array, Uint8Array],
  style: ConflictStyle,
  budget: Budget,
): Steps<LineMerge> {
  const interner = new LineInterner(budget);
  const base = yield* interner.split(baseText);
  const ours = yield* interner.split(ourText);
  const theirs = yield* interner.split(theirText);
  const classes = interner.count;
  const compare = (right: Lines): Steps<Change[]> =>
    comparisonInTurns({ left: base, right, classes }, "merge", budget);
  const ourChanges = yield* compare(ours);
  const theirChanges = yield* compare(theirs);
  const found = findHunks(ours, ourChanges, theirs, theirChanges);
  if (style === "diff3") return { base, ours, theirs, hunks: found };
  const refined: Hunk[] = [];
  for (const hunk of found) {
    for (const part of yield* refine(hunk, ours, theirs, budget)) refined.push(part);
    yield 0;
  }
  return { base, ours, theirs, hunks: joinClose(refined) };
}

export const hasConflict = ({ hunks }: LineMerge): boolean =>
  hunks.some((hunk) => hunk.kind === "conflict");

/** Combines the changes of both sides into hunks; changes that touch become one hunk. */
function findHunks(
  ours: Lines,
  ourChanges: readonly Change[],
  theirs: Lines,
  theirChanges: readonly Change[],
): Hunk[] {
  const hunks: Hunk[] = [];
  let our = 0;
  let their = 0;
  // Offset of each side's line numbers from the base's after the side's last change.
  let ourShift = 0;
  let theirShift = 0;
  for (;;) {
    const ourChange = ourChanges[our];
    const theirChange = theirChanges[their];
    if (!ourChange && !theirChange) return hunks;
    const ourEnd = ourChange ? ourChange.leftStart + ourChange.leftCount : Number.MAX_VALUE;
    const theirEnd = theirChange ? theirChange.leftStart + theirChange.leftCount : Number.MAX_VALUE;
    const isOurs = ourChange && (!theirChange || ourEnd < theirChange.leftStart);
    const isTheirs = theirChange && (!ourChange || theirEnd < ourChange.leftStart);
    if (isOurs) {
      append(
        hunks,
        "ours",
        ourChange.leftStart,
        ourEnd,
        ourChange,
        undefined,
        ourShift,
        theirShift,
      );
    } else if (isTheirs) {
      append(
        hunks,
        "theirs",
        theirChange.leftStart,
        theirEnd,
        undefined,
        theirChange,
        ourShift,
        theirShift,
      );
    } else if (ourChange && theirChange && !isSameChange(ours, ourChange, theirs, theirChange)) {
      const start = Math.min(ourChange.leftStart, theirChange.leftStart);
      const end = Math.max(ourEnd, theirEnd);
      append(hunks, "conflict", start, end, ourChange, theirChange, ourShift, theirShift);
    }
    // The change that ends first is finished; the other change may still touch the next one.
    if (ourChange && (isOurs || (!isTheirs && ourEnd <= theirEnd))) {
      our++;
      ourShift = ourChange.rightStart + ourChange.rightCount - ourEnd;
    }
    if (theirChange && (isTheirs || (!isOurs && theirEnd <= ourEnd))) {
      their++;
      theirShift = theirChange.rightStart + theirChange.rightCount - theirEnd;
    }
  }
}

/** Adds a hunk for lines `start` to `end` of the base, or extends the last hunk if they touch. */
function append(
  hunks: Hunk[],
  kind: Hunk["kind"],
  start: number,
  end: number,
  our: Change | undefined,
  their: Change | undefined,
  ourShift: number,
  theirShift: number,
): void {
  const ours = project(start, end, our, ourShift);
  const theirs = project(start, end, their, theirShift);
  const hunk: Hunk = {
    kind,
    baseStart: start,
    baseEnd: end,
    ourStart: ours.start,
    ourEnd: ours.end,
    theirStart: theirs.start,
    theirEnd: theirs.end,
  };
  const last = hunks.at(-1);
  if (last && (hunk.ourStart <= last.ourEnd || hunk.theirStart <= last.theirEnd)) {
    hunks[hunks.length - 1] = {
      ...last,
      kind: last.kind === kind ? kind : "conflict",
      baseEnd: hunk.baseEnd,
      ourEnd: hunk.ourEnd,
      theirEnd: hunk.theirEnd,
    };
  } else {
    hunks.push(hunk);
  }
}

/** The lines of a side that correspond to lines `start` to `end` of the base. */
function project(
  start: number,
  end: number,
  change: Change | undefined,
  shift: number,
): { start: number; end: number } {
  if (!change) return { start: start + shift, end: end + shift };
  const changeEnd = change.leftStart + change.leftCount;
  return {
    start: change.rightStart - (change.leftStart - start),
    end: change.rightStart + change.rightCount + (end - changeEnd),
  };
}

function isSameChange(ours: Lines, our: Change, theirs: Lines, their: Change): boolean {
  const isSameRange =
    our.leftStart === their.leftStart &&
    our.leftCount === their.leftCount &&
    our.rightCount === their.rightCount;
  if (!isSameRange) return false;
  for (let line = 0; line < our.rightCount; line++) {
    const number = theirs.numbers[their.rightStart + line];
    if (ours.numbers[our.rightStart + line] !== number) return false;
  }
  return true;
}

/** Reduces a conflict to the lines that differ between the sides. */
function* refine(hunk: Hunk, ours: Lines, theirs: Lines, budget: Budget): Steps<Hunk[]> {
  const { ourStart, ourEnd, theirStart, theirEnd } = hunk;
  if (hunk.kind !== "conflict" || ourStart === ourEnd || theirStart === theirEnd) return [hunk];
  // Lines are renumbered because the cost of a comparison depends on the number of distinct lines.
  const numbers = new Map<number, number>();
  const left = sliceLines(ours, ourStart, ourEnd, numbers);
  const right = sliceLines(theirs, theirStart, theirEnd, numbers);
  const changes = yield* comparisonInTurns({ left, right, classes: numbers.size }, "merge", budget);
  if (changes.length === 0) return [{ ...hunk, kind: "ours" }];
  const { kind, baseStart, baseEnd } = hunk;
  return changes.map((change) => ({
    kind,
    baseStart,
    baseEnd,
    ourStart: ourStart + change.leftStart,
    ourEnd: ourStart + change.leftStart + change.leftCount,
    theirStart: theirStart + change.rightStart,
    theirEnd: theirStart + change.rightStart + change.rightCount,
  }));
}

function sliceLines(
  lines: Lines,
  start: number,
  end: number,
  renumbered: Map<number, number>,
): Lines {
  const numbers = lines.numbers.slice(start, end).map((number) => {
    const known = renumbered.get(number) ?? renumbered.size;
    renumbered.set(number, known);
    return known;
  });
  const starts = lines.starts.subarray(start, end + 1);
  return { bytes: lines.bytes, count: end - start, starts, numbers };
}

/** Joins conflicts that are so close that two conflicts would take more lines than one. */
function joinClose(hunks: readonly Hunk[]): Hunk[] {
  const joined: Hunk[] = [];
  for (const hunk of hunks) {
    const last = joined.at(-1);
    const isClose =
      last?.kind === "conflict" &&
      hunk.kind === "conflict" &&
      hunk.ourStart - last.ourEnd <= GAP_LINES_MAX;
    if (last && isClose) {
      const { ourEnd, theirEnd } = hunk;
      joined[joined.length - 1] = { ...last, ourEnd, theirEnd };
    } else {
      joined.push(hunk);
    }
  }
  return joined;
}
