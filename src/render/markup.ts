import { invalid, tooLarge } from "../lib/failure.ts";
import type { StepBudget } from "../lib/step-budget.ts";
import { renderMarkdown } from "./markdown.ts";
import type { MarkupOptions } from "./markup-options.ts";
import { renderPlainText } from "./plain-text.ts";
import { RenderBudget, TooMuchWork } from "./render-budget.ts";
import { findRenderer, type Renderer } from "./renderers.ts";

/** Maximum length of a text, in characters. */
export const MARKUP_CHARS_MAX = 512 * 1024;

/**
 * Renders markup as sanitized HTML, ready to be inserted into a page. A text that takes too much
 * work is shown as plain text, after a sentence with the reason.
 *
 * This module and its imports take about 170 KB compressed, so import it dynamically.
 *
 * @param steps Bounds the work; it should have `RENDER_STEPS_MAX` steps.
 * @throws Failure `invalid` if mode "file" has no renderer for the file; `too_large` for more than
 * 512 Ki characters.
 */
export async function renderMarkup(
  source: string,
  options: MarkupOptions,
  steps?: StepBudget,
): Promise<string> {
  if (source.length > MARKUP_CHARS_MAX) throw tooLarge("the text is too long to render");
  const render = chooseRenderer(options);
  const budget = new RenderBudget(steps);
  try {
    return await render(source, options, budget);
  } catch (error) {
    if (!(error instanceof TooMuchWork)) throw error;
    const html = await renderPlainText(source, options, budget);
    return `<p><em>Shown as plain text, since ${error.message}.</em></p>\n${html}`;
  }
}

function chooseRenderer({ mode, filePath = "" }: MarkupOptions): Renderer {
  if (mode !== "file") return renderMarkdown;
  const render = findRenderer(filePath);
  if (!render) throw invalid(`unsupported file to render: ${JSON.stringify(filePath)}`);
  return render;
}
