import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import { auditEvents, oauthGrants, sessions } from "../../../src/db/schema/index.ts";
import { only } from "../../../src/lib/only.ts";
import { Browser, SAME_ORIGIN } from "../../support/browser.ts";
import { type Answer, call, visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsIn } from "../../support/events.ts";
import { make, type TestUser } from "../../support/make.ts";
import {
  CALLBACK,
  clientFields,
  exchange,
  makeApplication,
  PKCE,
  postForm,
  type TestApplication,
} from "../../support/oauth.ts";

const PATH = "/login/oauth/authorize";
const GRANT = "/login/oauth/grant";
const WITH_PKCE = { code_challenge: PKCE.challenge, code_challenge_method: "S256" };

const grantsOf = (user: { id: number }) =>
  db.select().from(oauthGrants).where(eq(oauthGrants.userId, user.id));

/** The address of an authorization request. A parameter that is undefined is left out. */
function addressOf(application: TestApplication, fields: Record<string, string | undefined> = {}) {
  const parameters = {
    client_id: application.clientId,
    redirect_uri: CALLBACK,
    response_type: "code",
    scope: "read:user",
    state: "s 1&x",
    ...fields,
  };
  const sent = Object.entries(parameters).filter((each): each is [string, string] => !!each[1]);
  return `${PATH}?${new URLSearchParams(sent)}`;
}

interface Redirect {
  status: number;
  to: string;
  code?: string;
  error?: string;
}

/** Where an answer leads, and what it says there. */
function readRedirect({ status, headers }: Answer): Redirect {
  const url = new URL(headers.get("location") ?? "none:");
  return { status, to: `${url.origin}${url.pathname}`, ...Object.fromEntries(url.searchParams) };
}

let user: TestUser;
let browser: Browser;
let application: TestApplication;
beforeEach(async () => {
  user = await make.userWithPassword();
  browser = await Browser.signedIn(user);
  application = await makeApplication(await make.user());
});

const decide = (address: string, granted: string) => browser.submit(address, { granted }, GRANT);

