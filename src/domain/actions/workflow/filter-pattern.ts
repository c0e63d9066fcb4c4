import { WorkflowError } from "./workflow-error.ts";

/** One part of a pattern. */
interface PatternPart {
  /** The characters that it takes: one, those of a class, all but `/`, or all. */
  readonly accepts: (char: string) => boolean;
  readonly isOptional: boolean;
  readonly isRepeated: boolean;
  /** Whether it ends only behind a `/`: `**` with the `/` that follows. */
  readonly endsAtSlash: boolean;
}

/** A pattern of `branches`, `tags` or `paths`. */
export interface FilterPattern {
  /** Whether it starts with `!`, and takes back what patterns before it matched. */
  readonly isNegative: boolean;
  readonly parts: readonly PatternPart[];
}

const LENGTH_MAX = 1024;

/**
 * Reads a pattern: `*` is any text without `/`, `**` any text, `[a-c]` a character of a class; `?`
 * makes the character before it optional, `+` repeats it; `\` takes a character as it is.
 *
 * @throws WorkflowError
 */
export function parseFilterPattern(pattern: string): FilterPattern {
  if (pattern.length > LENGTH_MAX) {
    throw new WorkflowError(`A pattern has at most ${LENGTH_MAX} characters`);
  }
  const isNegative = pattern.startsWith("!");
  const chars = [...(isNegative ? pattern.slice(1) : pattern)];
  const parts: PatternPart[] = [];
  let canBeCounted = false;
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] ?? "";
    const last = parts.at(-1);
    if ((char === "?" || char === "+") && last) {
      if (!canBeCounted) throw new WorkflowError(`'${char}' follows no character in '${pattern}'`);
      const counted = char === "?" ? { isOptional: true } : { isRepeated: true };
      parts[parts.length - 1] = { ...last, ...counted };
      canBeCounted = false;
      continue;
    }
    if (char === "*") {
      const isDeep = chars[at + 1] === "*";
      if (isDeep) at++;
      const endsAtSlash = isDeep && chars[at + 1] === "/";
      if (endsAtSlash) at++;
      const accepts = isDeep ? () => true : (other: string) => other !== "/";
      parts.push({ accepts, isOptional: true, isRepeated: true, endsAtSlash });
      canBeCounted = false;
      continue;
    }
    let accepts: PatternPart["accepts"];
    if (char === "[") {
      const end = chars.indexOf("]", at + 1);
      if (end <= at + 1) throw new WorkflowError(`'[' has no end in '${pattern}'`);
      accepts = readClass(chars.slice(at + 1, end), pattern);
      at = end;
    } else {
      if (char === "\\") at++;
      const literal = chars[at];
      if (literal === undefined) throw new WorkflowError(`'${pattern}' ends with '\\'`);
      accepts = (other) => other === literal;
    }
    parts.push({ accepts, isOptional: false, isRepeated: false, endsAtSlash: false });
    canBeCounted = true;
  }
  return { isNegative, parts };
}

function readClass(chars: readonly string[], pattern: string): (char: string) => boolean {
  const ranges: [string, string][] = [];
  for (let at = 0; at < chars.length; at++) {
    const first = chars[at] ?? "";
    const isRange = chars[at + 1] === "-" && at + 2 < chars.length;
    const last = isRange ? (chars[at + 2] ?? first) : first;
    if (last < first) throw new WorkflowError(`'${first}-${last}' is no range in '${pattern}'`);
    ranges.push([first, last]);
    if (isRange) at += 2;
  }
  return (char) => ranges.some(([first, last]) => char >= first && char <= last);
}

/**
 * Whether a pattern matches a whole text, without regard to `!`.
 *
 * SECURITY: takes at most as many steps as parts times characters, whatever the pattern is.
 */
function matches({ parts }: FilterPattern, text: string): boolean {
  // A state is the number of parts that are done; `inside` are parts that may go on.
  let done = new Set<number>();
  let inside = new Set<number>();
  enter(0, done);
  for (const char of text) {
    const nextDone = new Set<number>();
    const nextInside = new Set<number>();
    for (const index of new Set([...done, ...inside])) {
      const part = parts[index];
      if (!part?.accepts(char)) continue;
      if (part.isRepeated) nextInside.add(index);
      if (!part.endsAtSlash || char === "/") enter(index + 1, nextDone);
    }
    done = nextDone;
    inside = nextInside;
  }
  return done.has(parts.length);

  function enter(index: number, states: Set<number>): void {
    for (let at = index; !states.has(at); at++) {
      states.add(at);
      if (!parts[at]?.isOptional) return;
    }
  }
}

/**
 * Whether a list of patterns selects a text: the last one that matches it decides.
 */
export function selects(patterns: readonly FilterPattern[], text: string): boolean {
  const last = patterns.findLast((pattern) => matches(pattern, text));
  return last !== undefined && !last.isNegative;
}
