import { eq, isNotNull } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import { hashSecret } from "../../../src/auth/secret.ts";
import { oauthApplications, oauthGrants } from "../../../src/db/schema/index.ts";
import { only } from "../../../src/lib/only.ts";
import { Browser } from "../../support/browser.ts";
import { basic, call, visit } from "../../support/call.ts";
import { CountingLimiter } from "../../support/counting-limiter.ts";
import { db } from "../../support/db.ts";
import { make, type TestUser } from "../../support/make.ts";
import {
  authorizationOf,
  CALLBACK,
  consent,
  exchangePublic,
  PKCE,
  postForm,
  readRedirect,
  register,
  registerPublic,
} from "../../support/oauth.ts";
import { doorsWith } from "../../support/service.ts";

const MCP = "https://forge.example/mcp";

const PUBLIC = {
  client_name: "An agent",
  redirect_uris: [CALLBACK, "http://localhost:4711/cb", "cursor://mcp/cb"],
  token_endpoint_auth_method: "none",
};

const registered = () =>
  db.select().from(oauthApplications).where(isNotNull(oauthApplications.expiresAt));

beforeEach(async () => {
  await db.delete(oauthApplications).where(isNotNull(oauthApplications.expiresAt));
});

describe("POST /login/oauth/register", () => {
  it("registers a public client, which belongs to nobody and ends where nobody uses it", async () => {
    const { status, headers, body } = await register({
      ...PUBLIC,
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      scope: "read:user",
      application_type: "native",
      logo_uri: "https://app.example/logo.png",
      software_statement: "x",
    });

    expect({ status, body }).toEqual({
      status: 201,
      body: {
        client_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        client_id_issued_at: expect.any(Number),
        client_name: "An agent",
        redirect_uris: PUBLIC.redirect_uris,
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: "none",
      },
    });
    expect(headers.get("cache-control")).toBe("no-store");
    const row = only(await registered());
    expect(row).toMatchObject({
      clientId: body.client_id,
      ownerId: null,
      registration: "dynamic",
      isConfidential: false,
      skipsConsent: false,
      secretHash: null,
    });
    expect(row.expiresAt).toBe(row.createdAt + 7 * 24 * 60 * 60 * 1000);
  });

  it.each([undefined, null, "client_secret_basic", "client_secret_post"])(
    "gives a client a secret that it asks for by %s, and stores its hash",
    async (method) => {
      const { body } = await register({ ...PUBLIC, token_endpoint_auth_method: method });
      expect(body).toMatchObject({
        client_secret: expect.stringMatching(/^gto_[a-z2-7]{52}$/),
        client_secret_expires_at: 0,
        token_endpoint_auth_method: method ?? "client_secret_basic",
      });
      expect(only(await registered())).toMatchObject({
        isConfidential: true,
        secretHash: await hashSecret(body.client_secret),
      });
    },
  );

  it.each([
    ["no redirect URI", { redirect_uris: [] }],
    ["no list of them", { redirect_uris: undefined }],
    ["one that is no text", { redirect_uris: [1] }],
    ["http elsewhere", { redirect_uris: ["http://app.example/cb"] }],
    ["http on another machine of the network", { redirect_uris: ["http://10.0.0.1/cb"] }],
    ["a host that only begins like loopback", { redirect_uris: ["http://127.0.0.1.x.example/"] }],
    ["a fragment", { redirect_uris: [`${CALLBACK}#x`] }],
    ["a script", { redirect_uris: [CALLBACK, "javascript:alert(1)"] }],
    ["data", { redirect_uris: ["data:text/html,x"] }],
    ["a name before the host", { redirect_uris: ["https://forge.example@app.example/"] }],
    ["a relative one", { redirect_uris: ["/cb"] }],
    ["a long one", { redirect_uris: [`${CALLBACK}?${"x".repeat(2000)}`] }],
    ["too many", { redirect_uris: Array.from({ length: 21 }, (_, at) => `${CALLBACK}/${at}`) }],
  ])("refuses %s", async (_, fields) => {
    const { status, body } = await register({ ...PUBLIC, ...fields });
    expect({ status, body }).toEqual({
      status: 400,
      body: { error: "invalid_redirect_uri", error_description: expect.any(String) },
    });
    expect(await registered()).toEqual([]);
  });

  it.each([
    ["a method that is not supported", { token_endpoint_auth_method: "private_key_jwt" }],
    ["only other grants", { grant_types: ["client_credentials"] }],
    ["only other responses", { response_types: ["token"] }],
    ["a name that is no text", { client_name: {} }],
  ])("refuses %s", async (_, fields) => {
    const { status, body } = await register({ ...PUBLIC, ...fields });
    expect({ status, error: body.error }).toEqual({
      status: 400,
      error: "invalid_client_metadata",
    });
    expect(await registered()).toEqual([]);
  });

  it.each([["null"], ["[]"], ['"x"'], ["{"], [""]])("refuses the body %s", async (text) => {
    const headers = { "Content-Type": "application/json" };
    const { status, body } = await visit("POST", "/login/oauth/register", { headers, body: text });
    expect({ status, error: body.error }).toEqual({
      status: 400,
      error: "invalid_client_metadata",
    });
    const form = await visit("POST", "/login/oauth/register", {
      body: new URLSearchParams({ redirect_uris: CALLBACK }),
    });
    expect(form).toMatchObject({ status: 400, body: { error: "invalid_client_metadata" } });
  });

  // SECURITY: the name stands on the page that asks for consent, between the service's own words.
  it("takes what nobody sees, or what turns the text around, out of a name", async () => {
    const name = "Forge\u202E\u0000\n tool\u200B";
    const { body } = await register({ ...PUBLIC, client_name: `  ${name}${"x".repeat(100)}` });
    expect(body.client_name).toMatch(/^Forge tool x+$/);
    expect(body.client_name).toHaveLength(80);
    const nameless = await register({ ...PUBLIC, client_name: "\u200B" });
    expect(nameless.body.client_name).toBe("app.example");
  });

  it("takes a limited number of clients from an address", async () => {
    const limited = doorsWith({}, { CLIENT_REGISTRATIONS: new CountingLimiter(1) });
    const from = (address: string) => register(PUBLIC, { "CF-Connecting-IP": address }, limited);
    expect((await from("192.0.2.1")).status).toBe(201);
    const refused = await from("192.0.2.1");
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("60");
    expect((await from("192.0.2.2")).status).toBe(201);
    expect(await registered()).toHaveLength(2);
  });

  it("takes none where that is switched off", async () => {
    const closed = doorsWith({ OAUTH_DYNAMIC_REGISTRATION: "false" });
    const { status, body } = await register(PUBLIC, {}, closed);
    expect({ status, error: body.error }).toEqual({ status: 400, error: "access_denied" });
    const { body: metadata } = await closed("GET", "/.well-known/oauth-authorization-server");
    expect(metadata).not.toHaveProperty("registration_endpoint");
    expect(await registered()).toEqual([]);
  });

  it("answers other methods with 405", async () => {
    expect((await visit("GET", "/login/oauth/register")).status).toBe(405);
  });
});

