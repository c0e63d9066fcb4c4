import { Hono } from "hono";

import type { WebEnv } from "../env.ts";

/** The style sheet and the scripts of pages; scripts/build/assets.ts lists them. */
export const files = new Hono<WebEnv>();

files.get("/-/pages/:file", async (c) => {
  const file = await c.var.assets.fetch(new Request(c.req.url, c.req.raw));
  return new Response(file.body, file);
});

// Browsers ask for this address on their own.
files.get("/favicon.ico", (c) => c.redirect("/-/pages/favicon.svg", 301));
