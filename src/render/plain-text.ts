import { escapeHtml } from "./html.ts";
import type { MarkupOptions } from "./markup-options.ts";
import type { RenderBudget } from "./render-budget.ts";
import { sanitize } from "./sanitize.ts";

/** Renders plain text as preformatted HTML. */
export function renderPlainText(
  source: string,
  _options: MarkupOptions,
  budget: RenderBudget,
): Promise<string> {
  return sanitize([`<pre class="plain-text">${escapeHtml(source)}</pre>\n`], budget);
}
