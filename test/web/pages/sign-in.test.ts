import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import { hashSecret } from "../../../src/auth/secret.ts";
import { sessions, users } from "../../../src/db/schema/index.ts";
import { only } from "../../../src/lib/only.ts";
import { Browser, SAME_ORIGIN } from "../../support/browser.ts";
import { basic, call, visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { make, type TestUser } from "../../support/make.ts";
import { doorsWith } from "../../support/service.ts";

const COOKIE = "__Host-edgeforge_session";
const DAY_MS = 24 * 60 * 60 * 1000;

const sessionsOf = (user: TestUser) =>
  db.select().from(sessions).where(eq(sessions.userId, user.id)).orderBy(sessions.id);

/** Whether a browser is signed in, and as whom: the page that leads a signed-in reader on. */
const isSignedIn = async (browser: Browser): Promise<boolean> =>
  (await browser.get("/user/login")).status === 303;

let user: TestUser;
beforeEach(async () => {
  user = await make.userWithPassword();
});

describe("POST /user/login", () => {
  it("starts a session, which is stored by its hash with the browser and its last use", async () => {
    const browser = new Browser();
    const before = Date.now();
    const answer = await browser.signIn(user);

    expect(answer.status).toBe(303);
    expect(answer.headers.get("Location")).toBe("/");
    const secret = browser.cookies.get(COOKIE) ?? "";
    expect(secret).toMatch(/^[0-9a-f]{40}$/);
    const session = only(await sessionsOf(user));
    expect(session).toMatchObject({
      secretHash: await hashSecret(secret),
      userAgent: "Example/1.0",
    });
    expect(session.lastUsedAt).toBeGreaterThanOrEqual(before);
    expect(await isSignedIn(browser)).toBe(true);
    const [row] = await db.select().from(users).where(eq(users.id, user.id));
    expect(row?.lastLoginAt).toBeGreaterThanOrEqual(before);
  });

  it("sets a cookie for this host alone, which scripts can't read", async () => {
    const answer = await new Browser().signIn(user);
    const line = answer.headers.getSetCookie().find((each) => each.startsWith(COOKIE)) ?? "";

    expect(line.split("; ").toSorted()).toEqual([
      "HttpOnly",
      "Max-Age=2592000",
      "Path=/",
      "SameSite=Lax",
      "Secure",
      expect.stringMatching(`^${COOKIE}=`),
    ]);
  });

  it("sets a cookie of another name where the service has no TLS", async () => {
    const browser = await Browser.signedIn(user, doorsWith({ ROOT_URL: "http://127.0.0.1:8787" }));

    expect([...browser.cookies.keys()]).toContain("edgeforge_session");
    expect(await isSignedIn(browser)).toBe(true);
  });

  it("accepts a confirmed e-mail address in place of the name", async () => {
    const browser = new Browser();
    const answer = await browser.signIn({
      name: user.email.toUpperCase(),
      password: user.password,
    });

    expect(answer.status).toBe(303);
  });

  // SECURITY: who knew the browser's cookies before must not share the session.
  it("gives the session a new secret, and ends the one that the browser had", async () => {
    const browser = await Browser.signedIn(user);
    const first = browser.cookies.get(COOKIE);
    const token = await formTokenOf(browser);
    await browser.post("/user/login", {
      _csrf: token,
      user_name: user.name,
      password: user.password,
    });

    expect(browser.cookies.get(COOKIE)).not.toBe(first);
    expect(await sessionsOf(user)).toHaveLength(1);
  });

  it.each([
    ["a wrong password", (name: string) => ({ name, password: "wrong" })],
    ["a name that no account has", (name: string) => ({ name: `${name}x`, password: "wrong" })],
    ["no password", (name: string) => ({ name, password: "" })],
  ])("refuses %s with the same page, and starts nothing", async (_, claim) => {
    const { name, password } = claim(user.name);
    const browser = new Browser();
    const answer = await browser.signIn({ name, password });

    expect(answer.status).toBe(401);
    const text = String(answer.body)
      .replaceAll(name, "NAME")
      .replaceAll(/value="[0-9a-f]{64}"/g, "");
    expect(text).toContain("The user name or the password is not right.");
    const other = await new Browser().signIn({ name: "nobody-at-all", password: "x" });
    expect(
      String(other.body)
        .replaceAll("nobody-at-all", "NAME")
        .replaceAll(/value="[0-9a-f]{64}"/g, ""),
    ).toBe(text);
    expect(browser.cookies.has(COOKIE)).toBe(false);
    expect(await sessionsOf(user)).toEqual([]);
  });

  it.each([{ isActive: false }, { isLoginProhibited: true }])(
    "refuses a disabled account: %o",
    async (fields) => {
      const disabled = await make.userWithPassword(fields);
      const answer = await new Browser().signIn(disabled);

      expect(answer.status).toBe(403);
      expect(answer.body).toContain("prohibited from signing in");
      expect(await sessionsOf(disabled)).toEqual([]);
    },
  );

  it("refuses a token in place of the password", async () => {
    const answer = await new Browser().signIn({ name: user.name, password: user.token });

    expect(answer.status).toBe(401);
    expect(await sessionsOf(user)).toEqual([]);
  });

  it("limits wrong passwords of a name, and says when to try again", async () => {
    const browser = new Browser();
    const token = await formTokenOf(browser);
    const attempt = () =>
      browser.post("/user/login", { _csrf: token, user_name: user.name, password: "wrong" });
    for (let tries = 0; tries < 10; tries++) expect((await attempt()).status).toBe(401);

    const answer = await attempt();
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get("Retry-After"))).toBeGreaterThan(0);
  });

  it("leads to the page from which the reader came", async () => {
    const browser = new Browser();
    const answer = await browser.submit(
      "/user/login?redirect_to=%2Fuser%2Fsettings%3Fa%3Db%26c",
      { user_name: user.name, password: user.password },
      "/user/login",
    );

    expect(answer.headers.get("Location")).toBe("/user/settings?a=b&c");
  });

  it.each([
    "//evil.example",
    "/\\evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "https:evil.example",
    "https://evil.example",
    "\\\\evil.example",
    "javascript:alert(1)",
    "/..//evil.example",
    "/.//evil.example",
    " //evil.example",
  ])("leads nowhere else: %j", async (to) => {
    const browser = new Browser();
    const answer = await browser.submit(
      `/user/login?redirect_to=${encodeURIComponent(to)}`,
      { user_name: user.name, password: user.password },
      "/user/login",
    );

    expect(answer.headers.get("Location")).toBe("/");
    const again = await browser.get(`/user/login?redirect_to=${encodeURIComponent(to)}`);
    expect(again.headers.get("Location")).toBe("/");
  });
});

