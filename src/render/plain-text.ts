import { escapeHtml } from "./html.ts";
import { sanitize } from "./sanitize.ts";

/** Text that is no markup, line by line as it is. */
export async function renderPlainText(source: string): Promise<string> {
  return sanitize(`<pre class="plain-text">${escapeHtml(source)}</pre>\n`);
}
