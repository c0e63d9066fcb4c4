import { beforeAll, describe, expect, it } from "vitest";

import { visit } from "../support/call.ts";
import { ALL_PAGES, makeSite, readerOf, type Site } from "../support/doors/pages.ts";
import { logged } from "../support/usage.ts";

let sites: readonly [Site, Site];
beforeAll(async () => {
  sites = [await makeSite(), await makeSite()];
});

describe("the SQL of a page", () => {
  it.each(Object.entries(ALL_PAGES))(
    "is built once and bound for other rows: %s",
    async (title, to) => {
      for (const isSignedIn of [true, false]) {
        const [, second] = await linesOf((site) =>
          isSignedIn ? readerOf(site, title).get(to(site)) : visit("GET", to(site)),
        );
        expect(second?.status).toBeLessThan(500);
        expect(second?.sqlBuilds).toBe(0);
      }
    },
  );

  it("is built once for the information about a user", async () => {
    const [, second] = await linesOf(({ oauthToken }) =>
      visit("GET", "/login/oauth/userinfo", {
        headers: { Authorization: `Bearer ${oauthToken}` },
      }),
    );
    expect(second).toMatchObject({ status: 200, sqlBuilds: 0 });
  });

  it.each(Object.entries(ALL_PAGES))("is that of a page that is found: %s", async (title, to) => {
    const { status } = await readerOf(sites[0], title).get(to(sites[0]));
    expect([200, 204, 303]).toContain(status);
  });
});

/** The log lines of a request, in each site. */
async function linesOf(send: (site: Site) => ReturnType<typeof visit>) {
  const lines = [];
  for (const site of sites) lines.push((await logged(() => send(site))).line);
  return lines;
}
