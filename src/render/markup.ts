import { invalid, tooLarge } from "../lib/failure.ts";
import { renderMarkdown } from "./markdown.ts";
import type { MarkupOptions } from "./markup-options.ts";
import { findRenderer } from "./renderers.ts";

/** Maximum length of a text, in characters. */
const LENGTH_MAX = 512 * 1024;

/**
 * Renders markup as sanitized HTML, ready to be inserted into a page.
 *
 * This module and its imports take about 170 KB compressed, so import it dynamically.
 *
 * @throws Failure `invalid` if mode "file" has no renderer for the file; `too_large` for more than 512 Ki
 * characters, or for a text that would take too long to render.
 */
export async function renderMarkup(source: string, options: MarkupOptions): Promise<string> {
  if (source.length > LENGTH_MAX) throw tooLarge("the text is too long to render");
  if (options.mode !== "file") return renderMarkdown(source, options);

  const filePath = options.filePath ?? "";
  const render = findRenderer(filePath);
  if (!render) throw invalid(`unsupported file to render: ${JSON.stringify(filePath)}`);
  return render(source, options);
}
