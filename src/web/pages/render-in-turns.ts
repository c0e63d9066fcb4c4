import type { HtmlEscapedString } from "hono/utils/html";

import { pause } from "../../lib/time-slice.ts";

/** Items on a page of a list whose items are many lines of a file, or entries of a directory. */
export const ITEMS_PER_PAGE = 1000;

/** Steps to render an item of some elements. */
const ITEM_STEPS = 15_000;

/** Renders items one by one, so that other requests run meanwhile. @returns HTML. */
export async function renderInTurns<T>(
  items: readonly T[],
  render: (item: T) => HtmlEscapedString | Promise<HtmlEscapedString>,
): Promise<string> {
  let html = "";
  for (const item of items) {
    html += String(await render(item));
    await pause(ITEM_STEPS);
  }
  return html;
}
