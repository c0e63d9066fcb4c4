/** A command of a document, and its expected output. */
export interface Example {
  command: string;
  expected: { kind: "json" | "text"; text: string } | undefined;
}

/**
 * The examples of a Markdown text: each `sh` block, with the `json` or `text` block that follows
 * it.
 */
export function readExamples(markdown: string): Example[] {
  const blocks = [...markdown.matchAll(/^```(\w+)\n(.*?)^```$/gms)];
  return blocks.flatMap(([, language, command = ""], at): Example[] => {
    if (language !== "sh") return [];
    const [, kind, text = ""] = blocks[at + 1] ?? [];
    const expected = kind === "json" || kind === "text" ? ({ kind, text } as const) : undefined;
    return [{ command, expected }];
  });
}

/**
 * The difference between the output of an example and the documented output; undefined if they
 * match.
 */
export function findMismatch(expected: Example["expected"], actual: string): string | undefined {
  if (!expected) return undefined;
  if (expected.kind === "json")
    return findDifference(JSON.parse(expected.text), JSON.parse(actual));
  return matches(expected.text.trim(), actual) ? undefined : `printed ${JSON.stringify(actual)}`;
}

/**
 * The first value of `shown` that `actual` does not match; "…" stands for any text. Undefined if
 * all match.
 */
function findDifference(shown: unknown, actual: unknown, path = "$"): string | undefined {
  if (typeof shown === "string" && typeof actual === "string") {
    return matches(shown, actual) ? undefined : `${path} is ${JSON.stringify(actual)}`;
  }
  if (typeof shown !== "object" || shown === null) {
    return Object.is(shown, actual) ? undefined : `${path} is ${JSON.stringify(actual)}`;
  }
  if (typeof actual !== "object" || actual === null) return `${path} is ${JSON.stringify(actual)}`;
  if (Array.isArray(shown) && (!Array.isArray(actual) || actual.length !== shown.length)) {
    return `${path} has another length`;
  }
  for (const [key, value] of Object.entries(shown)) {
    const found = findDifference(value, (actual as Record<string, unknown>)[key], `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether a text matches `shown`, in which "…" stands for any text. */
function matches(shown: string, actual: string): boolean {
  const parts = shown
    .split("…")
    .map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join(".*")}$`, "s").test(actual);
}
