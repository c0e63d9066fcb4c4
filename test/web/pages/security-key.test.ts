import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import { sessions, users, webauthnCredentials } from "../../../src/db/schema/index.ts";
import { formatBase64Url } from "../../../src/lib/base64.ts";
import { Browser } from "../../support/browser.ts";
import { db } from "../../support/db.ts";
import { make, type TestUser } from "../../support/make.ts";
import { SoftwareKey } from "../../support/software-key.ts";

const SECURITY = "/user/settings/security";
const PATH = "/user/two_factor";
const START = `${SECURITY}/webauthn/start`;
const ADD = `${SECURITY}/webauthn/add`;

let user: TestUser;
let browser: Browser;
beforeEach(async () => {
  user = await make.userWithPassword();
  browser = await Browser.signedIn(user);
});

const keysOf = (of: TestUser) =>
  db.select().from(webauthnCredentials).where(eq(webauthnCredentials.userId, of.id));

/** What a page asks a key for. */
function optionsOf(body: unknown): { challenge: string } {
  const json = /data-options="([^"]*)"/.exec(String(body))?.[1] ?? "{}";
  return JSON.parse(json.replaceAll("&quot;", '"').replaceAll("&amp;", "&")) as {
    challenge: string;
  };
}

const tokenOf = (body: unknown) =>
  /name="_csrf" value="([0-9a-f]{64})"/.exec(String(body))?.[1] ?? "";

/** Adds a key by the pages. */
async function add(key: SoftwareKey, challenge?: string, origin?: string) {
  const fields = { name: "ring", current_password: user.password };
  const { body } = await browser.submit(SECURITY, fields, START);
  const response = await key.create(challenge ?? optionsOf(body).challenge, origin);
  const sent = { _csrf: tokenOf(body), name: "ring", response: JSON.stringify(response) };
  return { sent, answer: await browser.post(ADD, sent) };
}

/** Sends what a key says to a sign-in under way. */
async function use(
  reader: Browser,
  key: SoftwareKey,
  change: { challenge?: string; origin?: string } = {},
) {
  const { body } = await reader.get(PATH);
  const challenge = change.challenge ?? optionsOf(body).challenge;
  const response = JSON.stringify(await key.get(challenge, change.origin));
  return reader.post(`${PATH}/webauthn`, { _csrf: tokenOf(body), response });
}

describe("adding a security key", () => {
  it("stores its public key, shows recovery codes, and ends all other sessions", async () => {
    const other = await Browser.signedIn(user);
    const key = await SoftwareKey.make();
    const { answer } = await add(key);

    expect(answer.status).toBe(200);
    expect([...String(answer.body).matchAll(/<code>[a-z0-9-]{19}<\/code>/g)]).toHaveLength(10);
    expect(await keysOf(user)).toMatchObject([
      { name: "ring", credentialId: formatBase64Url(key.id) },
    ]);
    const [row] = await db.select().from(users).where(eq(users.id, user.id));
    expect(row).toMatchObject({ hasWebauthn: true, hasTotp: false });
    expect((await other.get(SECURITY)).status).toBe(303);
    expect((await browser.get(SECURITY)).body).toContain("ring");
  });

  it.each<[string, string | undefined, string | undefined]>([
    ["another challenge", formatBase64Url(new Uint8Array(32)), undefined],
    ["another origin", undefined, "https://evil.example"],
  ])("refuses an answer for %s", async (_, challenge, origin) => {
    const { answer } = await add(await SoftwareKey.make(), challenge, origin);

    expect(answer).toMatchObject({ status: 422, body: expect.stringContaining("not accepted") });
    expect(await keysOf(user)).toEqual([]);
  });

  it("refuses an answer that was used already, and one that is none", async () => {
    const { sent } = await add(await SoftwareKey.make());
    expect((await browser.post(ADD, sent)).status).toBe(422);
    expect((await browser.post(ADD, { ...sent, response: "{" })).status).toBe(422);
    expect(await keysOf(user)).toHaveLength(1);
  });

  it("needs the password", async () => {
    const fields = { name: "ring", current_password: "wrong" };
    expect((await browser.submit(SECURITY, fields, START)).status).toBe(422);
    const [session] = await db.select().from(sessions).where(eq(sessions.userId, user.id));
    expect(session?.webauthnChallenge).toBeNull();
  });
});

describe("signing in with a security key", () => {
  let key: SoftwareKey;
  let reader: Browser;
  beforeEach(async () => {
    key = await SoftwareKey.make();
    await add(key);
    reader = new Browser();
    await reader.signIn(user);
  });

  it("starts a session", async () => {
    expect((await reader.get(SECURITY)).status).toBe(303);
    const answer = await use(reader, key);

    expect(answer.status).toBe(303);
    expect((await reader.get(SECURITY)).status).toBe(200);
    expect(await keysOf(user)).toMatchObject([{ counter: 2, lastUsedAt: expect.any(Number) }]);
  });

  it.each([
    ["another challenge", { challenge: formatBase64Url(new Uint8Array(32)) }],
    ["another origin", { origin: "https://evil.example" }],
  ])("refuses an answer for %s", async (_, change) => {
    expect((await use(reader, key, change)).status).toBe(422);
    expect((await reader.get(SECURITY)).status).toBe(303);
  });

  it("refuses a key of somebody else, and a copy that counts from the start", async () => {
    const stranger = await SoftwareKey.make();
    expect((await use(reader, stranger)).status).toBe(422);
    expect((await use(reader, key)).status).toBe(303);
    const other = new Browser();
    await other.signIn(user);
    key.counter = 0;

    expect((await use(other, key)).status).toBe(422);
  });

  it("needs none any more once the key is removed, which needs the password and its owner", async () => {
    const [row] = await keysOf(user);
    const remove = `${SECURITY}/webauthn/remove`;
    const strangers = await Browser.signedIn(await make.userWithPassword());
    const { body } = await strangers.get(SECURITY);
    const fields = { id: String(row?.id), current_password: user.password };
    const foreign = await strangers.post(remove, { _csrf: tokenOf(body), ...fields });
    expect(foreign.status).toBe(404);
    const wrong = { current_password: "wrong" };
    expect((await browser.submit(SECURITY, wrong, remove)).status).toBe(422);
    expect(await keysOf(user)).toHaveLength(1);

    await browser.submit(SECURITY, { current_password: user.password }, remove);
    expect(await keysOf(user)).toEqual([]);
    expect((await new Browser().signIn(user)).headers.get("Location")).toBe("/");
  });
});
