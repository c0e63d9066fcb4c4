import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { notFound } from "../../lib/failure.ts";
import type { WebEnv } from "../env.ts";
import { organizationPages } from "./account/organization.tsx";
import { profile } from "./account/profile.tsx";
import { issuePages } from "./issues/index.ts";
import { loadOnUse } from "./load-on-use.ts";
import { packagePages } from "./packages/index.tsx";
import { packageSettings } from "./packages/settings.tsx";
import { renderFailure } from "../render-failure.ts";
import { renderPageFailure } from "./render-page-failure.tsx";
import { repositoryPages } from "./repository/index.ts";

/**
 * The pages of accounts and repositories. Their paths begin with any name, so that they are mounted
 * after all doors with paths of their own.
 */
export const browse = new Hono<WebEnv>({ router: new TrieRouter() });
for (const part of [
  profile,
  // Before the page of a team, whose address may have any name.
  loadOnUse(
    [
      "/org/:org/settings",
      "/org/:org/settings/hooks/*",
      "/org/:org/settings/rulesets/*",
      "/org/:org/settings/actions/*",
      "/org/:org/settings/blocked_users",
      "/org/:org/members/action",
      "/org/:org/teams/new",
      "/org/:org/teams/:team/edit",
    ],
    async () => (await import("./organization-settings/index.ts")).organizationSettings,
  ),
  organizationPages,
  packagePages,
  packageSettings,
  ...repositoryPages,
  ...issuePages,
  loadOnUse(
    ["_new", "_edit", "_delete", "_upload", "_diffpatch", "_cherrypick"].map(
      (name) => `/:owner/:repo/${name}/*`,
    ),
    async () => (await import("./editor/index.ts")).editorPages,
  ),
  loadOnUse(["/org/:org/settings/packages/*"], async () => [
    (await import("./packages/cleanup-rules.tsx")).organizationCleanupRules,
  ]),
  loadOnUse(["/:owner/:repo/-/migrate/*"], async () => [
    (await import("./repository/migration.tsx")).migrationState,
  ]),
  loadOnUse(
    ["/:owner/:repo/actions/*"],
    async () => (await import("./actions/index.ts")).actionsPages,
  ),
  // After the other pages below addresses of this form.
  loadOnUse(
    ["/:owner/:repo/settings", "/:owner/:repo/settings/*"],
    async () => (await import("./repository-settings/index.ts")).repositorySettings,
  ),
])
  browse.route("/", part);

browse.all("*", () => {
  throw notFound();
});

// A page for people, and a line of text for programs, which do not say that they read HTML.
browse.onError((error, c) => {
  const isRead = c.req.header("accept")?.includes("text/html");
  return isRead ? renderPageFailure(error, c) : renderFailure(error, c);
});
