import type { Ctx } from "../../../context.ts";
import { escapeHtml } from "../../../render/html.ts";
import type { CodeCommentContext } from "../../../shapes/pulls/pull-review-comment.ts";

/** The beginning of the names of boxes that choose suggestions. */
export const SUGGESTION = "suggestion-";

/** A comment as HTML. */
export interface ShownComment {
  readonly html: string;
  /** Whether it shows a suggestion for lines of the head. */
  readonly isSuggestion: boolean;
}

/** Lines of a suggestion that a page shows. */
const LINES_MAX = 200;

/** The block of a suggestion, as Markdown is rendered. */
const BLOCK = /<div class="[^"]* code-suggestion"><pre[^>]*><code[^>]*>[^]*?<\/code><\/pre><\/div>/;

/**
 * Shows the suggestions of comments as diffs of the lines that these are about, as far as the part
 * of the diff has them that is stored with the comment.
 *
 * @param texts The comments as HTML, in their order.
 * @returns The comments by their ids.
 */
export async function showSuggestions(
  ctx: Ctx,
  comments: readonly CodeCommentContext[],
  texts: readonly string[],
): Promise<ReadonlyMap<number, ShownComment>> {
  const shown = new Map<number, ShownComment>();
  for (const [at, comment] of comments.entries()) {
    shown.set(comment.entry.id, { html: texts[at] ?? "", isSuggestion: false });
  }
  const suggesting = comments.filter(({ code, entry }) => {
    const isOnHead = !code.isOldSide && code.line > 0;
    return isOnHead && BLOCK.test(shown.get(entry.id)?.html ?? "");
  });
  if (suggesting.length === 0) return shown;
  const { readSuggestion } = await import("../../../render/suggestion.ts");
  const { RENDER_STEPS_MAX } = await import("../../../render/render-budget.ts");
  const budget = ctx.git.openBudget(RENDER_STEPS_MAX);
  for (const { code, entry } of suggesting) {
    const replacement = await readSuggestion(entry.body, budget);
    if (replacement === undefined) continue;
    const { html = "" } = shown.get(entry.id) ?? {};
    const diff = formatDiff(code, replacement);
    shown.set(entry.id, { html: html.replace(BLOCK, () => diff), isSuggestion: true });
  }
  return shown;
}

function formatDiff(
  { diffHunk, line, startLine }: CodeCommentContext["code"],
  replacement: string,
): string {
  const count = line - startLine + 1;
  const head = diffHunk.split("\n").filter((each) => /^[ +]/.test(each));
  const old = head.slice(-count).map((each) => each.slice(1));
  const fresh = replacement === "" ? [] : replacement.slice(0, -1).split("\n");
  const rows = [
    ...(old.length < count ? [formatRow("removed", "-", `… ${count - old.length} more`)] : []),
    ...old.map((text) => formatRow("removed", "-", text)),
    ...fresh.slice(0, LINES_MAX).map((text) => formatRow("added", "+", text)),
    ...(fresh.length > LINES_MAX
      ? [formatRow("added", "+", `… ${fresh.length - LINES_MAX} more`)]
      : []),
  ];
  const lines = count === 1 ? `line ${line}` : `lines ${startLine} to ${line}`;
  const title = fresh.length === 0 ? `Suggests to remove ${lines}` : `Suggests for ${lines}`;
  return `<p class="soft">${title}</p><pre class="hunk-text">${rows.join("")}</pre>`;
}

const formatRow = (kind: string, sign: string, text: string): string =>
  `<span class="${kind}">${escapeHtml(`${sign}${text}`)}\n</span>`;
