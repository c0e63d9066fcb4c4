import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import {
  pendingSignIns,
  recoveryCodes,
  sessions,
  totpSecrets,
  users,
} from "../../../src/db/schema/index.ts";
import { type Authenticator, enrol, enrolled } from "../../support/authenticator.ts";
import { Browser } from "../../support/browser.ts";
import { basic, visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { make, type TestUser } from "../../support/make.ts";
import { visitSealing } from "../../support/sealing.ts";

const SECURITY = "/user/settings/security";
const PATH = "/user/two_factor";

const sessionsOf = (user: TestUser) =>
  db.select().from(sessions).where(eq(sessions.userId, user.id));
const isSignedIn = async (browser: Browser) => (await browser.get(SECURITY)).status === 200;

let user: TestUser;
beforeEach(async () => {
  user = await make.userWithPassword();
});

describe("setting up an authenticator app", () => {
  it("stores the secret sealed, shows recovery codes once, and ends all other sessions", async () => {
    const other = await Browser.signedIn(user, visitSealing);
    const { browser, app } = await enrolled(user);

    expect(new Set(app.recoveryCodes).size).toBe(10);
    const [row] = await db.select().from(totpSecrets).where(eq(totpSecrets.userId, user.id));
    expect(row).toMatchObject({
      isEnabled: true,
      sealedSecret: expect.stringMatching(/^1\.test\./),
    });
    const stored = await db.select().from(recoveryCodes).where(eq(recoveryCodes.userId, user.id));
    expect(stored.map(({ codeHash }) => codeHash)).not.toContain(app.recoveryCodes[0]);
    expect(String((await browser.get(SECURITY)).body)).not.toContain(app.recoveryCodes[0]);
    expect(await isSignedIn(browser)).toBe(true);
    expect(await isSignedIn(other)).toBe(false);
  });

  it("shows the secret as text and as a picture, until a code was entered", async () => {
    const browser = await Browser.signedIn(user, visitSealing);
    const fields = { current_password: user.password };
    await browser.submit(SECURITY, fields, `${SECURITY}/two_factor/start`);
    const page = await browser.get(`${SECURITY}/two_factor/enroll`);

    expect(page.body).toMatch(
      /<svg class="qr" viewBox="0 0 \d+ \d+" role="img" aria-label="[^"]+">/,
    );
    expect(page.headers.get("Cache-Control")).toBe("no-store");
    const [row] = await db.select().from(users).where(eq(users.id, user.id));
    expect(row?.hasTotp).toBe(false);
    expect(await isSignedIn(await Browser.signedIn(user, visitSealing))).toBe(true);
  });

  it("refuses a wrong code, and enables nothing", async () => {
    const browser = await Browser.signedIn(user, visitSealing);
    const fields = { current_password: user.password };
    await browser.submit(SECURITY, fields, `${SECURITY}/two_factor/start`);
    const answer = await browser.submit(`${SECURITY}/two_factor/enroll`, { passcode: "000000" });

    expect(answer.status).toBe(422);
    expect(answer.body).toContain("The code is not right.");
    const [row] = await db.select().from(totpSecrets).where(eq(totpSecrets.userId, user.id));
    expect(row?.isEnabled).toBe(false);
  });

  it.each(["start", "disable"])("needs the password: %s", async (step) => {
    const browser = await Browser.signedIn(user, visitSealing);
    if (step === "disable") await enrol(browser, user);
    const before = await db.select().from(totpSecrets).where(eq(totpSecrets.userId, user.id));
    const form = `${SECURITY}/two_factor/${step}`;
    const answer = await browser.submit(SECURITY, { current_password: "wrong" }, form);

    expect(answer.status).toBe(422);
    expect(answer.body).toContain("Your password is not right.");
    expect(await db.select().from(totpSecrets).where(eq(totpSecrets.userId, user.id))).toEqual(
      before,
    );
  });

  it("is refused where the service has no key to seal the secret", async () => {
    const browser = await Browser.signedIn(user);
    const form = `${SECURITY}/two_factor/start`;
    const answer = await browser.submit(SECURITY, { current_password: user.password }, form);

    expect(answer.status).toBe(403);
    expect(await db.select().from(totpSecrets).where(eq(totpSecrets.userId, user.id))).toEqual([]);
  });
});

