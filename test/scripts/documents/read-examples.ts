/** A command of a document, and what it should print. */
export interface Example {
  command: string;
  expected: { kind: "json" | "text"; text: string } | undefined;
}

/** The examples of a Markdown text: each `sh` block, with the `json` or `text` block that follows it. */
export function readExamples(markdown: string): Example[] {
  const blocks = [...markdown.matchAll(/^```(\w+)\n(.*?)^```$/gms)];
  return blocks.flatMap(([, language, command = ""], at): Example[] => {
    if (language !== "sh") return [];
    const [, kind, text = ""] = blocks[at + 1] ?? [];
    const expected = kind === "json" || kind === "text" ? ({ kind, text } as const) : undefined;
    return [{ command, expected }];
  });
}

/** What is wrong with what an example printed; undefined where it is as shown. */
export function judge(expected: Example["expected"], actual: string): string | undefined {
  if (!expected) return undefined;
  if (expected.kind === "json")
    return findDifference(JSON.parse(expected.text), JSON.parse(actual));
  return isLike(expected.text.trim(), actual) ? undefined : `printed ${JSON.stringify(actual)}`;
}

/** Where `actual` has not what `shown` shows; "…" stands for any text. Undefined where it has all of it. */
function findDifference(shown: unknown, actual: unknown, path = "$"): string | undefined {
  if (typeof shown === "string" && typeof actual === "string") {
    return isLike(shown, actual) ? undefined : `${path} is ${JSON.stringify(actual)}`;
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

/** Whether a text is like the one shown, where "…" stands for anything. */
function isLike(shown: string, actual: string): boolean {
  const parts = shown
    .split("…")
    .map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join(".*")}$`, "s").test(actual);
}
