import { invalid, tooLarge } from "../lib/failure.ts";
import { renderMarkdown } from "./markdown.ts";
import type { MarkupOptions } from "./markup-options.ts";
import { findRenderer } from "./renderers.ts";

/** Longest text that is rendered. */
const LENGTH_MAX = 512 * 1024;

/**
 * Markup as sanitized HTML, ready to be put into a page.
 *
 * The module and what it imports weigh some 170 KB compressed, so load it when there is something to render.
 *
 * @throws Failure `invalid` when mode "file" names a file that nothing renders; `too_large` for
 *   more than 512 Ki characters, or for a text made to take more time than its size allows.
 */
export async function renderMarkup(source: string, options: MarkupOptions): Promise<string> {
  if (source.length > LENGTH_MAX) throw tooLarge("the text is too long to render");
  if (options.mode !== "file") return renderMarkdown(source, options);

  const filePath = options.filePath ?? "";
  const render = findRenderer(filePath);
  if (!render) throw invalid(`unsupported file to render: ${JSON.stringify(filePath)}`);
  return render(source, options);
}
