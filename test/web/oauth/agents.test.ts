import { and, eq, isNotNull } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import { MCP_PATH } from "../../../src/auth/audience.ts";
import {
  accessTokenRepositories,
  accessTokens,
  auditEvents,
  oauthGrants,
  repositories,
} from "../../../src/db/schema/index.ts";
import { only } from "../../../src/lib/only.ts";
import { Browser } from "../../support/browser.ts";
import { basic, call, visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { askBatch, makeLargeFile } from "../../support/large-files.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import {
  authorizationOf,
  CALLBACK,
  consent,
  exchange,
  exchangePublic,
  makeApplication,
  makeTokens,
  PKCE,
  postForm,
  readRedirect,
  refresh,
  registerPublic,
} from "../../support/oauth.ts";

const SERVICE = "https://forge.example";
const MCP = `${SERVICE}${MCP_PATH}`;

let user: TestUser;
let browser: Browser;
let client: { clientId: string };
beforeEach(async () => {
  user = await make.userWithPassword();
  browser = await Browser.signedIn(user);
  client = await registerPublic();
});

const grantsOf = (each: { id: number }) =>
  db.select().from(oauthGrants).where(eq(oauthGrants.userId, each.id));

const tokensOf = (each: { id: number }) =>
  db
    .select()
    .from(accessTokens)
    .where(and(eq(accessTokens.userId, each.id), isNotNull(accessTokens.grantId)));

/** What the user grants by the form of the consent page. */
const granting = async (
  request: Record<string, string | undefined>,
  choices: Record<string, string> = {},
) => readRedirect(await consent(browser, authorizationOf(client, request), choices))["code"];

describe("the resource of a request", () => {
  it.each([
    [MCP, "mcp"],
    [`${MCP}/`, "mcp"],
    ["HTTPS://FORGE.example/mcp", "mcp"],
    ["https://forge.example:443/mcp", "mcp"],
    [SERVICE, null],
    [`${SERVICE}/`, null],
    [undefined, null],
  ])("%s gives a grant and a token for %s", async (resource, audience) => {
    const code = await granting({ resource });
    expect(await grantsOf(user)).toMatchObject([{ audience }]);
    const { status } = await exchangePublic(
      client,
      code,
      resource === undefined ? {} : { resource },
    );
    expect(status).toBe(200);
    expect(await tokensOf(user)).toMatchObject([{ audience }]);
  });

  it.each([
    "https://other.example/mcp",
    "http://forge.example/mcp",
    "https://forge.example:8443/mcp",
    "https://forge.example/mcp/x",
    "https://forge.example/mcp2",
    "https://forge.example/MCP",
    "https://forge.example/api/v1",
    "https://forge.example/mcp?x=1",
    "https://forge.example/mcp#x",
    "https://forge.example/mcp#",
    "https://user@forge.example/mcp",
    "https://forge.example.other.example/mcp",
    "https://forge.example@other.example/mcp",
    "/mcp",
    "mcp",
  ])("is refused if it is none of this service: %s", async (resource) => {
    const application = await makeApplication(user);
    const answer = await browser.get(authorizationOf(application, { resource }));
    expect(readRedirect(answer)).toMatchObject({ to: CALLBACK, error: "invalid_target" });
    const code = await granting({});
    const { body } = await exchangePublic(client, code, { resource });
    expect(body.error).toBe("invalid_target");
    // The code is not used by a request that is refused.
    expect((await exchangePublic(client, code)).status).toBe(200);
  });

  // SECURITY: with two, one could be checked and the other used.
  it("is there once", async () => {
    const application = await makeApplication(user);
    const answer = await browser.get(
      `${authorizationOf(application, { resource: MCP })}&resource=${encodeURIComponent(SERVICE)}`,
    );
    expect(readRedirect(answer)).toMatchObject({ error: "invalid_request" });
  });

  it("is never widened by a request for tokens, and may be narrowed", async () => {
    const narrow = await granting({ resource: MCP });
    expect((await exchangePublic(client, narrow, { resource: SERVICE })).body.error).toBe(
      "invalid_target",
    );
    // Without a resource, a token is for what was granted.
    const { body: first } = await exchangePublic(client, narrow);
    const refreshing = (refreshToken: string, resource: string) =>
      postForm("access_token", {
        grant_type: "refresh_token",
        client_id: client.clientId,
        refresh_token: refreshToken,
        ...(resource !== "" && { resource }),
      });
    expect((await refreshing(first.refresh_token, SERVICE)).body.error).toBe("invalid_target");
    expect((await refreshing(first.refresh_token, "")).status).toBe(200);
    expect((await tokensOf(user)).map(({ audience }) => audience)).toEqual(["mcp", "mcp"]);

    const wide = await granting({});
    const { body: second } = await exchangePublic(client, wide, { resource: MCP });
    expect((await refreshing(second.refresh_token, "")).status).toBe(200);
    const audiences = (await tokensOf(user)).map(({ audience }) => audience);
    expect(audiences).toEqual(["mcp", "mcp", "mcp", null]);
  });

  // SECURITY: what was granted for the tools of agents opens nothing else without a question.
  it("is part of what a user granted before", async () => {
    const application = await makeApplication(user);
    const first = async (fields: Record<string, string>) => {
      const address = authorizationOf(application, { scope: "read:user", ...fields });
      const { code } = readRedirect(await consent(browser, address));
      const sent = { code_verifier: PKCE.verifier };
      expect((await exchange(application, String(code), sent)).status).toBe(200);
    };
    const isAsked = async (resource?: string) =>
      (await browser.get(authorizationOf(application, { scope: "read:user", resource }))).status ===
      200;
    await first({ resource: MCP });
    expect([await isAsked(MCP), await isAsked(), await isAsked(SERVICE)]).toEqual([
      false,
      true,
      true,
    ]);
    await first({});
    expect([await isAsked(MCP), await isAsked()]).toEqual([false, false]);
  });
});

