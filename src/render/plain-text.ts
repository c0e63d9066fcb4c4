import { escapeHtml } from "./html.ts";
import { sanitize } from "./sanitize.ts";

/** Renders plain text as preformatted HTML. */
export async function renderPlainText(source: string): Promise<string> {
  return sanitize(`<pre class="plain-text">${escapeHtml(source)}</pre>\n`);
}