describe("a form", () => {
  it.each<[string, Record<string, string>]>([
    ["of another site", { "Sec-Fetch-Site": "cross-site", Origin: "https://evil.example" }],
    ["of a neighbouring host", { "Sec-Fetch-Site": "same-site", Origin: "https://a.example" }],
    ["of another origin, in an older browser", { Origin: "https://evil.example" }],
    ["of an origin that is hidden", { Origin: "null" }],
    ["whose origin contradicts itself", { ...SAME_ORIGIN, Origin: "https://evil.example" }],
    ["of which no origin is known", {}],
  ])("%s is refused, even with the right token", async (_, headers) => {
    const browser = new Browser();
    const token = await formTokenOf(browser);
    const fields = { _csrf: token, user_name: user.name, password: user.password };
    const answer = await browser.post("/user/login", fields, headers);

    expect(answer.status).toBe(403);
    expect(await sessionsOf(user)).toEqual([]);
  });

  it.each([
    ["without a token", () => ""],
    ["with a token of another browser", () => formTokenOf(new Browser())],
  ])("%s is refused", async (_, token) => {
    const browser = new Browser();
    await browser.get("/user/login");
    const fields = { _csrf: await token(), user_name: user.name, password: user.password };
    const answer = await browser.post("/user/login", fields);

    expect(answer.status).toBe(403);
    expect(await sessionsOf(user)).toEqual([]);
  });

  it("with a field twice is refused", async () => {
    const browser = new Browser();
    const token = await formTokenOf(browser);
    const body = new URLSearchParams({
      _csrf: token,
      user_name: user.name,
      password: user.password,
    });
    body.append("user_name", "somebody");
    const answer = await visit("POST", "/user/login", {
      headers: {
        ...SAME_ORIGIN,
        "Content-Type": "application/x-www-form-urlencoded",
        Cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; "),
      },
      body: body.toString(),
    });

    expect(answer.status).toBe(400);
    expect(await sessionsOf(user)).toEqual([]);
  });

  it.each([
    ["JSON", "application/json", 400],
    ["plain text", "text/plain", 400],
  ])("as %s is refused", async (_, type, status) => {
    const answer = await visit("POST", "/user/login", {
      headers: { ...SAME_ORIGIN, "Content-Type": type },
      body: "{}",
    });

    expect(answer.status).toBe(status);
  });

  it("that is too large is refused", async () => {
    const browser = new Browser();
    const answer = await browser.submit("/user/login", { user_name: "x".repeat(200_000) });

    expect(answer.status).toBe(413);
  });
});