describe("a token for the door for agents", () => {
  it("is taken at no other door, in no form", async () => {
    const repo = await make.repo(user);
    const application = await makeApplication(user);
    const large = makeLargeFile("large");
    const path = `/${repo.owner}/${repo.name}`;
    const ways: Readonly<Record<string, (headers: Record<string, string>) => Promise<number>>> = {
      API: async (headers) => (await call("GET", "/user", { headers })).status,
      "public part of the API": async (headers) =>
        (await call("GET", `/repos${path}`, { headers })).status,
      git: async (headers) =>
        (await visit("GET", `${path}.git/info/refs?service=git-upload-pack`, { headers })).status,
      push: async (headers) =>
        (await visit("GET", `${path}.git/info/refs?service=git-receive-pack`, { headers })).status,
      LFS: async (headers) => (await askBatch(repo, "download", [large], { headers })).status,
      feed: async (headers) => (await visit("GET", `${path}.rss`, { headers })).status,
      raw: async (headers) =>
        (await visit("GET", `${path}/raw/branch/main/README.md`, { headers })).status,
      npm: async (headers) =>
        (await visit("GET", `/api/packages/${repo.owner}/npm/none`, { headers })).status,
      containers: async (headers) => (await visit("GET", "/v2/", { headers })).status,
    };
    const { access } = await makeTokens(user, application, { scope: "all", audience: "mcp" });
    const { access: wide } = await makeTokens(user, application, { scope: "all" });
    for (const [way, statusWith] of Object.entries(ways)) {
      const forms = (token: string) => [
        { Authorization: `Bearer ${token}` },
        { Authorization: `token ${token}` },
        basic("oauth2", token),
        basic(token, ""),
      ];
      for (const headers of forms(access)) {
        expect(await statusWith(headers), `${way}: ${headers.Authorization?.slice(0, 6)}`).toBe(
          401,
        );
      }
      for (const headers of forms(wide)) {
        expect(await statusWith(headers), way).not.toBe(401);
      }
    }
    const login = async (token: string) =>
      (await visit("GET", "/v2/token?service=x", { headers: basic("oauth2", token) })).status;
    expect([await login(access), await login(wide)]).toEqual([401, 200]);
  });

  it("states its audience to the client that asks about it", async () => {
    const application = await makeApplication(user);
    const { access } = await makeTokens(user, application, { audience: "mcp" });
    const { body } = await postForm("introspect", {
      token: access,
      client_id: application.clientId,
      client_secret: application.secret,
    });
    expect(body).toMatchObject({ active: true, aud: MCP });
  });
});

