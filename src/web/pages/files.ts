import { Hono } from "hono";

import type { WebEnv } from "../env.ts";
import { pageFilePath } from "./page-file.ts";

/** The style sheet, the pictures and the scripts of pages. */
export const files = new Hono<WebEnv>();

files.get("/-/pages/:file", async (c) => {
  const file = await c.var.assets.fetch(new Request(c.req.url, c.req.raw));
  const answer = new Response(file.body, file);
  // A name has a hash of its content.
  if (file.ok) answer.headers.set("Cache-Control", "public, max-age=31536000, immutable");
  return answer;
});

// Browsers ask for this address on their own.
files.get("/favicon.ico", (c) => c.redirect(pageFilePath("favicon.svg"), 302));