describe("GET /login/oauth/authorize", () => {
  it("asks the user, naming the application, each scope and where it leads", async () => {
    const scope = "read:user write:repository";
    const { status, headers, body } = await browser.get(addressOf(application, { scope }));
    expect(status).toBe(200);
    for (const text of [
      application.name,
      "app.example",
      "read:user",
      "write:repository",
      user.name,
    ]) {
      expect(body).toContain(text);
    }
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("form-action 'self' https://app.example;");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(await grantsOf(user)).toEqual([]);
  });

  it("says so where a client asks for everything by naming no scope", async () => {
    const { body } = await browser.get(addressOf(application, { scope: undefined }));
    expect(body).toContain("Everything you may do here");
  });

  it("leads to the sign-in and back, where nobody is signed in", async () => {
    const address = addressOf(application);
    const { status, headers } = await visit("GET", address);
    expect(status).toBe(303);
    expect(headers.get("location")).toBe(`/user/login?redirect_to=${encodeURIComponent(address)}`);

    const other = new Browser();
    const signedIn = await other.submit(
      headers.get("location") ?? "",
      { user_name: user.name, password: user.password },
      "/user/login",
    );
    expect(signedIn.headers.get("location")).toBe(address);
    expect((await other.get(address)).status).toBe(200);
  });

  it("takes no token in place of a sign-in", async () => {
    const { status } = await visit("GET", addressOf(application), { as: user });
    expect(status).toBe(303);
    expect(await grantsOf(user)).toEqual([]);
  });

  // SECURITY: a link to this service must lead to no address of somebody else.
  it.each([
    ["an unknown client", { client_id: "none" }],
    ["no client", { client_id: undefined }],
    ["another address", { redirect_uri: "https://other.example/" }],
    ["more of the address", { redirect_uri: `${CALLBACK}/more` }],
    ["another query", { redirect_uri: `${CALLBACK}?x=1` }],
    ["an address of another scheme", { redirect_uri: "javascript:alert(1)" }],
    ["a name before the host", { redirect_uri: "https://app.example@other.example/callback" }],
  ])("shows a page and leads nowhere with %s", async (_, fields) => {
    for (const reader of [browser, new Browser()]) {
      const { status, headers } = await reader.get(addressOf(application, fields));
      expect(status).toBe(400);
      expect(headers.get("location")).toBeNull();
    }
    const twice = await browser.get(`${addressOf(application)}&redirect_uri=https://other.example`);
    expect(twice.status).toBe(400);
  });

  const PUBLIC = { isConfidential: false };
  it.each([
    ["another response type", {}, { response_type: "token" }, "unsupported_response_type"],
    ["no response type", {}, { response_type: undefined }, "unsupported_response_type"],
    ["an unknown scope", {}, { scope: "read:user repo" }, "invalid_scope"],
    ["openid without a key to sign with", {}, { scope: "openid" }, "invalid_scope"],
    ["a public client without PKCE", PUBLIC, {}, "invalid_request"],
    [
      "PKCE by plain text",
      PUBLIC,
      { ...WITH_PKCE, code_challenge_method: "plain" },
      "invalid_request",
    ],
    ["PKCE without a method", PUBLIC, { code_challenge: PKCE.challenge }, "invalid_request"],
    ["PKCE without a challenge", PUBLIC, { code_challenge_method: "S256" }, "invalid_request"],
    ["a short challenge", PUBLIC, { ...WITH_PKCE, code_challenge: "x" }, "invalid_request"],
    ["another response mode", {}, { response_mode: "fragment" }, "invalid_request"],
    ["a request object", {}, { request: "x" }, "request_not_supported"],
    [
      "the address of a request object",
      {},
      { request_uri: "https://x" },
      "request_uri_not_supported",
    ],
    ["contradicting prompts", {}, { prompt: "none login" }, "invalid_request"],
    ["a wrong age", {}, { max_age: "-1" }, "invalid_request"],
    ["a question that may not be asked", {}, { prompt: "none" }, "consent_required"],
  ])("refuses %s where the client reads it, and grants nothing", async (_, fields, sent, error) => {
    const client = await makeApplication(user, fields);
    expect(readRedirect(await browser.get(addressOf(client, sent)))).toEqual({
      status: 303,
      to: CALLBACK,
      error,
      error_description: expect.any(String),
      state: "s 1&x",
      iss: "https://forge.example",
    });
    expect(await grantsOf(user)).toEqual([]);
  });

  it("refuses a parameter that is there twice", async () => {
    const answer = await browser.get(`${addressOf(application)}&scope=all`);
    expect(readRedirect(answer)).toMatchObject({ to: CALLBACK, error: "invalid_request" });
  });

  it("says to a client that may not ask that nobody is signed in", async () => {
    const answer = await visit("GET", addressOf(application, { prompt: "none" }));
    expect(readRedirect(answer)).toMatchObject({ to: CALLBACK, error: "login_required" });
  });

  it("needs no redirect URI where only one is registered", async () => {
    const address = addressOf(application, { redirect_uri: undefined });
    const { code, to } = readRedirect(await decide(address, "true"));
    expect(to).toBe(CALLBACK);
    const tokens = await exchange(application, code ?? "", { redirect_uri: "" });
    expect(tokens.status).toBe(200);
    const two = await makeApplication(user, { redirectUris: [CALLBACK, `${CALLBACK}2`] });
    expect((await browser.get(addressOf(two, { redirect_uri: undefined }))).status).toBe(400);
  });
});