describe("the consent page", () => {
  it("lets the user grant less than is asked for", async () => {
    const scope = "write:repository write:issue read:user";
    const choices = { "scope-repository": "read", "scope-issue": "none" };
    const code = await granting({ scope }, choices);
    const { body } = await exchangePublic(client, code);
    expect(body.scope).toBe("read:repository read:user");
    expect(await grantsOf(user)).toMatchObject([{ scopes: "read:repository,read:user" }]);
  });

  // SECURITY: the form limits, and never adds.
  it("grants no more than is asked for, whatever its form says", async () => {
    const choices = {
      "scope-repository": "write",
      "scope-issue": "write",
      "scope-admin": "write",
      "scope-user": "admin",
    };
    const code = await granting({ scope: "public-only read:repository read:user" }, choices);
    const { body } = await exchangePublic(client, code);
    expect(body.scope).toBe("public-only read:repository read:user");
  });

  it("lets the user take out of everything", async () => {
    const code = await granting({ scope: "all" }, { "scope-admin": "none", "scope-user": "read" });
    const { body } = await exchangePublic(client, code);
    expect(body.scope).toBe(
      "write:activitypub write:misc write:notification write:organization write:package write:issue write:repository read:user",
    );
  });

  it("asks again where nothing is left, and keeps what was chosen", async () => {
    const address = authorizationOf(client, { scope: "read:issue read:user" });
    const nothing = { "scope-issue": "none", "scope-user": "none" };
    const { status, body } = await consent(browser, address, nothing);
    expect(status).toBe(400);
    expect(body).toContain("Nothing is left that it may do");
    expect(body).toMatch(/<select id="scope-issue"[^]*?<option value="none" selected/);
    expect(await grantsOf(user)).toEqual([]);
  });

  it("binds the grant to a repository, and so each of its tokens", async () => {
    const [repo, other] = [
      await make.repo(user, { isPrivate: true }),
      await make.repo(user, { isPrivate: true }),
    ];
    const name = `${repo.owner}/${repo.name}`;
    const code = await granting(
      { scope: "write:repository read:issue" },
      { repository: ` ${name.toUpperCase()} ` },
    );
    expect(await grantsOf(user)).toMatchObject([{ repoId: repo.id }]);
    const audit = await db
      .select()
      .from(auditEvents)
      .where(and(eq(auditEvents.ownerId, user.id), eq(auditEvents.kind, "oauth_grant.created")));
    expect(only(audit).details).toEqual({
      scopes: "read:issue write:repository",
      audience: null,
      repository: name,
      redirectHost: "app.example",
    });

    const { body: first } = await exchangePublic(client, code);
    const { body: second } = await postForm("access_token", {
      grant_type: "refresh_token",
      client_id: client.clientId,
      refresh_token: first.refresh_token,
    });
    const statusOf = async (each: TestRepo, token: string) =>
      (await call("GET", `/repos/${each.owner}/${each.name}`, { token })).status;
    for (const token of [first.access_token, second.access_token]) {
      expect([await statusOf(repo, token), await statusOf(other, token)]).toEqual([200, 404]);
      const made = await call("POST", "/user/repos", { token, json: { name: "more" } });
      expect(made.status).toBe(403);
    }
    const tokens = await tokensOf(user);
    const bound = await db
      .select()
      .from(accessTokenRepositories)
      .where(eq(accessTokenRepositories.repoId, repo.id));
    expect(bound.map(({ tokenId }) => tokenId)).toEqual(tokens.map(({ id }) => id));
    expect((await browser.get("/user/settings/applications")).body).toContain(`only in ${name}`);
  });

  it.each(["nobody/nothing", "nothing", "/", "x".repeat(301)])(
    "asks again for a repository that is not there: %s",
    async (repository) => {
      const { status, body } = await consent(browser, authorizationOf(client), { repository });
      expect(status).toBe(422);
      expect(body).toContain('aria-invalid="true"');
      expect(await grantsOf(user)).toEqual([]);
    },
  );

  // SECURITY: the answer does not say whether there is such a repository.
  it("knows no private repository of others", async () => {
    const { owner, name } = await make.repo(await make.user(), { isPrivate: true });
    const fields = { repository: `${owner}/${name}` };
    expect((await consent(browser, authorizationOf(client), fields)).status).toBe(422);
    expect(await grantsOf(user)).toEqual([]);
  });

  // SECURITY: an application that was let into one repository is not let into all unasked.
  it("is shown again where the user granted one repository", async () => {
    const application = await makeApplication(user);
    const { owner, name } = await make.repo(user);
    const address = authorizationOf(application, { scope: "read:repository" });
    const answer = await consent(browser, address, { repository: `${owner}/${name}` });
    const code = String(readRedirect(answer)["code"]);
    expect((await exchange(application, code, { code_verifier: PKCE.verifier })).status).toBe(200);
    expect((await browser.get(address)).status).toBe(200);
  });

  it("has no form that another site, or another session, could send", async () => {
    const fields = {
      client_id: client.clientId,
      redirect_uri: CALLBACK,
      response_type: "code",
      code_challenge: PKCE.challenge,
      code_challenge_method: "S256",
      granted: "true",
    };
    const [, token = ""] =
      /name="_csrf" value="([^"]*)"/.exec(
        String((await browser.get(authorizationOf(client))).body),
      ) ?? [];
    const cross = { Origin: "https://other.example", "Sec-Fetch-Site": "cross-site" };
    const stranger = await Browser.signedIn(await make.userWithPassword());
    const answers = [
      await browser.post("/login/oauth/grant", { ...fields, _csrf: token }, cross),
      await browser.post("/login/oauth/grant", fields),
      await stranger.post("/login/oauth/grant", { ...fields, _csrf: token }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
    expect(await grantsOf(user)).toEqual([]);
  });
});

