import { Hono } from "hono";

import { answerAsset } from "../answer-asset.ts";
import type { WebEnv } from "../env.ts";
import { pageFilePath } from "./page-file.ts";

/** The style sheet, the pictures and the scripts of pages. */
export const files = new Hono<WebEnv>();

// A name has a hash of its content.
files.get("/-/pages/:file", (c) =>
  answerAsset(c, c.req.url, { "Cache-Control": "public, max-age=31536000, immutable" }),
);

// Browsers ask for this address on their own.
files.get("/favicon.ico", (c) => c.redirect(pageFilePath("favicon.svg"), 302));
