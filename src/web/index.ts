import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { archives } from "./archives.ts";
import { avatars } from "./avatars.ts";
import { documentation } from "./documentation.ts";
import type { WebEnv } from "./env.ts";
import { feeds } from "./feeds.ts";
import { health } from "./health.ts";

/** All HTTP routes outside the API and git. */
export const web = new Hono<WebEnv>({ router: new TrieRouter() });
for (const door of [avatars, documentation, health, archives, feeds]) web.route("/", door);
