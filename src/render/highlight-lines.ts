import { getHighlighter } from "./highlight.ts";
import { escapeHtml } from "./html.ts";
import type { StepBudget } from "../lib/step-budget.ts";

/**
 * Characters of a piece that is highlighted at once. Grammars backtrack, so that a hostile piece
 * takes time up to the square of its length.
 */
const PIECE_CHARS = 6000;
/** Maximum length of a text that is highlighted, in characters. */
const LENGTH_MAX = 128 * 1024;
/** Steps to highlight a piece, for each of its characters: the usual, not the worst. */
const STEPS_PER_CHAR = 200;
/** Steps to escape a line of a long text, besides one for each of its characters. */
const STEPS_PER_LINE = 100;

/**
 * Renders the lines of a file as HTML with highlight.js's classes; escaped alone if no grammar has
 * one of the names, if the text is too long, or where the steps are used up.
 *
 * The text is cut into pieces where no element is open, so that a comment or a string of several
 * lines stays in one piece, unless it is longer than that.
 *
 * @param languages Names or aliases of the language, by preference.
 */
export async function highlightLines(
  text: string,
  languages: readonly string[],
  steps: StepBudget,
): Promise<string[]> {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  if (text.length > LENGTH_MAX || languages.length === 0) return escapeLines(lines, steps);
  const highlighter = await getHighlighter();
  const language = languages.find((name) => highlighter.getLanguage(name));
  if (language === undefined) return lines.map((line) => escapeHtml(line));
  const highlighted: string[] = [];
  while (highlighted.length < lines.length) {
    if (steps.isExhausted) {
      const rest = lines.slice(highlighted.length);
      return [...highlighted, ...rest.map((line) => escapeHtml(line))];
    }
    const piece = takePiece(lines, highlighted.length);
    const { value } = highlighter.highlight(piece.join("\n"), { language, ignoreIllegals: true });
    steps.consume(STEPS_PER_CHAR * value.length);
    await steps.pause();
    const isLast = highlighted.length + piece.length === lines.length;
    highlighted.push(...splitLines(value, isLast));
  }
  return highlighted;
}

/** Escapes the lines of a long text. */
async function escapeLines(lines: readonly string[], steps: StepBudget): Promise<string[]> {
  const escaped: string[] = [];
  for (const line of lines) {
    escaped.push(escapeHtml(line));
    const pausing = steps.pause(STEPS_PER_LINE + line.length);
    if (pausing) await pausing;
  }
  return escaped;
}

/** The lines from an index up to the length of a piece; one at least. */
function takePiece(lines: readonly string[], from: number): string[] {
  let end = from;
  for (let chars = 0; end < lines.length; end++) {
    chars += (lines[end] ?? "").length + 1;
    if (chars > PIECE_CHARS && end > from) break;
  }
  return lines.slice(from, end);
}

const TAG = /<(\/?)span(?: class="[^"]*")?>/g;

/**
 * Splits HTML of highlight.js into lines, each with all of its elements closed.
 *
 * @param isLast Whether all lines are taken; else those up to the last one that ends outside of any
 *   element, if half of them at least.
 */
function splitLines(html: string, isLast: boolean): string[] {
  const lines: string[] = [];
  const open: string[] = [];
  let complete = 0;
  for (const line of html.split("\n")) {
    const start = open.join("");
    for (const [tag, slash] of line.matchAll(TAG)) {
      if (slash === "/") open.pop();
      else open.push(tag);
    }
    lines.push(start + line + "</span>".repeat(open.length));
    if (open.length === 0) complete = lines.length;
  }
  return isLast || complete * 2 < lines.length ? lines : lines.slice(0, complete);
}
