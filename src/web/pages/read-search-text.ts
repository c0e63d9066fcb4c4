import type { Context } from "hono";

/** Characters of a search that are read. */
const TEXT_CHARS_MAX = 255;

/** What a page's form searches for: the query's `q`. */
export const readSearchText = (c: Context): string =>
  (c.req.query("q") ?? "").trim().slice(0, TEXT_CHARS_MAX);
