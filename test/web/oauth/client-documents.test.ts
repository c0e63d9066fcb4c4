import { eq } from "drizzle-orm";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { oauthApplications } from "../../../src/db/schema/index.ts";
import { Browser } from "../../support/browser.ts";
import { call, visit } from "../../support/call.ts";
import { CountingLimiter } from "../../support/counting-limiter.ts";
import { db } from "../../support/db.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import {
  authorizationOf,
  CALLBACK,
  consent,
  exchangePublic,
  postForm,
  readRedirect,
} from "../../support/oauth.ts";
import { doorsWith } from "../../support/service.ts";

/** What the hosts of documents answer by their URL, and how often they were asked. */
const documents = new Map<string, () => Response | Promise<Response>>();
const asked: string[] = [];

let user: TestUser;
let browser: Browser;
beforeEach(async () => {
  documents.clear();
  asked.length = 0;
  const real = globalThis.fetch;
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    const answer = documents.get(url);
    if (!answer) return real(input, init);
    asked.push(url);
    return answer();
  });
  user = await make.userWithPassword();
  browser = await Browser.signedIn(user);
});
afterEach(() => vi.restoreAllMocks());

const json = (value: unknown, headers: Record<string, string> = {}, status = 200) =>
  new Response(typeof value === "string" ? value : JSON.stringify(value), {
    status,
    headers: { "Content-Type": "application/json", ...headers },
  });

const describing = (url: string, fields: object = {}) => ({
  client_id: url,
  client_name: "Documented",
  redirect_uris: [CALLBACK],
  token_endpoint_auth_method: "none",
  grant_types: ["authorization_code", "refresh_token"],
  logo_uri: "https://tracker.example/logo.png",
  ...fields,
});

/** A URL at which a document is served. */
function serve(fields: object = {}, headers: Record<string, string> = {}): string {
  const url = `https://agent.example/${freshName("client")}.json`;
  documents.set(url, () => json(describing(url, fields), headers));
  return url;
}

const rowOf = async (clientId: string) =>
  (await db.select().from(oauthApplications).where(eq(oauthApplications.clientId, clientId)))[0];

const ask = (clientId: string, fields: Record<string, string | undefined> = {}) =>
  browser.get(authorizationOf({ clientId }, fields));