describe("POST /login/oauth/grant", () => {
  it("grants what was asked for, and leads back with a code and the state", async () => {
    const answer = await decide(addressOf(application, { nonce: "n", ...WITH_PKCE }), "true");

    const redirect = readRedirect(answer);
    expect(redirect).toEqual({
      status: 303,
      to: CALLBACK,
      code: expect.stringMatching(/^gta_[0-9a-f]{40}$/),
      state: "s 1&x",
      iss: "https://forge.example",
    });
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
    const session = only(await db.select().from(sessions).where(eq(sessions.userId, user.id)));
    expect(await grantsOf(user)).toMatchObject([
      {
        applicationId: application.id,
        scopes: "read:user",
        identityScopes: "",
        redirectUri: CALLBACK,
        codeChallenge: PKCE.challenge,
        nonce: "n",
        authenticatedAt: session.createdAt,
      },
    ]);
    expect(await eventsIn(user)).toMatchObject([{ type: "oauth_grant.created" }]);
    const audit = await db.select().from(auditEvents).where(eq(auditEvents.ownerId, user.id));
    expect(audit.filter(({ kind }) => kind === "oauth_grant.created")).toMatchObject([
      { target: application.name, details: { scopes: "read:user" } },
    ]);

    const code = redirect.code ?? "";
    const { body } = await exchange(application, code, { code_verifier: PKCE.verifier });
    expect((await call("GET", "/user", { token: body.access_token })).body.login).toBe(user.name);
  });

  it("leads back with a refusal, and grants nothing", async () => {
    for (const granted of ["false", ""]) {
      expect(readRedirect(await decide(addressOf(application), granted))).toMatchObject({
        to: CALLBACK,
        error: "access_denied",
        state: "s 1&x",
      });
    }
    expect(await grantsOf(user)).toEqual([]);
    expect(await eventsIn(user)).toEqual([]);
  });

  // SECURITY: whoever gets a browser to send this form would have access to its user's account.
  it("refuses forms of other sites, without the token, and of nobody", async () => {
    const fields = {
      client_id: application.clientId,
      redirect_uri: CALLBACK,
      response_type: "code",
      scope: "all",
      granted: "true",
    };
    const [, token = ""] =
      /name="_csrf" value="([^"]*)"/.exec(
        String((await browser.get(addressOf(application))).body),
      ) ?? [];
    expect(token).not.toBe("");
    const other = { Origin: "https://other.example", "Sec-Fetch-Site": "cross-site" };
    const stranger = await Browser.signedIn(await make.userWithPassword());
    const answers = [
      await browser.post(GRANT, { ...fields, _csrf: token }, other),
      await browser.post(GRANT, fields),
      await browser.post(GRANT, { ...fields, _csrf: "0".repeat(64) }),
      await stranger.post(GRANT, { ...fields, _csrf: token }),
      await visit("POST", GRANT, {
        headers: SAME_ORIGIN,
        body: new URLSearchParams({ ...fields, _csrf: token }),
      }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
    expect(await grantsOf(user)).toEqual([]);
    // With all three it would have been granted.
    expect((await browser.post(GRANT, { ...fields, _csrf: token })).status).toBe(303);
    expect(await grantsOf(user)).toHaveLength(1);
  });

  it("checks the request again that the form repeats", async () => {
    const address = addressOf(application);
    const wrong = (fields: Record<string, string>) =>
      browser.submit(address, { granted: "true", ...fields }, GRANT);
    expect((await wrong({ redirect_uri: "https://other.example/" })).status).toBe(400);
    expect((await wrong({ client_id: "none" })).status).toBe(400);
    expect(readRedirect(await wrong({ scope: "repo" }))).toMatchObject({ error: "invalid_scope" });
    expect(await grantsOf(user)).toEqual([]);
  });
});

describe("a user who granted access before", () => {
  const first = async (client: TestApplication, fields = {}) => {
    const answer = await decide(addressOf(client, fields), "true");
    const { code } = readRedirect(answer);
    const verifier = "code_challenge" in fields ? { code_verifier: PKCE.verifier } : {};
    expect((await exchange(client, code ?? "", verifier)).status).toBe(200);
  };
  const isAsked = async (client: TestApplication, fields = {}) =>
    (await browser.get(addressOf(client, fields))).status === 200;

  it("is asked again for more scopes, on demand and after revoking, and otherwise not", async () => {
    await first(application, { scope: "write:user read:issue" });
    for (const scope of ["write:user read:issue", "read:user"]) {
      expect(await isAsked(application, { scope })).toBe(false);
      expect(await isAsked(application, { scope, prompt: "none" })).toBe(false);
    }
    for (const scope of ["write:issue", "read:repository", "all", undefined]) {
      expect(await isAsked(application, { scope })).toBe(true);
    }
    expect(await isAsked(application, { scope: "read:user", prompt: "consent" })).toBe(true);
    await db.delete(oauthGrants).where(eq(oauthGrants.userId, user.id));
    expect(await isAsked(application)).toBe(true);
  });

  // SECURITY: any program on the machine can pose as a public client.
  it("is asked by a public client each time, unless it was registered otherwise", async () => {
    const open = await makeApplication(user, { isConfidential: false });
    await first(open, WITH_PKCE);
    expect(await isAsked(open, WITH_PKCE)).toBe(true);
    const trusted = await makeApplication(user, { isConfidential: false, skipsConsent: true });
    await first(trusted, WITH_PKCE);
    expect(await isAsked(trusted, WITH_PKCE)).toBe(false);
  });
});

describe("a client that asks for a new sign-in", () => {
  it("gets it: the session ends, and the sign-in leads back to the request", async () => {
    await db.update(sessions).set({ createdAt: 1000 }).where(eq(sessions.userId, user.id));
    for (const fields of [{ prompt: "login" }, { max_age: "3600" }]) {
      const address = addressOf(application, fields);
      expect((await browser.get(address)).body).toContain("Sign in again");
    }
    const address = addressOf(application, { prompt: "login", max_age: "3600" });
    const silent = await browser.get(addressOf(application, { prompt: "none", max_age: "3600" }));
    expect(readRedirect(silent)).toMatchObject({ error: "login_required" });

    const answer = await browser.submit(address, {}, "/login/oauth/sign_in_again");
    const location = answer.headers.get("location") ?? "";
    expect(location).toMatch(/^\/user\/login\?redirect_to=/);
    expect(await db.select().from(sessions).where(eq(sessions.userId, user.id))).toEqual([]);
    const signedIn = await browser.submit(
      location,
      { user_name: user.name, password: user.password },
      "/user/login",
    );
    const { body } = await browser.get(signedIn.headers.get("location") ?? "");
    expect(body).toContain("Grant access to");
  });
});

