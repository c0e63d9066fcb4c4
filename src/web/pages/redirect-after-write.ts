import type { Context } from "hono";

import { writeBookmark } from "../cookies.ts";
import type { WebEnv } from "../env.ts";

/** Leads from a form to a page, which sees what the form wrote. */
export function redirectAfterWrite(c: Context<WebEnv>, path: string): Response {
  const bookmark = c.var.findWriteBookmark();
  if (bookmark !== undefined) writeBookmark(c, bookmark);
  c.header("Cache-Control", "no-store");
  return c.redirect(path, 303);
}