describe("a client that registered itself", () => {
  let user: TestUser;
  let browser: Browser;
  beforeEach(async () => {
    user = await make.userWithPassword();
    browser = await Browser.signedIn(user);
  });

  const grants = () => db.select().from(oauthGrants).where(eq(oauthGrants.userId, user.id));

  it("gets a token for what its user grants", async () => {
    const client = await registerPublic({ client_name: "Helper" });
    const address = authorizationOf(client, { scope: "read:user", resource: MCP });
    const { body: page } = await browser.get(address);
    for (const text of [
      "Grant access to Helper?",
      "registered itself",
      "nobody has checked",
      "app.example",
      "act in your name",
      "tools for agents",
      "/user/settings/applications",
    ]) {
      expect(page).toContain(text);
    }

    const { code, iss } = readRedirect(await consent(browser, address));

    expect(iss).toBe("https://forge.example");
    const { status, body } = await exchangePublic(client, code, { resource: MCP });
    expect({ status, scope: body.scope }).toEqual({ status: 200, scope: "read:user" });
    const refreshed = await postForm("access_token", {
      grant_type: "refresh_token",
      client_id: client.clientId,
      refresh_token: body.refresh_token,
      resource: MCP,
    });
    expect(refreshed.status).toBe(200);
    expect((await browser.get("/user/settings/applications")).body).toContain("Helper");
  });

  it("proves itself by the secret that it was given, and uses PKCE all the same", async () => {
    const { body: client } = await register({ ...PUBLIC, token_endpoint_auth_method: undefined });
    const named = { clientId: client.client_id };
    const without = { code_challenge: undefined, code_challenge_method: undefined };
    expect((await browser.get(authorizationOf(named, without))).status).toBe(400);
    const { code } = readRedirect(await consent(browser, authorizationOf(named)));
    const fields = {
      grant_type: "authorization_code",
      code: String(code),
      redirect_uri: CALLBACK,
      code_verifier: PKCE.verifier,
    };
    const wrong = await postForm("access_token", fields, basic(client.client_id, "wrong"));
    expect(wrong.status).toBe(400);
    const none = await postForm("access_token", { ...fields, client_id: client.client_id });
    expect(none.status).toBe(400);
    const right = basic(client.client_id, client.client_secret);
    expect((await postForm("access_token", fields, right)).status).toBe(200);
  });

  it("reads what is asked for most, where it asks for nothing", async () => {
    const client = await registerPublic();
    for (const scope of [undefined, " "]) {
      const { code } = readRedirect(await consent(browser, authorizationOf(client, { scope })));
      const { body } = await exchangePublic(client, code);
      expect(body.scope).toBe("read:issue read:repository read:user");
    }
  });

  // SECURITY: anybody can pose as the client.
  it("asks its user each time", async () => {
    const { body: confidential } = await register({
      ...PUBLIC,
      token_endpoint_auth_method: "client_secret_basic",
    });
    for (const client of [await registerPublic(), { clientId: confidential.client_id }]) {
      const address = authorizationOf(client, { scope: "read:user" });
      const { code } = readRedirect(await consent(browser, address));
      await db
        .update(oauthGrants)
        .set({ exchangedAt: 1 })
        .where(eq(oauthGrants.codeHash, await hashSecret(String(code))));
      expect((await browser.get(address)).status).toBe(200);
      const silent = await browser.get(authorizationOf(client, { prompt: "none" }));
      expect(silent.status).toBe(400);
      expect(silent.body).toContain("consent_required");
    }
  });

  // SECURITY: else any address could be hidden behind a link to this service.
  it.each([
    ["another response type", { response_type: "token" }],
    ["an unknown scope", { scope: "mcp:tools" }],
    ["no PKCE", { code_challenge: undefined, code_challenge_method: undefined }],
    ["PKCE by plain text", { code_challenge_method: "plain" }],
    ["a resource of another service", { resource: "https://other.example/mcp" }],
    ["a question that may not be asked", { prompt: "none" }],
  ])("leads nowhere before its user has decided: %s", async (_, fields) => {
    const client = await registerPublic();
    for (const reader of [browser, new Browser()]) {
      const { status, headers, body } = await reader.get(authorizationOf(client, fields));
      const location = headers.get("location");
      expect({ status, location }).toEqual({ status: 400, location: null });
      expect(body).toContain("app.example");
    }
    expect(await grants()).toEqual([]);
  });

  it("hears of a refusal by its user, who has seen where that leads", async () => {
    const client = await registerPublic();
    const answer = await consent(browser, authorizationOf(client), { granted: "false" });
    expect(readRedirect(answer)).toMatchObject({
      to: CALLBACK,
      error: "access_denied",
      iss: "https://forge.example",
    });
    expect(await grants()).toEqual([]);
  });

  it.each([
    "https://app.example/callback/",
    "https://app.example/callback?x=1",
    "https://app.example:8443/callback",
    "https://other.example/callback",
    "http://localhost:1/other",
  ])("leads to no address that it did not register: %s", async (redirect_uri) => {
    const client = await registerPublic({ redirect_uris: [CALLBACK, "http://localhost/cb"] });
    const { status, headers } = await browser.get(authorizationOf(client, { redirect_uri }));
    expect({ status, location: headers.get("location") }).toEqual({ status: 400, location: null });
  });

  it("takes any port of its user's machine, and the page says so", async () => {
    const client = await registerPublic({ redirect_uris: ["http://localhost/cb"] });
    const redirect_uri = "http://localhost:50123/cb";
    const address = authorizationOf(client, { redirect_uri });
    expect((await browser.get(address)).body).toContain("the machine that you are using");
    const { code, to } = readRedirect(await consent(browser, address));
    expect(to).toBe(redirect_uri);
    expect((await exchangePublic(client, code, { redirect_uri })).status).toBe(200);
  });

  // SECURITY: a code that leaked is of no use to another client, and a code is used once.
  it("can't use the code of another client, and no code twice", async () => {
    const [client, other] = [await registerPublic(), await registerPublic()];
    const { code } = readRedirect(await consent(browser, authorizationOf(client)));
    expect((await exchangePublic(other, code)).body.error).toBe("invalid_grant");
    const unproven = await exchangePublic(client, code, { code_verifier: "x".repeat(43) });
    expect(unproven.status).toBe(400);
    const { body } = await exchangePublic(client, code);
    expect((await call("GET", "/user", { token: body.access_token })).status).toBe(200);
    expect((await exchangePublic(client, code)).status).toBe(400);
    expect((await call("GET", "/user", { token: body.access_token })).status).toBe(401);
    expect(await grants()).toEqual([]);
  });

  it("is edited and deleted by nobody, and listed for nobody", async () => {
    const { clientId } = await registerPublic();
    const { id } = only(await registered());
    expect((await call("GET", "/user/applications/oauth2", { as: user })).body).toEqual([]);
    const path = `/user/applications/oauth2/${id}`;
    for (const as of [user, await make.admin()]) {
      expect((await call("GET", path, { as })).status).toBe(404);
      expect((await call("DELETE", path, { as })).status).toBe(404);
    }
    const token = { token: "x", client_id: clientId };
    expect((await postForm("introspect", token)).status).toBe(401);
  });
});
