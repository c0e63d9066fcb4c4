import type { Token } from "marked";
import { StepBudget } from "../lib/step-budget.ts";
import { SLICE_STEPS } from "../lib/time-slice.ts";

/** Steps that rendering one text may take: about 0.7 s of processor time. */
export const RENDER_STEPS_MAX = 80_000_000;
/** Steps without a pause: about 40 ms of processor time. */
export const HELD_STEPS_MAX = 4 * SLICE_STEPS;
/** Maximum length of the HTML of one text before it is sanitized, in characters. */
const HTML_CHARS_MAX = 4 * 1024 * 1024;

/**
 * Rendering stops: the text is shown as plain text instead. The message gives the reason, after
 * "since".
 */
export class TooMuchWork extends Error {}

/**
 * Counts the steps of rendering one text; beyond its bounds, it stops the work.
 *
 * The library can't pause within a block: a block that would hold the thread for too long is not
 * rendered.
 */
export class RenderBudget {
  readonly steps: StepBudget;
  /** Steps since the last pause. */
  #heldSteps = 0;
  #htmlChars = 0;

  constructor(steps = new StepBudget(RENDER_STEPS_MAX)) {
    this.steps = steps;
  }

  /** Whether other requests should have their turn. */
  get isPauseDue(): boolean {
    return this.#heldSteps >= SLICE_STEPS;
  }

  /** @throws TooMuchWork once the steps are used up, or without a pause for too long. */
  consume(steps: number): void {
    this.steps.consume(steps);
    this.#checkSteps(steps);
  }

  /**
   * Counts steps of work that is done later, which then pauses with them.
   *
   * @throws TooMuchWork if it may not be done.
   */
  reserve(steps: number): void {
    this.steps.consume(steps, true);
    this.#checkSteps(0);
  }

  /** Counts generated HTML, which is also written, parsed and written again. */
  countHtml(length: number): void {
    this.consume(STEPS_PER_HTML_CHAR * length);
  }

  /** @throws TooMuchWork if this HTML and all before it are too long. */
  checkLength(html: string): void {
    this.#htmlChars += html.length;
    if (this.#htmlChars > HTML_CHARS_MAX) throw new TooMuchWork("its HTML would be too long");
  }

  /**
   * Counts the steps to rewrite, render and sanitize tokens.
   *
   * @returns The steps to rewrite them, or to render them.
   * @throws TooMuchWork before that work is done.
   */
  countTokens(tokens: readonly Token[]): number {
    let steps = 0;
    for (const token of tokens) {
      const cells =
        token.type === "table" ? token["header"].length * (token["rows"].length + 1) : 0;
      const more = (STEPS_PER_TOKEN[token.type] ?? OTHER_STEPS) + STEPS_PER_CELL * cells;
      this.reserve(more);
      this.#checkSteps(more * SHARE_OF_PHASE);
      steps += more * SHARE_OF_PHASE;
    }
    return steps;
  }

  /**
   * Lets other requests run, between two parts of the work.
   *
   * @param steps Steps of the last part that are not counted yet, or were reserved.
   */
  pause(steps?: number): Promise<void> | undefined {
    this.#heldSteps = 0;
    return this.steps.pause(steps);
  }

  #checkSteps(steps: number): void {
    if (this.steps.isExhausted) throw new TooMuchWork("it takes too much work to render");
    this.#heldSteps += steps;
    if (this.#heldSteps > HELD_STEPS_MAX) {
      throw new TooMuchWork("it takes too much work to render one of its blocks");
    }
  }
}

/** The share of a token's steps that rewriting takes, and rendering. Sanitizing takes the most. */
const SHARE_OF_PHASE = 1 / 6;

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
