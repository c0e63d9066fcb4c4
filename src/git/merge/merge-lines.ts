import { type Change, compareLines } from "../diff/line-diff.ts";
import { LineInterner, type Lines } from "../diff/lines.ts";
import { joinBytes } from "../wire/pkt-line.ts";

/** A part of a merged text, as lines of one side. */
type MergePart =
  | { readonly kind: "merged"; readonly lines: Uint8Array }
  /** Both sides changed the same lines, differently. */
  | {
      readonly kind: "conflict";
      readonly ours: Uint8Array;
      readonly base: Uint8Array;
      readonly theirs: Uint8Array;
    };

export interface LineMerge {
  readonly parts: readonly MergePart[];
  readonly conflicts: number;
}

/**
 * Merges two changes of one text, line by line.
 *
 * As in git, changes conflict if they overlap or touch, unless both sides made the same of them.
 */
export function mergeLines(base: Uint8Array, ours: Uint8Array, theirs: Uint8Array): LineMerge {
  const interner = new LineInterner();
  const baseLines = interner.split(base);
  const ourLines = interner.split(ours);
  const theirLines = interner.split(theirs);
  const classes = interner.count;
  const ourChanges = compareLines({ left: baseLines, right: ourLines, classes });
  const theirChanges = compareLines({ left: baseLines, right: theirLines, classes });

  const parts: MergePart[] = [];
  let conflicts = 0;
  let done = 0;
  for (let our = 0, their = 0; our < ourChanges.length || their < theirChanges.length;) {
    // A run of changes of both sides that touch each other, as a range of the base.
    const start = Math.min(startOf(ourChanges[our]), startOf(theirChanges[their]));
    let end = start;
    const ourFirst = our;
    const theirFirst = their;
    for (;;) {
      const ourNext = ourChanges[our];
      const theirNext = theirChanges[their];
      if (ourNext && startOf(ourNext) <= end) {
        end = Math.max(end, endOf(ourNext));
        our++;
      } else if (theirNext && startOf(theirNext) <= end) {
        end = Math.max(end, endOf(theirNext));
        their++;
      } else {
        break;
      }
    }
    parts.push({ kind: "merged", lines: slice(baseLines, done, start) });
    const ourText = slice(ourLines, ...project(ourChanges, ourFirst, our, start, end));
    const theirText = slice(theirLines, ...project(theirChanges, theirFirst, their, start, end));
    if (their === theirFirst || isEqual(ourText, theirText)) {
      parts.push({ kind: "merged", lines: ourText });
    } else if (our === ourFirst) {
      parts.push({ kind: "merged", lines: theirText });
    } else {
      conflicts++;
      const baseText = slice(baseLines, start, end);
      parts.push({ kind: "conflict", ours: ourText, base: baseText, theirs: theirText });
    }
    done = end;
  }
  parts.push({ kind: "merged", lines: slice(baseLines, done, baseLines.count) });
  return { parts, conflicts };
}

const startOf = (change: Change | undefined): number => change?.leftStart ?? Number.MAX_VALUE;
const endOf = (change: Change): number => change.leftStart + change.leftCount;

/** The lines of a side that stand for `start` to `end` of the base. */
function project(
  changes: readonly Change[],
  first: number,
  stop: number,
  start: number,
  end: number,
): [number, number] {
  const before = changes[first - 1];
  const shiftBefore = before ? before.rightStart + before.rightCount - endOf(before) : 0;
  const last = changes[stop - 1];
  const shiftAfter = last ? last.rightStart + last.rightCount - endOf(last) : 0;
  return [start + shiftBefore, end + shiftAfter];
}

function slice(lines: Lines, start: number, end: number): Uint8Array {
  return lines.bytes.subarray(lines.starts[start], lines.starts[end]);
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}

/** The text of a merge without conflicts. */
export function mergedText(merge: LineMerge): Uint8Array {
  return joinBytes(
    merge.parts.map((part) => (part.kind === "merged" ? part.lines : new Uint8Array(0))),
  );
}
