import { beforeAll, describe, expect, it } from "vitest";

import { visit } from "../support/call.ts";
import { makeSite, PAGES, type Site } from "../support/doors/pages.ts";
import { logged } from "../support/usage.ts";

let sites: readonly [Site, Site];
beforeAll(async () => {
  sites = [await makeSite(), await makeSite()];
});

describe("the SQL of a page", () => {
  it.each(Object.entries(PAGES))("is built once and bound for other rows: %s", async (_, to) => {
    for (const isSignedIn of [true, false]) {
      const [, second] = await linesOf(({ browser, ...site }) =>
        isSignedIn ? browser.get(to({ ...site, browser })) : visit("GET", to({ ...site, browser })),
      );
      expect(second?.status).toBeLessThan(500);
      expect(second?.sqlBuilds).toBe(0);
    }
  });

  it("is built once for the information about a user", async () => {
    const [, second] = await linesOf(({ oauthToken }) =>
      visit("GET", "/login/oauth/userinfo", {
        headers: { Authorization: `Bearer ${oauthToken}` },
      }),
    );
    expect(second).toMatchObject({ status: 200, sqlBuilds: 0 });
  });

  it.each(Object.entries(PAGES))("is that of a page that is found: %s", async (_, to) => {
    const { status } = await sites[0].browser.get(to(sites[0]));
    expect([200, 204, 303]).toContain(status);
  });
});

/** The log lines of a request, in each site. */
async function linesOf(send: (site: Site) => ReturnType<typeof visit>) {
  const lines = [];
  for (const site of sites) lines.push((await logged(() => send(site))).line);
  return lines;
}
