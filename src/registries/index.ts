import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import type { RegistryEnv } from "./env.ts";
import { composer } from "./composer/index.ts";
import { debian } from "./debian/index.ts";
import { generic } from "./generic/index.ts";
import { maven } from "./maven/index.ts";
import { failureRenderer, PLAIN_TEXT } from "./render-failure.ts";
import { rubygems } from "./rubygems/index.ts";

/** The registries of packages, one for each format. */
export const registries = new Hono<RegistryEnv>({ router: new TrieRouter() });

registries.route("/api/packages/:owner/composer", composer);
registries.route("/api/packages/:owner/debian", debian);
registries.route("/api/packages/:owner/generic", generic);
registries.route("/api/packages/:owner/maven", maven);
registries.route("/api/packages/:owner/rubygems", rubygems);

registries.all("/api/packages/*", (c) => c.text("404 page not found\n", 404));
registries.onError(failureRenderer(PLAIN_TEXT));
