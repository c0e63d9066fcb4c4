import { type Budget, runInTurns } from "../../../git/budget.ts";
import { decodeText } from "../../../git/byte-text.ts";
import type { Hunk } from "../../../git/diff/unified.ts";
import { wordDiffInTurns, type WordRun } from "../../../git/diff/word-diff.ts";

/** Characters of a line that are shown, at most. */
const CHARS_MAX = 5000;

/** A line of one side of a diff. */
export interface SideLine {
  /** Counted from 1. */
  readonly number: number;
  /** The text; its changed parts are marked where the other side has a similar line. */
  readonly runs: readonly WordRun[];
  /** Whether the line is longer than its runs. */
  readonly isCut: boolean;
  /** False for a last line without a line feed. */
  readonly isTerminated: boolean;
}

/** A line of each side, or one that only one side has. */
export interface LineRow {
  readonly isChanged: boolean;
  readonly left: SideLine | undefined;
  readonly right: SideLine | undefined;
}

/**
 * Puts the lines of a hunk side by side: of a change, the first removed line beside the first added
 * one, and so on, with the words in which they differ.
 *
 * @param budget Bounds the comparison of words: once it is exhausted, none are marked.
 */
export async function pairLines(hunk: Hunk, budget: Budget): Promise<LineRow[]> {
  const rows: LineRow[] = [];
  let [left, right] = [hunk.leftStart, hunk.rightStart];
  let removed: SideLine[] = [];
  let added: SideLine[] = [];
  const addChange = async (): Promise<void> => {
    for (let at = 0; at < Math.max(removed.length, added.length); at++) {
      rows.push({ isChanged: true, ...(await markWords(removed[at], added[at], budget)) });
    }
    [removed, added] = [[], []];
  };
  for (const line of hunk.lines) {
    if (line.kind === "removed") removed.push(toSideLine(line, left++));
    else if (line.kind === "added") added.push(toSideLine(line, right++));
    else {
      await addChange();
      const [old, fresh] = [toSideLine(line, left++), toSideLine(line, right++)];
      rows.push({ isChanged: false, left: old, right: fresh });
    }
  }
  await addChange();
  return rows;
}

function toSideLine({ text, isTerminated }: Hunk["lines"][number], number: number): SideLine {
  const decoded = decodeText(text);
  const isCut = decoded.length > CHARS_MAX;
  const shown = isCut ? decoded.slice(0, CHARS_MAX) : decoded;
  return { number, runs: [{ text: shown, isChanged: false }], isCut, isTerminated };
}

async function markWords(
  left: SideLine | undefined,
  right: SideLine | undefined,
  budget: Budget,
): Promise<Pick<LineRow, "left" | "right">> {
  if (!left || !right) return { left, right };
  const [old, fresh] = [left.runs[0]?.text ?? "", right.runs[0]?.text ?? ""];
  const words = await runInTurns(wordDiffInTurns(old, fresh, budget), budget);
  if (!words) return { left, right };
  return { left: { ...left, runs: words.left }, right: { ...right, runs: words.right } };
}
