import { lineBytes, type Lines } from "./lines.ts";

/** Maximum indentation in columns; deeper indentations count as equal. */
const INDENT_MAX = 200;
/** Maximum number of blank lines that are counted. */
const BLANKS_MAX = 20;
const TAB_COLUMNS = 8;
/** How many points a smaller indentation is worth. */
const INDENT_WEIGHT = 60;

// Penalties for splitting a text at a line; lower is better. Git's authors tuned these values on
// thousands of diffs rated by people.
const START_OF_FILE = 1;
const END_OF_FILE = 21;
const BLANK = -30;
const BLANK_BEHIND = 6;
const INDENTED = -4;
const INDENTED_WITH_BLANK = 10;
const OUTDENTED = 24;
const OUTDENTED_WITH_BLANK = 17;
const DEDENTED = 23;
const DEDENTED_WITH_BLANK = 17;

/** The quality of a position for a group of changed lines. */
export interface SplitScore {
  /** Sum of the indentations at both ends of the group, in columns. */
  readonly indent: number;
  readonly points: number;
}

/** Scores a group of the lines `start` to `end`, `end` excluded. */
export function scoreSplit(lines: Lines, end: number, start: number): SplitScore {
  const below = scoreCut(lines, end);
  const above = scoreCut(lines, start);
  return { indent: below.indent + above.indent, points: below.points + above.points };
}

/** True if `a` is at least as good as `b`. */
export function isBetterSplit(a: SplitScore, b: SplitScore): boolean {
  const indents = Number(a.indent > b.indent) - Number(a.indent < b.indent);
  return INDENT_WEIGHT * indents + (a.points - b.points) <= 0;
}

/** Scores a split before line `at`. */
function scoreCut(lines: Lines, at: number): SplitScore {
  const isEnd = at >= lines.count;
  const own = isEnd ? -1 : indentOf(lines, at);
  const before = lookAround(lines, at, -1);
  const behind = lookAround(lines, at, 1);

  let points = 0;
  if (before.indent === -1 && before.blanks === 0) points += START_OF_FILE;
  if (isEnd) points += END_OF_FILE;
  const blanksBehind = own === -1 ? 1 + behind.blanks : 0;
  const blanks = before.blanks + blanksBehind;
  points += BLANK * blanks + BLANK_BEHIND * blanksBehind;

  const indent = own === -1 ? behind.indent : own;
  const hasBlank = blanks > 0;
  if (indent !== -1 && before.indent !== -1) {
    if (indent > before.indent) {
      points += hasBlank ? INDENTED_WITH_BLANK : INDENTED;
    } else if (indent < before.indent) {
      // Less indented than the lines before and after: the end of one block and the start of the
      // next.
      const isOutdent = behind.indent !== -1 && behind.indent > indent;
      if (isOutdent) points += hasBlank ? OUTDENTED_WITH_BLANK : OUTDENTED;
      else points += hasBlank ? DEDENTED_WITH_BLANK : DEDENTED;
    }
  }
  return { indent, points };
}

/**
 * Indentation of the nearest non-blank line, -1 if there is none, and the number of blank lines
 * before it.
 */
function lookAround(lines: Lines, from: number, step: 1 | -1): { indent: number; blanks: number } {
  let blanks = 0;
  for (let at = from + step; at >= 0 && at < lines.count; at += step) {
    const indent = indentOf(lines, at);
    if (indent !== -1) return { indent, blanks };
    if (++blanks === BLANKS_MAX) return { indent: 0, blanks };
  }
  return { indent: -1, blanks };
}

/** Columns before the first visible character; -1 for a blank line. */
function indentOf(lines: Lines, line: number): number {
  let columns = 0;
  for (const byte of lineBytes(lines, line)) {
    if (byte === 0x20) columns++;
    else if (byte === 0x09) columns += TAB_COLUMNS - (columns % TAB_COLUMNS);
    else if (!(byte >= 0x0a && byte <= 0x0d)) return columns;
    if (columns >= INDENT_MAX) return INDENT_MAX;
  }
  return -1;
}
