import type { StepBudget } from "../lib/step-budget.ts";
import type { MarkupOptions } from "./markup-options.ts";
import { renderMarkup } from "./markup.ts";
import type { KnownReferences, References } from "./references.ts";

/** Characters of the texts that an isolate keeps, with their HTML. */
const CHARS_MAX = 4 * 1024 * 1024;
/** Characters of one text with its HTML. */
const CHARS_OF_ONE_MAX = CHARS_MAX / 16;

/** A rendered text. */
interface Rendered {
  readonly html: string;
  /** What the text may refer to; undefined if nothing was looked up. */
  readonly found: References | undefined;
  /** What of that was known. */
  readonly known: string;
}

/** By all that HTML depends on but references, from the text that was read longest ago. */
const keptTexts = new Map<string, Rendered>();
let keptChars = 0;

/**
 * Renders markup as `renderMarkup` does, or takes what this isolate has rendered before: a comment
 * costs about 1 ms, and a conversation shows a hundred of them to each reader.
 *
 * SECURITY: what a text refers to is looked up for each reader. HTML is used again only where the
 * reader may see the same.
 *
 * @throws Failure as `renderMarkup` does.
 */
export async function renderKept(
  source: string,
  options: MarkupOptions,
  steps: StepBudget,
): Promise<string> {
  const { resolve, ...rest } = options;
  const key = `${JSON.stringify(rest)}${source}`;
  const kept = keptTexts.get(key);
  if (kept) {
    const known = kept.found && (await resolve?.(kept.found));
    if (kept.known === describe(kept.found, known)) {
      keep(key, kept);
      return kept.html;
    }
  }
  let found: References | undefined;
  let known: KnownReferences | undefined;
  const html = await renderMarkup(
    source,
    resolve
      ? { ...rest, resolve: async (asked) => (known = await resolve((found = asked))) }
      : rest,
    steps,
  );
  // Of a text that exceeds what others left of the budget, the next reader may see more.
  if (!steps.isExhausted) keep(key, { html, found, known: describe(found, known) });
  return html;
}

/** Keeps a text as the one that was read last. */
function keep(key: string, rendered: Rendered): void {
  drop(key);
  const chars = key.length + rendered.html.length;
  if (chars > CHARS_OF_ONE_MAX) return;
  keptTexts.set(key, rendered);
  keptChars += chars;
  for (const oldest of keptTexts.keys()) {
    if (keptChars <= CHARS_MAX) return;
    drop(oldest);
  }
}

function drop(key: string): void {
  const kept = keptTexts.get(key);
  if (!kept) return;
  keptTexts.delete(key);
  keptChars -= key.length + kept.html.length;
}

/** What of the references is known, all that HTML depends on. */
function describe(found: References | undefined, known: KnownReferences | undefined): string {
  if (!found || !known) return "";
  return JSON.stringify([
    found.users.map((user) => known.users.has(user)),
    found.teams.map((team) => known.teams.has(team)),
    found.issues.map((issue) => known.issues.get(issue)),
    found.commits.map((commit) => known.commits.get(commit)),
    known.tracker,
  ]);
}