describe("a grant for one repository", () => {
  it("ends with the repository", async () => {
    const repo = await make.repo(user);
    const application = await makeApplication(user);
    const repository = { id: repo.id, fullName: `${repo.owner}/${repo.name}` };
    const tokens = await makeTokens(user, application, { scope: "all", repository });
    expect(
      (await call("GET", `/repos/${repository.fullName}`, { token: tokens.access })).status,
    ).toBe(200);
    await db.delete(repositories).where(eq(repositories.id, repo.id));
    expect((await call("GET", "/version", { token: tokens.access })).status).toBe(401);
    expect((await refresh(application, tokens.refresh)).status).toBe(400);
    expect(await grantsOf(user)).toEqual([]);
  });

  it("is listed with the application, unless another grant reaches further", async () => {
    const [first, second] = [await make.repo(user), await make.repo(user)];
    const application = await makeApplication(user);
    const PAGE = "/user/settings/applications";
    const names = [first, second].map((repo) => `${repo.owner}/${repo.name}`);
    for (const [at, repo] of [first, second].entries()) {
      const repository = { id: repo.id, fullName: names[at] ?? "" };
      await makeTokens(user, application, { repository });
    }
    expect((await browser.get(PAGE)).body).toContain(`only in ${names.toSorted().join(", ")}`);
    await makeTokens(user, application);
    expect((await browser.get(PAGE)).body).not.toContain("only in");
  });

  // SECURITY: a repository may have got another name since.
  it("names no repository that its user lost access to", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner, { isPrivate: true });
    const repository = { id: repo.id, fullName: "" };
    await makeTokens(user, await makeApplication(user), { repository });
    const { body } = await browser.get("/user/settings/applications");
    expect(body).toContain("only in repositories that you see no more");
    expect(body).not.toContain(repo.name);
  });
});
