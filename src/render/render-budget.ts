import type { Token } from "marked";
import { StepBudget } from "../lib/step-budget.ts";

/** Steps that rendering one text may take: about 0.7 s of processor time. */
export const RENDER_STEPS_MAX = 80_000_000;
/** Maximum length of the HTML of one text before it is sanitized, in characters. */
const HTML_CHARS_MAX = 4 * 1024 * 1024;

/**
 * Rendering stops: the text is shown as plain text instead. The message gives the reason, after
 * "since".
 */
export class TooMuchWork extends Error {}

/** Counts the steps of rendering one text; beyond its bounds, it stops the work. */
export class RenderBudget {
  readonly steps: StepBudget;

  constructor(steps = new StepBudget(RENDER_STEPS_MAX)) {
    this.steps = steps;
  }

  /** @throws TooMuchWork once the steps are used up. */
  consume(steps: number): void {
    this.steps.consume(steps);
    if (this.steps.isExhausted) throw new TooMuchWork("it takes too much work to render");
  }

  /** Counts generated HTML, which is also written, parsed and written again. */
  countHtml(length: number): void {
    this.consume(STEPS_PER_HTML_CHAR * length);
  }

  /** @throws TooMuchWork if the HTML is too long. */
  checkLength(html: string): void {
    if (html.length > HTML_CHARS_MAX) throw new TooMuchWork("its HTML would be too long");
  }

  /**
   * Counts the steps to rewrite, render and sanitize tokens.
   *
   * @throws TooMuchWork before that work is done.
   */
  countTokens(tokens: readonly Token[]): void {
    for (const token of tokens) {
      const cells =
        token.type === "table" ? token["header"].length * (token["rows"].length + 1) : 0;
      this.consume((STEPS_PER_TOKEN[token.type] ?? OTHER_STEPS) + STEPS_PER_CELL * cells);
    }
  }

  /** Lets other requests run between two phases of the work. */
  async pause(): Promise<void> {
    await this.steps.pause();
  }
}

const STEPS_PER_HTML_CHAR = 2;

/** Measured for texts that consist of one kind of token. */
const STEPS_PER_TOKEN: Readonly<Record<string, number>> = {
  br: 200,
  checkbox: 1000,
  code: 1400,
  codespan: 400,
  em: 600,
  escape: 50,
  footnoteReference: 2000,
  heading: 1000,
  image: 1500,
  link: 1000,
  mathBlock: 1400,
  mathInline: 700,
  space: 20,
  strong: 600,
  text: 200,
};
const OTHER_STEPS = 500;
/** Steps for a cell of a table, beside those for its text. */
export const STEPS_PER_CELL = 700;