describe("signing in with a second factor", () => {
  let app: Authenticator;
  let browser: Browser;
  beforeEach(async () => {
    ({ app } = await enrolled(user));
    await db.delete(sessions).where(eq(sessions.userId, user.id));
    browser = new Browser(visitSealing);
  });

  it("starts no session by the password, and one by the code", async () => {
    const fields = { user_name: user.name, password: user.password };
    const path = "/user/login?redirect_to=%2Fuser%2Fsettings";
    const first = await browser.submit(path, fields, "/user/login");
    expect(first.headers.get("Location")).toBe(`${PATH}?redirect_to=%2Fuser%2Fsettings`);
    expect(await sessionsOf(user)).toEqual([]);
    expect(await isSignedIn(browser)).toBe(false);

    const there = first.headers.get("Location") ?? "";
    const code = app.code();
    const second = await browser.submit(
      there,
      { passcode: `${code.slice(0, 3)} ${code.slice(3)}` },
      PATH,
    );
    expect(second.headers.get("Location")).toBe("/user/settings");
    expect(await isSignedIn(browser)).toBe(true);
    expect(browser.cookies.has("__Host-edgeforge_pending")).toBe(false);
  });

  it("accepts a code once, also of two requests at once", async () => {
    const code = app.code();
    const browsers = [browser, new Browser(visitSealing), new Browser(visitSealing)];
    for (const each of browsers) await each.signIn(user);
    const answers = await Promise.all(
      browsers.map((each) => each.submit(PATH, { passcode: code })),
    );

    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([303, 401, 401]);
    expect(await sessionsOf(user)).toHaveLength(1);
  });

  it("accepts no code of an earlier step than one that was used", async () => {
    await browser.signIn(user);
    expect((await browser.submit(PATH, { passcode: app.code() })).status).toBe(303);
    const other = new Browser(visitSealing);
    await other.signIn(user);

    expect((await other.submit(PATH, { passcode: app.code(-2) })).status).toBe(401);
  });

  it("accepts each recovery code once, in any spelling, and only its owner's", async () => {
    const code = app.recoveryCodes[3] ?? "";
    const stranger = await make.userWithPassword();
    const { app: strangers } = await enrolled(stranger);
    await browser.signIn(user);
    const foreign = await browser.submit(PATH, { passcode: strangers.recoveryCodes[0] ?? "" });
    expect(foreign.status).toBe(401);
    const right = await browser.submit(PATH, { passcode: ` ${code.toUpperCase()}` });
    expect(right.status).toBe(303);
    expect(await isSignedIn(browser)).toBe(true);

    const other = new Browser(visitSealing);
    await other.signIn(user);
    expect((await other.submit(PATH, { passcode: code })).status).toBe(401);
    expect(
      await db.select().from(recoveryCodes).where(eq(recoveryCodes.userId, stranger.id)),
    ).toHaveLength(10);
  });

  it("limits wrong codes of an account, in whatever browser, and says when to try again", async () => {
    await browser.signIn(user);
    for (let tries = 0; tries < 10; tries++) {
      expect((await browser.submit(PATH, { passcode: "000000" })).status).toBe(401);
    }
    const over = await browser.submit(PATH, { passcode: "000000" });
    expect(over.status).toBe(429);
    expect(Number(over.headers.get("Retry-After"))).toBeGreaterThan(0);

    const other = new Browser(visitSealing);
    await other.signIn(user);
    expect((await other.submit(PATH, { passcode: app.code() })).status).toBe(429);
    expect(await sessionsOf(user)).toEqual([]);
  });

  it("ends after ten minutes", async () => {
    await browser.signIn(user);
    await db
      .update(pendingSignIns)
      .set({ expiresAt: Date.now() - 1 })
      .where(eq(pendingSignIns.userId, user.id));

    expect((await browser.get(PATH)).headers.get("Location")).toBe("/user/login");
  });

  // SECURITY: a password alone must not replace itself.
  it("does not lead past the code to a due change of the password", async () => {
    await db.update(users).set({ mustChangePassword: true }).where(eq(users.id, user.id));
    await browser.signIn(user);
    expect((await browser.get("/user/change_password")).headers.get("Location")).toBe(
      "/user/login",
    );

    const answer = await browser.submit(PATH, { passcode: app.code() });
    expect(answer.headers.get("Location")).toBe("/user/change_password");
    expect(await sessionsOf(user)).toEqual([]);
  });

  it("needs no code any more once the app is removed", async () => {
    await browser.signIn(user);
    await browser.submit(PATH, { passcode: app.code() });
    const fields = { current_password: user.password };
    await browser.submit(SECURITY, fields, `${SECURITY}/two_factor/disable`);

    expect(await isSignedIn(await Browser.signedIn(user, visitSealing))).toBe(true);
  });
});