describe("the clients of tools", () => {
  it.each([
    ["git-credential-oauth", "a4792ccc-144e-407e-86c9-5e7d8d9c3269", "http://127.0.0.1:41003"],
    ["Git Credential Manager", "e90ee53c-94e2-48ac-9358-a874fb9e0662", "http://127.0.0.1:50000/"],
    ["tea", "d57cb8c4-630c-4168-8324-ec79935e18d4", "http://127.0.0.1:1/"],
  ])(
    "include %s, which leads to any port of this machine",
    async (name, clientId, redirect_uri) => {
      const fields = { client_id: clientId, redirect_uri, ...WITH_PKCE, scope: "repository,user" };
      const answer = await decide(addressOf(application, fields), "true");
      const { code = "", to } = readRedirect(answer);
      expect(to).toBe(redirect_uri.replace(/\/?$/, "/"));

      const { status, body } = await postForm("access_token", {
        grant_type: "authorization_code",
        client_id: clientId,
        redirect_uri,
        code,
        code_verifier: PKCE.verifier,
      });

      expect({ status, body }).toMatchObject({
        status: 200,
        body: { scope: "write:repository write:user" },
      });
      expect(await eventsIn(user)).toMatchObject([{ payload: { name } }]);
      const elsewhere = { ...fields, redirect_uri: "http://other.example:41003/" };
      expect((await browser.get(addressOf(application, elsewhere))).status).toBe(400);
    },
  );
});

describe("/user/settings/applications", () => {
  const PAGE = "/user/settings/applications";

  it("lists applications with access, and revokes it at once", async () => {
    const answer = await decide(addressOf(application, { scope: "read:user read:issue" }), "true");
    const { code = "" } = readRedirect(answer);
    const { body } = await exchange(application, code);
    const page = await browser.get(PAGE);
    for (const text of [application.name, "read:issue read:user"])
      expect(page.body).toContain(text);

    expect((await browser.submit(PAGE, {}, `${PAGE}/revoke`)).status).toBe(303);

    expect((await call("GET", "/user", { token: body.access_token })).status).toBe(401);
    const refresh = { grant_type: "refresh_token", refresh_token: body.refresh_token };
    expect(
      (await postForm("access_token", { ...refresh, ...clientFields(application) })).status,
    ).toBe(400);
    expect((await browser.get(PAGE)).body).toContain("No application has access");
    expect(await eventsIn(user)).toMatchObject([
      { type: "oauth_grant.created" },
      { type: "oauth_grant.revoked", payload: { name: application.name } },
    ]);
  });

  it("revokes nothing of others, nothing unknown and nothing at the wish of another site", async () => {
    const other = await Browser.signedIn(await make.userWithPassword());
    await decide(addressOf(application), "true");
    const [, token = ""] =
      /name="_csrf" value="([^"]*)"/.exec(String((await other.get(PAGE)).body)) ?? [];
    const id = String(application.id);
    expect((await other.post(`${PAGE}/revoke`, { id, _csrf: token })).status).toBe(404);
    expect((await browser.post(`${PAGE}/revoke`, { id })).status).toBe(403);
    expect((await visit("GET", PAGE)).status).toBe(303);
    expect(await grantsOf(user)).toHaveLength(1);
  });

  it("registers an application and shows its secret once, and deletes it", async () => {
    const fields = { name: "my <app>", redirect_uris: `${CALLBACK}\r\nhttp://127.0.0.1/cb` };
    const { body } = await browser.submit(
      PAGE,
      { ...fields, confidential_client: "true" },
      `${PAGE}/oauth2`,
    );
    expect(body).toContain("my &lt;app&gt;");
    expect(body).toMatch(/gto_[a-z2-7]{52}/);
    const { body: listed } = await call("GET", "/user/applications/oauth2", { as: user });
    expect(listed).toMatchObject([
      {
        name: "my <app>",
        redirect_uris: [CALLBACK, "http://127.0.0.1/cb"],
        confidential_client: true,
      },
    ]);
    expect((await browser.get(PAGE)).body).not.toContain("gto_");

    const wrong = { ...fields, redirect_uris: "javascript:alert(1)" };
    expect((await browser.submit(PAGE, wrong, `${PAGE}/oauth2`)).status).toBe(422);
    expect((await browser.submit(PAGE, {}, `${PAGE}/oauth2/delete`)).status).toBe(303);
    expect((await call("GET", "/user/applications/oauth2", { as: user })).body).toEqual([]);
  });
});
