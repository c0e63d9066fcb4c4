import { Parser, type Token } from "marked";
import { alerts } from "./alerts.ts";
import { codeBlocks, highlightFences } from "./code-blocks.ts";
import { codeSpans } from "./code-spans.ts";
import { commitReferences } from "./commit-references.ts";
import { emoji } from "./emoji.ts";
import { footnoteList } from "./footnotes.ts";
import { readFrontMatter } from "./front-matter.ts";
import { headings } from "./headings.ts";
import { issueReferences } from "./issue-references.ts";
import { lexMarkdown } from "./lex-markdown.ts";
import { imagesInLinks, links } from "./links.ts";
import type { MarkupOptions } from "./markup-options.ts";
import { mentions } from "./mentions.ts";
import { rawHtmlCleaner } from "./raw-html.ts";
import { knownReferences } from "./reference-tokens.ts";
import { NOTHING_KNOWN, ReferenceList } from "./references.ts";
import type { RenderBudget } from "./render-budget.ts";
import { sanitize } from "./sanitize.ts";
import { findSuggestion } from "./suggestion.ts";
import { tables } from "./tables.ts";
import { findBoxes, taskLists } from "./task-lists.ts";
import { type TextRule, textRules } from "./text-rules.ts";
import { trackerReferences } from "./tracker-references.ts";

/**
 * Renders Markdown as sanitized HTML: parses it into tokens, rewrites them, looks up references,
 * renders, and sanitizes.
 *
 * Costs about 2 ms per KB of source, mostly in the sanitizer and the highlighter.
 *
 * @throws TooMuchWork if the text exceeds the budget, or a limit of `BoundedTokenizer` or
 *   `cleanRawHtml`.
 */
export async function renderMarkdown(
  source: string,
  options: MarkupOptions,
  budget: RenderBudget,
): Promise<string> {
  // In a comment, leading `---` is a horizontal rule, not front matter.
  const frontMatter = options.mode === "comment" ? undefined : await readFrontMatter(source);
  const body = source.slice(frontMatter?.end ?? 0);

  const { marked, tokens: parsed } = await lexMarkdown(body, options, budget);
  const everyToken: Token[] = [];
  const found = new ReferenceList();
  const rewriters = [
    rawHtmlCleaner(options),
    imagesInLinks(),
    textRules(await chooseTextRules(found, options), budget),
  ];
  const blocks: Block[] = [];
  for (const block of splitBlocks(parsed)) {
    const first = everyToken.length;
    void marked.walkTokens(block, (token) => void everyToken.push(token));
    const steps = budget.countTokens(everyToken.slice(first));
    const tokens = rewriters.reduce((before, rewrite) => rewrite(before), block);
    blocks.push({ tokens, steps });
    const pausing = budget.pause(steps);
    if (pausing) await pausing;
  }
  const boxes = findBoxes(everyToken, source, frontMatter?.end ?? 0);
  const highlighted = await highlightFences(everyToken, budget);
  const suggestion =
    options.mode === "comment" ? findSuggestion(blocks.flatMap(({ tokens }) => tokens)) : undefined;

  const mayReferToTracker = options.repo !== undefined && options.mode !== "markdown";
  const isResolved = !found.isEmpty || (mayReferToTracker && !options.tracker && body !== "");
  const known = isResolved ? await options.resolve?.(found.found()) : undefined;
  // References to issues are known only now.
  if (known?.tracker && !options.tracker) {
    return renderMarkdown(source, { ...options, tracker: known.tracker }, budget);
  }

  marked.use(
    alerts,
    codeBlocks(highlighted, suggestion),
    codeSpans,
    headings(),
    knownReferences(known ?? NOTHING_KNOWN),
    links(options, budget),
    tables,
    taskLists(boxes),
  );
  const parser = new Parser(marked.defaults);
  const html = [frontMatter?.html ?? ""];
  for (const { tokens, steps } of [...blocks, { tokens: [footnoteList], steps: 0 }]) {
    const rendered = parser.parse(tokens);
    budget.checkLength(rendered);
    html.push(rendered);
    const pausing = budget.pause(steps);
    if (pausing) await pausing;
  }
  return sanitize(html, budget);
}

/** What is rendered between two pauses, and the steps to do so. */
interface Block {
  readonly tokens: Token[];
  readonly steps: number;
}

/** The outermost blocks. The renderer makes one paragraph of texts that follow each other. */
function splitBlocks(tokens: readonly Token[]): Token[][] {
  const blocks: Token[][] = [];
  for (const token of tokens) {
    if (token.type === "text" && blocks.length > 0) blocks.at(-1)?.push(token);
    else blocks.push([token]);
  }
  return blocks;
}

/** The rules for emoji and references in the text of a mode. */
export async function chooseTextRules(
  found: ReferenceList,
  options: MarkupOptions,
): Promise<TextRule[]> {
  const { mode, repo, resolve, rootUrl, tracker } = options;
  if (mode === "markdown" || !resolve) return [emoji];
  const rules = [emoji, mentions(found, options)];
  if (!repo) return rules;
  return [
    ...rules,
    ...(tracker ? await trackerReferences(tracker, repo) : []),
    issueReferences(found, rootUrl, repo),
    commitReferences(found, rootUrl, repo),
  ];
}
