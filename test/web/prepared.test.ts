import { beforeAll, describe, expect, it } from "vitest";

import { Browser } from "../support/browser.ts";
import { call, visit } from "../support/call.ts";
import { pngOf } from "../support/images.ts";
import { make } from "../support/make.ts";
import { CALLBACK, makeApplication, makeTokens } from "../support/oauth.ts";
import { World } from "../support/samples/world.ts";
import { logged } from "../support/usage.ts";

/** Everything that the paths below show, of one user who is signed in. */
async function makeSite() {
  const user = await make.userWithPassword();
  const world = new World({ owner: user });
  const [repo, pull] = [await world.repo(), await world.pull()];
  const application = await makeApplication(user);
  const at = `/repos/${user.name}/${repo.name}`;
  const release = await call("POST", `${at}/releases`, {
    as: user,
    json: { tag_name: "v1", target_commitish: "main" },
  });
  const asset = await call("POST", `${at}/releases/${release.body.id}/assets?name=a.txt`, {
    as: user,
    headers: { "Content-Type": "application/octet-stream" },
    body: "text",
  });
  await call("POST", "/user/avatar", { as: user, json: { image: pngOf(1, 1, user.name) } });
  const { body } = await call("GET", "/user", { as: user });
  return {
    user,
    browser: await Browser.signedIn(user),
    path: `/${user.name}/${repo.name}`,
    pullNumber: pull.number,
    uuid: String(asset.body.uuid),
    avatarPath: new URL(body.avatar_url).pathname,
    clientId: application.clientId,
    oauthToken: (await makeTokens(user, application, { scope: "openid" })).access,
  };
}

type Site = Awaited<ReturnType<typeof makeSite>>;

const authorization = ({ clientId }: Site): string => {
  const wanted = { client_id: clientId, redirect_uri: CALLBACK, response_type: "code" };
  return `/login/oauth/authorize?${new URLSearchParams({ ...wanted, scope: "read:user" })}`;
};

const PATHS: Readonly<Record<string, (site: Site) => string>> = {
  "the start page": () => "/",
  "the health check": () => "/api/healthz",
  "the address of the node information": () => "/.well-known/nodeinfo",
  "the page to sign in": () => "/user/login",
  "the page of a second factor": () => "/user/two_factor",
  "the page of a new password": () => "/user/change_password",
  "the settings of the account": () => "/user/settings/account",
  "the settings of applications": () => "/user/settings/applications",
  "the settings of keys": () => "/user/settings/keys",
  "the settings of security": () => "/user/settings/security",
  "the enrolment of an app": () => "/user/settings/security/two_factor/enroll",
  "the settings of tokens": () => "/user/settings/tokens",
  "the page that asks for consent": authorization,
  "the description of the provider": () => "/.well-known/oauth-authorization-server",
  "the keys of the provider": () => "/login/oauth/keys",
  "the feed of a user": ({ user }) => `/${user.name}.rss`,
  "the feed of a repository": ({ path }) => `${path}.atom`,
  "the feed of releases": ({ path }) => `${path}/releases.rss`,
  "the feed of tags": ({ path }) => `${path}/tags.atom`,
  "an archive": ({ path }) => `${path}/archive/main.tar.gz`,
  "the changes of a pull request": ({ path, pullNumber }) => `${path}/pulls/${pullNumber}.diff`,
  "a file": ({ uuid }) => `/attachments/${uuid}`,
  "a file of a repository": ({ path, uuid }) => `${path}/attachments/${uuid}`,
  "a file of a release": ({ path }) => `${path}/releases/download/v1/a.txt`,
  "a file of the latest release": ({ path }) => `${path}/releases/latest/download/a.txt`,
  "a generated avatar": ({ user }) => `/avatars/${user.id}`,
  "an uploaded avatar": ({ avatarPath }) => avatarPath,
};

let sites: readonly [Site, Site];
beforeAll(async () => {
  sites = [await makeSite(), await makeSite()];
});

describe("the SQL of a page", () => {
  it.each(Object.entries(PATHS))("is built once and bound for other rows: %s", async (_, to) => {
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

  it.each(Object.entries(PATHS))("is that of a page that is found: %s", async (_, to) => {
    const { status } = await sites[0].browser.get(to(sites[0]));
    expect([200, 303]).toContain(status);
  });
});

/** The log lines of a request, in each site. */
async function linesOf(send: (site: Site) => ReturnType<typeof visit>) {
  const lines = [];
  for (const site of sites) lines.push((await logged(() => send(site))).line);
  return lines;
}
