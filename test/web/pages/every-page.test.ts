import { beforeAll, describe, expect, it } from "vitest";

import { adminPages } from "../../../src/web/pages/admin/index.ts";
import { browse } from "../../../src/web/pages/browse.ts";
import { pages } from "../../../src/web/pages/index.ts";
import { organizationSettings } from "../../../src/web/pages/organization-settings/index.ts";
import { repositorySettings } from "../../../src/web/pages/repository-settings/index.ts";
import { settingsPages } from "../../../src/web/pages/settings/index.ts";
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

/** Whether a route is among those that match an address. */
const isAnswered = (
  matched: readonly (readonly [readonly [unknown, { path: string }], unknown])[],
  { path }: { path: string },
): boolean => matched.some(([[, route]]) => route.path === path);

let site: Site;
beforeAll(async () => {
  site = await makeSite();
});

describe("each page", () => {
  it("has an address in PAGES", () => {
    const opened = new Set(
      Object.values(ALL_PAGES).flatMap((to) => {
        const { pathname } = new URL(to(site), "https://forge.example");
        return [pages, browse].flatMap(({ router }) =>
          router.match("GET", pathname)[0].map(([[, { path }]]) => path),
        );
      }),
    );
    const routes = [pages, browse].flatMap((part) => part.routes);
    const gets = new Set(routes.filter(({ method }) => method === "GET").map(({ path }) => path));
    expect([...gets].filter((path) => !opened.has(path))).toEqual(NOT_IN_PAGES);
  });

  it("of settings has one, too", () => {
    const paths = Object.values(ALL_PAGES).map(
      (to) => new URL(to(site), "https://f.example").pathname,
    );
    const loaded = [
      ...repositorySettings,
      ...organizationSettings,
      ...settingsPages,
      ...adminPages,
    ];
    const missing = loaded.flatMap(({ routes, router }) =>
      routes
        .filter(({ method }) => method === "GET")
        .filter((route) => !paths.some((path) => isAnswered(router.match("GET", path)[0], route)))
        .map(({ path }) => path),
    );
    expect(missing).toEqual([]);
  });
});
