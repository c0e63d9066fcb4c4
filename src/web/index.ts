import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { archives } from "./archives.ts";
import { attachments } from "./attachments.ts";
import { avatars } from "./avatars.ts";
import { commitFeeds } from "./commit-feeds.ts";
import { documentation } from "./documentation.ts";
import type { WebEnv } from "./env.ts";
import { feeds } from "./feeds.ts";
import { health } from "./health.ts";
import { nodeInfo } from "./node-info.ts";
import { oauth } from "./oauth/index.ts";
import { objectChecks } from "./object-checks.ts";
import { pages } from "./pages/index.ts";
import { pullChanges } from "./pull-changes.ts";
import { rawFiles } from "./raw-files.ts";
import { releaseFeeds } from "./release-feeds.ts";
import { sitemap } from "./sitemap.ts";

/** All HTTP routes outside the API and git. */
export const web = new Hono<WebEnv>({ router: new TrieRouter() });
const doors = [
  avatars,
  documentation,
  health,
  nodeInfo,
  oauth,
  objectChecks,
  sitemap,
  // Before the pages of wikis, below which the files of wikis are.
  rawFiles,
  pages,
  archives,
  attachments,
  pullChanges,
  releaseFeeds,
  commitFeeds,
  feeds,
];
for (const door of doors) web.route("/", door);
