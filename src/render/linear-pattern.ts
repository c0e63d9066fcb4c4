import { RE2JS, RE2JSException } from "re2js";

import type { TextMatch, TextPattern } from "./text-rules.ts";

/** States of a compiled pattern: those of common patterns have less than fifty. */
const STATES_MAX = 1000;
/** Characters of one line that are searched; what follows stays text. */
const LINE_CHARS_MAX = 2000;

/**
 * A pattern in the syntax of RE2, which is the one of Gitea's settings.
 *
 * SECURITY: users write these patterns. The engine never backtracks, so one search takes time in
 * proportion to the line and the states; all searches of a line may take the square of its length,
 * so each is counted, and long lines are cut.
 *
 * @returns Undefined for a text that is no pattern, that has no group, or that has too many states.
 */
export function openPattern(source: string): TextPattern | undefined {
  const pattern = compile(source);
  const states = pattern?.programSize() ?? 0;
  if (!pattern || pattern.groupCount() < 1 || states > STATES_MAX) return undefined;
  return {
    matchAll: function* (text, consume) {
      for (const { 0: whole, index: start } of text.matchAll(/[^\n]+/g)) {
        const line = whole.slice(0, LINE_CHARS_MAX);
        const matcher = pattern.matcher(line);
        consume(states * line.length);
        while (matcher.find()) {
          const end = matcher.end();
          const groups = [undefined, matcher.group(1) ?? undefined];
          const index = start + matcher.start();
          yield Object.assign(groups, { 0: matcher.group() ?? "", index }) satisfies TextMatch;
          consume(states * (line.length - end));
        }
      }
    },
  };
}

/** A pattern that is searched in short texts. */
export interface ShortPattern {
  /** Whether a part of the text matches. */
  readonly matches: (text: string) => boolean;
  /** The cost of a search for each character. */
  readonly states: number;
}

/**
 * The same for a text as a whole; undefined for a text that is no pattern, or that has too many
 * states.
 */
export function openShortPattern(source: string): ShortPattern | undefined {
  const pattern = compile(source);
  const states = pattern?.programSize() ?? 0;
  if (!pattern || states > STATES_MAX) return undefined;
  return { matches: (text) => pattern.matcher(text).find(), states };
}

function compile(source: string): RE2JS | undefined {
  try {
    return RE2JS.compile(source);
  } catch (error) {
    if (error instanceof RE2JSException) return undefined;
    throw error;
  }
}