describe("new recovery codes", () => {
  it("replace the former ones", async () => {
    const { browser, app } = await enrolled(user);
    const form = `${SECURITY}/recovery_codes`;
    const answer = await browser.submit(SECURITY, { current_password: user.password }, form);

    expect(answer.status).toBe(200);
    expect(answer.body).toMatch(/<code>[a-z0-9-]{19}<\/code>/);
    const other = new Browser(visitSealing);
    await other.signIn(user);
    expect((await other.submit(PATH, { passcode: app.recoveryCodes[0] ?? "" })).status).toBe(401);
  });
});

describe("a password as a credential of clients", () => {
  const NONE = "invalid provided OTP";
  const call = (headers: Record<string, string>) =>
    visitSealing("GET", "/api/v1/user", { headers });
  let app: Authenticator;
  let password: Record<string, string>;
  beforeEach(async () => {
    ({ app } = await enrolled(user));
    password = basic(user.name, user.password);
  });

  it("is refused alone, at every door", async () => {
    const repo = await make.repo(user, { isPrivate: true });
    const git = `/${user.name}/${repo.name}.git/info/refs?service=git-upload-pack`;
    const rss = `/${user.name}/${repo.name}.rss`;

    expect(await call(password)).toMatchObject({ status: 401, body: { message: NONE } });
    expect((await visitSealing("GET", git, { headers: password })).status).toBe(401);
    expect((await visitSealing("GET", rss, { headers: password })).status).toBe(401);
    expect((await visitSealing("GET", git, { headers: basic(user.name, user.token) })).status).toBe(
      200,
    );
    expect((await visit("GET", "/api/v1/user", { as: user })).status).toBe(200);
  });

  it("is accepted with a code, once", async () => {
    const headers = { ...password, "X-Gitea-OTP": app.code() };

    expect((await call(headers)).status).toBe(200);
    expect(await call(headers)).toMatchObject({ status: 401, body: { message: NONE } });
  });

  it.each([
    ["a wrong code", () => "000000"],
    ["a recovery code", () => app.recoveryCodes[0] ?? ""],
    ["an empty code", () => ""],
  ])("is refused with %s", async (_, code) => {
    const answer = await call({ ...password, "X-Gitea-OTP": code() });

    expect(answer).toMatchObject({ status: 401, body: { message: NONE } });
  });

  it("says nothing of a second factor where it is wrong", async () => {
    const headers = { ...basic(user.name, "wrong"), "X-Gitea-OTP": app.code() };
    const answer = await call(headers);

    expect(answer).toMatchObject({
      status: 401,
      body: { message: expect.stringContaining("not right") },
    });
    // The code was not used.
    expect((await call({ ...headers, ...password })).status).toBe(200);
  });

  it("is limited with wrong codes", async () => {
    const headers = { ...password, "X-Gitea-OTP": "000000" };
    for (let tries = 0; tries < 10; tries++) expect((await call(headers)).status).toBe(401);

    expect((await call(headers)).status).toBe(429);
    expect((await call({ ...password, "X-Gitea-OTP": app.code() })).status).toBe(429);
    expect((await visitSealing("GET", "/api/v1/user", { as: user })).status).toBe(200);
  });

  it("is refused with any code where a WebAuthn key is enrolled", async () => {
    await db.update(users).set({ hasWebauthn: true }).where(eq(users.id, user.id));
    const answer = await call({ ...password, "X-Gitea-OTP": app.code() });

    expect(answer).toMatchObject({
      status: 401,
      body: { message: "basic authorization is not allowed while WebAuthn enrolled" },
    });
  });
});
