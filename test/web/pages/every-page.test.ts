import { beforeAll, describe, expect, it } from "vitest";

import { browse } from "../../../src/web/pages/browse.ts";
import { pages } from "../../../src/web/pages/index.ts";
import { makeSite, PAGES, type Site } from "../../support/doors/pages.ts";

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

let site: Site;
beforeAll(async () => {
  site = await makeSite();
});

describe("each page", () => {
  it("has an address in PAGES", () => {
    const opened = new Set(
      Object.values(PAGES).flatMap((to) => {
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
});
