import { readSuggestion } from "../../../domain/pulls/reviews/read-suggestion.ts";
import { escapeHtml } from "../../../render/html.ts";
import type { CodeCommentContext } from "../../../shapes/pulls/pull-review-comment.ts";

/** The beginning of the names of boxes that choose suggestions. */
export const SUGGESTION = "suggestion-";

/** The block of a suggestion, as Markdown is rendered. */
const BLOCK =
  /<div class="code-block-container[^"]*"><pre[^>]*><code class="chroma language-suggestion display">[^]*?<\/code><\/pre><\/div>/;

/** What a comment suggests for lines of the head; undefined for one that suggests nothing. */
export const suggestionOf = ({ code, entry }: CodeCommentContext): string | undefined =>
  code.isOldSide || code.line === 0 ? undefined : readSuggestion(entry.body);

/**
 * Shows the suggestion of a comment as a diff of the lines that it is about, as far as the part of
 * the diff has them that is stored with the comment.
 *
 * @param html The comment as HTML.
 */
export function showSuggestion(html: string, comment: CodeCommentContext): string {
  const replacement = suggestionOf(comment);
  if (replacement === undefined) return html;
  const { diffHunk, line, startLine } = comment.code;
  const count = line - startLine + 1;
  const head = diffHunk.split("\n").filter((each) => /^[ +]/.test(each));
  const old = head.length < count ? [] : head.slice(-count).map((each) => each.slice(1));
  const fresh = replacement === "" ? [] : replacement.slice(0, -1).split("\n");
  const rows = [
    ...old.map((text) => formatRow("removed", "-", text)),
    ...fresh.map((text) => formatRow("added", "+", text)),
  ];
  const title = fresh.length === 0 ? "Suggests to remove the lines" : "Suggests";
  const block = `<p class="soft">${title}</p><pre class="hunk-text">${rows.join("")}</pre>`;
  return html.replace(BLOCK, () => block);
}

const formatRow = (kind: string, sign: string, text: string): string =>
  `<span class="${kind}">${escapeHtml(`${sign}${text}`)}\n</span>`;
