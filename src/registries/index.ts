import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { cargo } from "./cargo/index.ts";
import { composer } from "./composer/index.ts";
import { container } from "./container/index.ts";
import type { RegistryEnv } from "./env.ts";
import { debian } from "./debian/index.ts";
import { generic } from "./generic/index.ts";
import { go } from "./go/index.ts";
import { helm } from "./helm/index.ts";
import { maven } from "./maven/index.ts";
import { npm } from "./npm/index.ts";
import { nuget } from "./nuget/index.ts";
import { pypi } from "./pypi/index.ts";
import { failureRenderer, PLAIN_TEXT } from "./render-failure.ts";
import { rubygems } from "./rubygems/index.ts";

/** The registries of packages, one for each format. */
export const registries = new Hono<RegistryEnv>({ router: new TrieRouter() });

registries.route("/api/packages/:owner/cargo", cargo);
registries.route("/api/packages/:owner/composer", composer);
registries.route("/api/packages/:owner/debian", debian);
registries.route("/api/packages/:owner/generic", generic);
registries.route("/api/packages/:owner/go", go);
registries.route("/api/packages/:owner/helm", helm);
registries.route("/api/packages/:owner/maven", maven);
registries.route("/api/packages/:owner/npm", npm);
registries.route("/api/packages/:owner/nuget", nuget);
registries.route("/api/packages/:owner/pypi", pypi);
registries.route("/api/packages/:owner/rubygems", rubygems);

registries.route("/v2", container);

registries.all("/api/packages/*", (c) => c.text("404 page not found\n", 404));
registries.onError(failureRenderer(PLAIN_TEXT));
