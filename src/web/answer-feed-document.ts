import type { Context } from "hono";

import { evaluateConditions, versionHeaders } from "../lib/conditional-request.ts";
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
  const version = { tag: formatHex(new Uint8Array(hash)) };
  const headers = versionHeaders(version);
  const { status } = evaluateConditions(c.req.raw, version);
  if (status !== 200) return new Response(null, { status, headers });
  return c.body(text, 200, {
    ...headers,
    "Content-Type": `application/${isAtom ? "atom" : "rss"}+xml; charset=utf-8`,
  });
}
