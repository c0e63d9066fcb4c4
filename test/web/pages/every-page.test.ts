import { beforeAll, describe, expect, it } from "vitest";

import { actionsPages } from "../../../src/web/pages/actions/index.ts";
import { adminPages } from "../../../src/web/pages/admin/index.ts";
import { browse } from "../../../src/web/pages/browse.ts";
import { migration } from "../../../src/web/pages/create/migration.tsx";
import { editorPages } from "../../../src/web/pages/editor/index.ts";
import { pages } from "../../../src/web/pages/index.ts";
import { organizationSettings } from "../../../src/web/pages/organization-settings/index.ts";
import {
  organizationCleanupRules,
  ownCleanupRules,
} from "../../../src/web/pages/packages/cleanup-rules.tsx";
import { migrationState } from "../../../src/web/pages/repository/migration.tsx";
import { repositorySettings } from "../../../src/web/pages/repository-settings/index.ts";
import { settingsPages } from "../../../src/web/pages/settings/index.ts";
import { wikiPages } from "../../../src/web/pages/wiki/index.ts";
import { ALL_PAGES, makeSite, type Site } from "../../support/doors/pages.ts";

/**
 * Style and scripts, the registration, which is closed here, what a link of a mail opens once, and
 * a file of a package, which needs its content.
 */
const NOT_IN_PAGES = [
  "/-/pages/:file",
  "/favicon.ico",
  "/user/recover_account",
  "/user/sign_up",
  "/user/activate",
  "/user/activate_email",
  "/user/unsubscribe",
  "/:name/-/packages/:type/:pkg/:version/files/:id",
];

/** Those that are loaded with the first request for one, too. */
const PARTS = [
  pages,
  browse,
  ...settingsPages,
  ...adminPages,
  ...repositorySettings,
  ...organizationSettings,
  ...editorPages,
  migration,
  migrationState,
  organizationCleanupRules,
  ownCleanupRules,
  ...wikiPages,
  ...actionsPages,
];

let site: Site;
beforeAll(async () => {
  site = await makeSite();
});

describe("each page", () => {
  it("has an address in PAGES", () => {
    const opened = new Set(
      Object.values(ALL_PAGES).flatMap((to) => {
        const { pathname } = new URL(to(site), "https://forge.example");
        return PARTS.flatMap(({ router }) =>
          router.match("GET", pathname)[0].map(([[, { path }]]) => path),
        );
      }),
    );
    const routes = PARTS.flatMap((part) => part.routes);
    const gets = new Set(routes.filter(({ method }) => method === "GET").map(({ path }) => path));
    expect([...gets].filter((path) => !opened.has(path))).toEqual(NOT_IN_PAGES);
  });
});