describe("a client whose id is the URL of a document", () => {
  it("gets a token, and its host stands on the page that asks", async () => {
    const clientId = serve();
    const { status, headers, body } = await ask(clientId, { scope: "read:user" });
    expect(status).toBe(200);
    for (const text of ["Documented", "agent.example", clientId, "app.example"]) {
      expect(body).toContain(text);
    }
    // SECURITY: a logo would tell its host who opens the page, and could pose as another's.
    expect(body).not.toContain("tracker.example");
    expect(headers.get("content-security-policy")).toContain("img-src 'self';");
    expect(await rowOf(clientId)).toMatchObject({
      registration: "document",
      ownerId: null,
      isConfidential: false,
      secretHash: null,
    });

    const answer = await consent(browser, authorizationOf({ clientId }, { scope: "read:user" }));
    const { body: tokens } = await exchangePublic({ clientId }, readRedirect(answer)["code"]);
    expect((await call("GET", "/user", { token: tokens.access_token })).status).toBe(200);
    const refreshed = await postForm("access_token", {
      grant_type: "refresh_token",
      client_id: clientId,
      refresh_token: tokens.refresh_token,
    });
    expect(refreshed.status).toBe(200);
    // The page, its form and the tokens needed the document once.
    expect(asked).toEqual([clientId]);
  });

  // SECURITY: else anybody could have this service send requests.
  it("is read for people alone who are signed in", async () => {
    const clientId = serve();
    for (const prompt of [undefined, "none"]) {
      const { status, headers } = await visit("GET", authorizationOf({ clientId }, { prompt }));
      expect(status).toBe(303);
      expect(headers.get("location")).toMatch(/^\/user\/login\?/);
    }
    expect((await exchangePublic({ clientId }, "gta_x")).body.error).toBe("invalid_client");
    expect(asked).toEqual([]);
  });

  it("is counted by account", async () => {
    const limited = doorsWith({}, { CLIENT_DOCUMENTS: new CountingLimiter(1) });
    const own = await Browser.signedIn(user, limited);
    const [first, second] = [serve(), serve()];
    const visits = [first, first, second];
    const statuses = [];
    for (const clientId of visits) {
      statuses.push((await own.get(authorizationOf({ clientId }))).status);
    }
    expect(statuses).toEqual([200, 200, 429]);
    expect(asked).toEqual([first]);
  });

  it("is not read where that is switched off, not even from a copy", async () => {
    const clientId = serve();
    expect((await ask(clientId)).status).toBe(200);
    const closed = doorsWith({ OAUTH_CLIENT_DOCUMENTS: "false" });
    const own = await Browser.signedIn(user, closed);
    expect((await own.get(authorizationOf({ clientId }))).status).toBe(400);
    const { body } = await closed("GET", "/.well-known/oauth-authorization-server");
    expect(body.client_id_metadata_document_supported).toBe(false);
  });

  it.each([
    ["another id", { client_id: "https://other.example/client.json" }],
    ["no id", { client_id: undefined }],
    ["no address", { redirect_uris: [] }],
    ["an address over http", { redirect_uris: ["http://app.example/cb"] }],
    ["a script", { redirect_uris: ["javascript:alert(1)"] }],
    ["a secret", { client_secret: "x" }],
    ["a secret to come", { token_endpoint_auth_method: "client_secret_basic" }],
    ["a key", { token_endpoint_auth_method: "private_key_jwt" }],
    ["a name that is no text", { client_name: ["x"] }],
    ["another grant", { grant_types: ["client_credentials"] }],
  ])("is refused with a document that states %s", async (_, fields) => {
    const clientId = serve(fields);
    const { status, headers } = await ask(clientId);
    expect({ status, location: headers.get("location") }).toEqual({ status: 400, location: null });
    expect(await rowOf(clientId)).toBeUndefined();
  });

  const OTHER = "https://agent.example/other.json";
  it.each<[string, (url: string) => Response | Promise<Response>]>([
    ["leads elsewhere", () => new Response(null, { status: 302, headers: { Location: OTHER } })],
    ["is not there", (url) => json(describing(url), {}, 404)],
    ["is created", (url) => json(describing(url), {}, 201)],
    ["is a page", (url) => json(describing(url), { "Content-Type": "text/html" })],
    ["has no type", (url) => json(describing(url), { "Content-Type": "" })],
    ["is no JSON", () => json("{")],
    ["is no object", () => json("null")],
    ["is no text", () => new Response(new Uint8Array([0xff]), { headers: JSON_TYPE })],
    ["is nested deeply", () => json(`${"[".repeat(5000)}${"]".repeat(5000)}`)],
    ["is huge", (url) => json(describing(url, { extra: "x".repeat(20_000) }))],
    ["breaks off", () => Promise.reject(new TypeError("no connection"))],
  ])("is refused if the document %s", async (_, answer) => {
    const clientId = `https://agent.example/${freshName("client")}.json`;
    documents.set(clientId, () => answer(clientId));
    documents.set(OTHER, () => json(describing(clientId)));
    const { status, body } = await ask(clientId);
    expect(status).toBe(400);
    expect(body).toContain("does not describe the application");
    expect(asked).toEqual([clientId]);
    expect(await rowOf(clientId)).toBeUndefined();
  });
  const JSON_TYPE = { "Content-Type": "application/json" };

  it("is refused if the document takes too long", async () => {
    const clientId = `https://agent.example/${freshName("client")}.json`;
    documents.set(clientId, () => new Promise(() => {}));
    const started = Date.now();
    expect((await ask(clientId)).status).toBe(400);
    expect(Date.now() - started).toBeLessThan(10_000);
  }, 15_000);

  it.each([
    "https://10.0.0.1/client.json",
    "https://169.254.169.254/latest/meta-data",
    "https://[fd00::1]/client.json",
    "https://192.168.0.1:8443/client.json",
    "https://intranet/client.json",
    "https://router.local/client.json",
    "https://forge.example/client.json",
    "https://forge.example/api/v1/version",
  ])("is refused at an address that the service does not request: %s", async (clientId) => {
    documents.set(clientId, () => json(describing(clientId)));
    expect((await ask(clientId)).status).toBe(400);
    expect(asked).toEqual([]);
  });

  it.each([
    "https://agent.example",
    "https://agent.example/",
    "https://agent.example/a/../client.json",
    "https://agent.example/./client.json",
    "https://AGENT.example/client.json",
    "https://agent.example:443/client.json",
    "https://agent.example/client.json#x",
    "https://agent.example/client.json#",
    "https://user@agent.example/client.json",
    "https://user:pass@agent.example/client.json",
    "https://agent.example\\client.json",
    "https:agent.example/client.json",
    "https://agent.example/client .json",
    `https://agent.example/${"x".repeat(500)}`,
    "http://agent.example/client.json",
  ])("is no URL of a document: %s", async (clientId) => {
    documents.set(clientId, () => json(describing(clientId)));
    documents.set(URL.parse(clientId)?.href ?? "", () => json(describing(clientId)));
    expect((await ask(clientId)).status).toBe(400);
    expect(asked).toEqual([]);
  });

  it("is read again once its copy is old, and what it gave up leads nowhere", async () => {
    const clientId = serve();
    const address = authorizationOf({ clientId });
    const { code } = readRedirect(await consent(browser, address));
    const other = "https://app.example/moved";
    documents.set(clientId, () =>
      json(describing(clientId, { redirect_uris: [other], client_name: "Renamed" })),
    );
    // The copy is in force.
    expect((await browser.get(address)).body).toContain("Documented");
    await db
      .update(oauthApplications)
      .set({ freshUntil: Date.now() })
      .where(eq(oauthApplications.clientId, clientId));

    const { status, headers } = await browser.get(address);
    expect({ status, location: headers.get("location") }).toEqual({ status: 400, location: null });
    const moved = await ask(clientId, { redirect_uri: other });
    expect(moved.body).toContain("Renamed");
    // SECURITY: the address that the code was sent to may have another owner now.
    expect((await exchangePublic({ clientId }, code)).status).toBe(400);
    expect(asked).toEqual([clientId, clientId]);
  });

  it("is refused once its document is gone and the copy old", async () => {
    const clientId = serve();
    expect((await ask(clientId)).status).toBe(200);
    documents.set(clientId, () => json({}, {}, 404));
    await db
      .update(oauthApplications)
      .set({ freshUntil: Date.now() })
      .where(eq(oauthApplications.clientId, clientId));
    expect((await ask(clientId)).status).toBe(400);
    expect(await rowOf(clientId)).toMatchObject({ name: "Documented" });
  });

  const MINUTE = 60_000;
  it.each([
    ["", 5 * MINUTE],
    ["no-store", 5 * MINUTE],
    ["max-age=0", 5 * MINUTE],
    ["public, max-age=3600", 60 * MINUTE],
    ["no-cache, max-age=3600", 5 * MINUTE],
    ["max-age=999999999", 24 * 60 * MINUTE],
    ["max-age=-1", 5 * MINUTE],
  ])("is copied for as long as its host says, within bounds: %s", async (header, ms) => {
    const clientId = serve({}, header === "" ? {} : { "Cache-Control": header });
    const before = Date.now();
    expect((await ask(clientId)).status).toBe(200);
    const { freshUntil } = (await rowOf(clientId)) ?? {};
    expect((freshUntil ?? 0) - before).toBeGreaterThanOrEqual(ms);
    expect((freshUntil ?? 0) - before).toBeLessThan(ms + MINUTE);
  });

  // SECURITY: a name of a document can't take the place of a client that a person registered.
  it("changes no client that a person or the client itself registered", async () => {
    const clientId = serve({ client_name: "Taken over" });
    await db.insert(oauthApplications).values({
      clientId,
      name: "Registered",
      isConfidential: false,
      redirectUris: ["https://other.example/cb"],
      createdAt: 1000,
    });
    expect((await ask(clientId)).status).toBe(400);
    expect(await rowOf(clientId)).toMatchObject({ name: "Registered", registration: "manual" });
  });

  it("may lead to any port of its user's machine by the name that it states", async () => {
    const clientId = serve({ redirect_uris: ["http://127.0.0.1/cb", "http://localhost/cb"] });
    for (const redirect_uri of ["http://127.0.0.1:50001/cb", "http://localhost:50002/cb"]) {
      const answer = await consent(browser, authorizationOf({ clientId }, { redirect_uri }));
      expect(readRedirect(answer).to).toBe(redirect_uri);
    }
    const other = await ask(clientId, { redirect_uri: "http://[::1]:50003/cb" });
    expect(other.status).toBe(400);
  });
});
