import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import type { WebEnv } from "../env.ts";
import { changePassword } from "./change-password.tsx";
import { organizationCreation } from "./create/organization.tsx";
import { repositoryCreation } from "./create/repository.tsx";
import { docs } from "./docs/index.tsx";
import { explore } from "./explore/index.tsx";
import { files } from "./files.ts";
import { forgottenPassword } from "./forgotten-password.tsx";
import { home } from "./home/index.tsx";
import { ownLists } from "./issues/own-lists.tsx";
import { loadOnUse } from "./load-on-use.ts";
import { notificationPages } from "./notifications.tsx";
import { registration } from "./registration.tsx";
import { renderPageFailure } from "./render-page-failure.tsx";
import { signIn } from "./sign-in.tsx";
import { twoFactor } from "./two-factor.tsx";
import { unsubscription } from "./unsubscribe.tsx";

/** Pages for people. */
export const pages = new Hono<WebEnv>({ router: new TrieRouter() });
for (const part of [
  home,
  explore,
  notificationPages,
  ownLists,
  repositoryCreation,
  organizationCreation,
  files,
  signIn,
  twoFactor,
  changePassword,
  forgottenPassword,
  registration,
  unsubscription,
  loadOnUse(["/repo/migrate"], async () => [(await import("./create/migration.tsx")).migration]),
  docs,
  loadOnUse(["/-/admin/*"], async () => (await import("./admin/index.ts")).adminPages),
  loadOnUse(["/user/settings/*"], async () => [
    ...(await import("./settings/index.ts")).settingsPages,
    (await import("./packages/cleanup-rules.tsx")).ownCleanupRules,
  ]),
  loadOnUse(["/:owner/:repo/wiki/*"], async () => (await import("./wiki/index.ts")).wikiPages),
])
  pages.route("/", part);

pages.onError(renderPageFailure);
