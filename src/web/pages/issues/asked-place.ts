import type { Context } from "hono";

import type { FileDiff } from "../../../domain/code/commits/list-file-diffs.ts";
import { decodeText } from "../../../git/byte-text.ts";
import type { LineSide } from "../repository/diff-rows.ts";
import type { CodePlace } from "./code-form.tsx";
import type { Refused } from "./issue-head.tsx";

/** A file with the name of its place in the page. */
export interface PlacedFile {
  readonly file: FileDiff;
  readonly id: string;
}

/** The form for a comment that a page opens. */
export interface AskedForm {
  readonly place: CodePlace;
  /** The name of the place of its file; undefined where that is not on the page. */
  readonly id: string | undefined;
  readonly body: string;
  readonly fault: string | undefined;
}

/** Digits of the name of a file's place by which addresses name it. */
const DIGITS = 12;

/** The value of the parameter `comment` for a file: that for a line follows with its side. */
export const toCommentParameter = (id: string): string => id.slice("diff-".length).slice(0, DIGITS);

const ASKED = /^([0-9a-f]{8,40})(?:([LR])([1-9]\d{0,8})(?:-([1-9]\d{0,8}))?)?$/;

/**
 * The form for a comment that the address asks for: `comment=<file>R12`, or `R12-15` for a range,
 * `L` for the file before the change, or without a line for the whole file. With `suggest` it
 * begins with a suggestion. A form that was refused comes first.
 */
export function findAskedForm(
  c: Context,
  files: readonly PlacedFile[],
  refused: Refused | undefined,
): AskedForm | undefined {
  if (refused?.form.text("action") === "code-comment") {
    return refused.form.text("replied") === "0" ? readRefused(files, refused) : undefined;
  }
  const [, digits, side = "R", first, last = first] =
    ASKED.exec(c.req.query("comment") ?? "") ?? [];
  const found =
    digits === undefined ? undefined : files.find(({ id }) => id.startsWith(`diff-${digits}`));
  if (!found) return undefined;
  const lines = [Number(first ?? 0), Number(last ?? 0)];
  const place: CodePlace = {
    path: found.file.path,
    side: side as LineSide,
    line: Math.max(...lines),
    startLine: Math.min(...lines),
  };
  const isSuggesting = c.req.query("suggest") !== undefined;
  const body = isSuggesting ? formatSuggestion(found.file, place) : "";
  return { place, id: found.id, body, fault: undefined };
}

function readRefused(files: readonly PlacedFile[], { form, refusal }: Refused): AskedForm {
  const path = form.text("path");
  const line = Number(form.text("line")) || 0;
  return {
    place: {
      path,
      side: form.text("side") === "L" ? "L" : "R",
      line,
      startLine: Number(form.text("start_line")) || line,
    },
    id: files.find(({ file }) => file.path === path)?.id,
    body: form.text("body"),
    fault: refusal.text,
  };
}

/** A text that suggests the lines of a place as they are; "" where the diff does not show them. */
function formatSuggestion(file: FileDiff, { side, line, startLine }: CodePlace): string {
  if (side === "L" || line === 0) return "";
  const lines: string[] = [];
  for (const hunk of file.hunks) {
    let number = hunk.rightStart;
    for (const { kind, text } of hunk.lines) {
      if (kind === "removed") continue;
      if (number >= startLine && number <= line) lines.push(decodeText(text));
      number += 1;
    }
  }
  if (lines.length !== line - startLine + 1) return "";
  const fence = "`".repeat(Math.max(3, ...lines.map((each) => backticksOf(each) + 1)));
  return `${fence}suggestion\n${lines.join("\n")}\n${fence}`;
}

const backticksOf = (line: string): number =>
  Math.max(0, ...Array.from(line.matchAll(/`+/g), ([found]) => found.length));