describe("POST /user/logout", () => {
  it("ends the session, for whoever else has its cookie too", async () => {
    const browser = await Browser.signedIn(user);
    const copy = new Browser();
    for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
    expect(await isSignedIn(copy)).toBe(true);

    const answer = await browser.post("/user/logout", { _csrf: await formTokenOf(browser) });

    expect(answer.status).toBe(303);
    expect(browser.cookies.has(COOKIE)).toBe(false);
    expect(await sessionsOf(user)).toEqual([]);
    expect(await isSignedIn(copy)).toBe(false);
  });

  it("is no link: a request without a form changes nothing", async () => {
    const browser = await Browser.signedIn(user);
    await browser.get("/user/logout");

    expect(await isSignedIn(browser)).toBe(true);
  });
});

describe("a session", () => {
  it.each([
    ["has lasted for 30 days", { expiresAt: Date.now() - 1 }],
    ["was not used for 14 days", { lastUsedAt: Date.now() - 14 * DAY_MS - 1 }],
  ])("ends when it %s", async (_, fields) => {
    const browser = await Browser.signedIn(user);
    expect(await isSignedIn(browser)).toBe(true);
    await db.update(sessions).set(fields).where(eq(sessions.userId, user.id));

    expect(await isSignedIn(browser)).toBe(false);
  });

  it.each([{ isActive: false }, { isLoginProhibited: true }, { mustChangePassword: true }])(
    "counts no longer once its account is %o",
    async (fields) => {
      const browser = await Browser.signedIn(user);
      await db.update(users).set(fields).where(eq(users.id, user.id));

      expect(await isSignedIn(browser)).toBe(false);
    },
  );

  it("is written at most every five minutes", async () => {
    const browser = await Browser.signedIn(user);
    const used = async () => only(await sessionsOf(user)).lastUsedAt;
    const recent = Date.now() - 4 * 60_000;
    await db.update(sessions).set({ lastUsedAt: recent }).where(eq(sessions.userId, user.id));
    await browser.get("/user/login");
    expect(await used()).toBe(recent);

    await db
      .update(sessions)
      .set({ lastUsedAt: Date.now() - 6 * 60_000 })
      .where(eq(sessions.userId, user.id));
    await browser.get("/user/login");
    await expect.poll(used).toBeGreaterThan(recent);
  });

  it("opens an archive and a feed of a private repository to its owner alone", async () => {
    const repo = await make.repo(user, { isPrivate: true });
    const path = `/${user.name}/${repo.name}.rss`;
    const browser = await Browser.signedIn(user);
    const stranger = await Browser.signedIn(await make.userWithPassword());

    expect((await browser.get(path)).status).toBe(200);
    expect((await stranger.get(path)).status).toBe(404);
    expect((await new Browser().get(path)).status).toBe(404);
  });

  // SECURITY: requests of other origins could use it there, and API writes have no form token.
  it("is no credential of the API, of git and of Git LFS", async () => {
    const repo = await make.repo(user, { isPrivate: true });
    const browser = await Browser.signedIn(user);

    expect((await browser.get("/api/v1/user")).status).toBe(401);
    expect((await browser.get(`/api/v1/repos/${user.name}/${repo.name}`)).status).toBe(404);
    const git = `/${user.name}/${repo.name}.git/info/refs?service=git-upload-pack`;
    expect((await browser.get(git)).status).toBe(401);
    expect((await call("GET", "/user", { as: user })).status).toBe(200);
  });
});

describe("a page", () => {
  it("loads nothing from elsewhere, runs no inline script, and is not framed or kept", async () => {
    const { headers, body } = await visit("GET", "/user/login");
    const policy = headers.get("Content-Security-Policy") ?? "";

    expect(policy.split("; ").toSorted()).toEqual([
      "base-uri 'none'",
      "default-src 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
      "img-src 'self'",
      "media-src 'self'",
      "script-src 'self'",
      "style-src 'self'",
    ]);
    expect(headers.get("Cache-Control")).toBe("no-store");
    expect(headers.get("Referrer-Policy")).toBe("same-origin");
    expect(body).toMatch(/^<!doctype html><html lang="en">/);
    expect(body).not.toMatch(/\sstyle=|<style|\son\w+=|<script(?![^>]*\ssrc=)/);
  });

  // SECURITY: names are chosen by their owners.
  it("shows names as text", async () => {
    const page = await new Browser().submit("/user/login", { user_name: '"><b>x', password: "x" });

    expect(page.body).toContain('value="&quot;&gt;&lt;b&gt;x"');
  });

  it("takes neither a token nor a password as a credential", async () => {
    const headers = basic(user.name, user.password);

    expect((await visit("GET", "/user/login", { headers })).status).toBe(200);
    expect((await visit("GET", "/user/login", { as: user })).status).toBe(200);
  });
});

/** The token of the forms of a browser's pages. */
async function formTokenOf(browser: Browser): Promise<string> {
  const path = (await isSignedIn(browser)) ? "/user/settings/security" : "/user/login";
  const { body } = await browser.get(path);
  return /name="_csrf" value="([0-9a-f]{64})"/.exec(String(body))?.[1] ?? "";
}
