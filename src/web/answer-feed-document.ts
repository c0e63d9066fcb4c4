import type { Context } from "hono";

import { hasTag } from "../lib/entity-tag.ts";
import { formatHex } from "../lib/hex.ts";
import type { WebEnv } from "./env.ts";
import { type FeedDocument, formatAtom, formatRss } from "./feed-document.ts";

/** Sends a feed, or 304 if the client has the same bytes: feed readers poll often. */
export async function answerFeedDocument(
  c: Context<WebEnv>,
  ending: string,
  document: FeedDocument,
): Promise<Response> {
  const isAtom = ending === ".atom";
  const text = isAtom ? formatAtom(document) : formatRss(document);
  const hash = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(text));
  const tag = formatHex(new Uint8Array(hash));
  c.header("ETag", `"${tag}"`);
  if (hasTag(c.req.header("If-None-Match"), tag)) return c.body(null, 304);
  return c.body(text, 200, {
    "Content-Type": `application/${isAtom ? "atom" : "rss"}+xml; charset=utf-8`,
  });
}
