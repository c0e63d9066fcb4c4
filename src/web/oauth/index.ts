import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import type { WebEnv } from "../env.ts";
import { loadOnUse } from "../pages/load-on-use.ts";
import { renderPageFailure } from "../pages/render-page-failure.tsx";
import { discovery } from "./discovery.ts";
import { tokenEndpoints } from "./token-endpoints.ts";

const consent = loadOnUse(
  ["/login/oauth/authorize", "/login/oauth/grant", "/login/oauth/sign_in_again"],
  async () => [(await import("./authorize.tsx")).authorize],
);
consent.onError(renderPageFailure);

/** The provider of OAuth 2.0 and OpenID Connect. */
export const oauth = new Hono<WebEnv>({ router: new TrieRouter() });
for (const part of [consent, discovery, tokenEndpoints]) oauth.route("/", part);
