import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import type { WebEnv } from "../env.ts";
import { discovery } from "./discovery.ts";
import { tokenEndpoints } from "./token-endpoints.ts";

/** The provider of OAuth 2.0 and OpenID Connect. */
export const oauth = new Hono<WebEnv>({ router: new TrieRouter() });
for (const part of [discovery, tokenEndpoints]) oauth.route("/", part);
