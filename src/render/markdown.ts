import { Marked, Parser, type Token } from "marked";
import { alerts } from "./alerts.ts";
import { BoundedLexer, BoundedTokenizer } from "./bounded-tokenizer.ts";
import { codeBlocks, highlightFences } from "./code-blocks.ts";
import { codeSpans } from "./code-spans.ts";
import { commitReferences } from "./commit-references.ts";
import { emoji } from "./emoji.ts";
import { footnoteList, footnotes } from "./footnotes.ts";
import { readFrontMatter } from "./front-matter.ts";
import { headings } from "./headings.ts";
import { issueReferences } from "./issue-references.ts";
import { isWiki, links, markImagesInLinks } from "./links.ts";
import type { MarkupOptions } from "./markup-options.ts";
import { math } from "./math.ts";
import { mentions } from "./mentions.ts";
import { cleanRawHtml } from "./raw-html.ts";
import { knownReferences } from "./reference-tokens.ts";
import { NOTHING_KNOWN, ReferenceList } from "./references.ts";
import type { RenderBudget } from "./render-budget.ts";
import { sanitize } from "./sanitize.ts";
import { tables } from "./tables.ts";
import { findBoxes, taskLists } from "./task-lists.ts";
import { applyTextRules, type TextRule } from "./text-rules.ts";
import { trackerReferences } from "./tracker-references.ts";
import { wikiLinks } from "./wiki-links.ts";

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

  const marked = new Marked({ gfm: true, breaks: options.mode === "comment" });
  marked.use(math, footnotes(formatSuffix(options)));
  if (isWiki(options)) marked.use(wikiLinks(options));

  const tokenizer = new BoundedTokenizer(body, budget);
  const parsed = new BoundedLexer({ ...marked.defaults, tokenizer }, budget).lex(body);
  const everyToken: Token[] = [];
  void marked.walkTokens(parsed, (token) => void everyToken.push(token));
  const boxes = findBoxes(everyToken, source, frontMatter?.end ?? 0);
  budget.countTokens(everyToken);
  await budget.pause();
  const highlighted = await highlightFences(everyToken, budget);

  const found = new ReferenceList();
  const cleaned = markImagesInLinks(cleanRawHtml(parsed, options));
  const rules = await chooseTextRules(found, options);
  const tokens = applyTextRules(cleaned, rules, budget);
  const mayReferToTracker = options.repo !== undefined && options.mode !== "markdown";
  const isResolved = !found.isEmpty || (mayReferToTracker && !options.tracker && body !== "");
  const known = isResolved ? await options.resolve?.(found.found()) : undefined;
  // References to issues are known only now.
  if (known?.tracker && !options.tracker) {
    return renderMarkdown(source, { ...options, tracker: known.tracker }, budget);
  }

  marked.use(
    alerts,
    codeBlocks(highlighted),
    codeSpans,
    headings(),
    knownReferences(known ?? NOTHING_KNOWN),
    links(options, budget),
    tables,
    taskLists(boxes),
  );
  await budget.pause();
  const rendered = new Parser(marked.defaults).parse([...tokens, footnoteList]);
  const html = (frontMatter?.html ?? "") + rendered;
  budget.checkLength(html);
  await budget.pause();
  return sanitize(html);
}

function formatSuffix(options: MarkupOptions): string {
  return options.footnoteSuffix ?? (options.mode === "comment" ? "preview" : "");
}

async function chooseTextRules(found: ReferenceList, options: MarkupOptions): Promise<TextRule[]> {
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
