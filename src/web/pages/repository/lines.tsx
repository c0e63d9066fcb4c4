import { raw } from "hono/html";

import type { Ctx } from "../../../context.ts";
import { grammarsOf } from "./languages.ts";

/**
 * The lines of a text as HTML, highlighted by the language that the name of its file tells.
 *
 * @param name Without directories.
 */
export async function highlightText(ctx: Ctx, name: string, text: string): Promise<string[]> {
  const { highlightLines } = await import("../../../render/highlight-lines.ts");
  const { RENDER_STEPS_MAX } = await import("../../../render/render-budget.ts");
  return highlightLines(text, await grammarsOf(name), ctx.git.openBudget(RENDER_STEPS_MAX));
}

/**
 * Lines of code, each with an address of its own.
 *
 * @param lines HTML.
 * @param first The number of the first line.
 */
export const toLines = (lines: readonly string[], first = 1): string =>
  lines
    .map((html, at) => {
      const number = first + at;
      return `<span id="L${number}"><a href="#L${number}">${number}</a>${html}\n</span>`;
    })
    .join("");

/** Lines of a text, in a region that scrolls. */
export function Lines({ name, html }: { name: string; html: string }) {
  return (
    <div class="scroll" tabindex={0} role="region" aria-label={`Text of ${name}`}>
      <pre class="code">{raw(html)}</pre>
    </div>
  );
}

/** The lines of a text as they are counted: the last one may have no line feed. */
export const countLines = (text: string): number =>
  text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
