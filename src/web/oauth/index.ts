import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import type { WebEnv } from "../env.ts";
import { authorize } from "./authorize.tsx";
import { discovery } from "./discovery.ts";
import { tokenEndpoints } from "./token-endpoints.ts";

/** The provider of OAuth 2.0 and OpenID Connect. */
export const oauth = new Hono<WebEnv>({ router: new TrieRouter() });
for (const part of [authorize, discovery, tokenEndpoints]) oauth.route("/", part);
