import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import { sessions } from "../../../src/db/schema/index.ts";
import { only } from "../../../src/lib/only.ts";
import { Browser } from "../../support/browser.ts";
import { db } from "../../support/db.ts";
import { make, type TestUser } from "../../support/make.ts";

const PATH = "/user/settings/security";

const sessionsOf = (user: TestUser) =>
  db.select().from(sessions).where(eq(sessions.userId, user.id)).orderBy(sessions.id);

let user: TestUser;
let browser: Browser;
beforeEach(async () => {
  user = await make.userWithPassword();
  browser = await Browser.signedIn(user);
});

describe(`GET ${PATH}`, () => {
  it("lists the reader's sessions, and nobody else's", async () => {
    const other = new Browser(undefined, { "User-Agent": "Other/2.0 <b>" });
    await other.signIn(user);
    const stranger = new Browser(undefined, { "User-Agent": "Stranger/3.0" });
    await stranger.signIn(await make.userWithPassword());

    const { status, body } = await browser.get(PATH);
    expect(status).toBe(200);
    expect(body).toContain("Example/1.0");
    expect(body).toContain("Other/2.0 &lt;b&gt;");
    expect(body).not.toContain("Stranger");
  });

  it("leads a reader without a session to the sign-in page, and back", async () => {
    const reader = new Browser();
    const answer = await reader.get(`${PATH}?a=b`);

    expect(answer.status).toBe(303);
    expect(answer.headers.get("Location")).toBe(
      "/user/login?redirect_to=%2Fuser%2Fsettings%2Fsecurity%3Fa%3Db",
    );
  });
});

describe("ending sessions", () => {
  it("ends one", async () => {
    const other = await Browser.signedIn(user);
    const answer = await browser.submit(PATH, {}, `${PATH}/sessions/end`);

    expect(answer.status).toBe(303);
    expect(await sessionsOf(user)).toHaveLength(1);
    expect((await browser.get(PATH)).status).toBe(200);
    expect((await other.get(PATH)).status).toBe(303);
  });

  it("ends all others", async () => {
    const others = [await Browser.signedIn(user), await Browser.signedIn(user)];
    await browser.submit(PATH, {}, `${PATH}/sessions/end_others`);

    expect(await sessionsOf(user)).toHaveLength(1);
    expect((await browser.get(PATH)).status).toBe(200);
    for (const other of others) expect((await other.get(PATH)).status).toBe(303);
  });

  it("ends no session of somebody else", async () => {
    const stranger = await make.userWithPassword();
    await Browser.signedIn(stranger);
    const { id } = only(await sessionsOf(stranger));
    await Browser.signedIn(user);
    await browser.submit(PATH, { id: String(id) }, `${PATH}/sessions/end`);

    expect(await sessionsOf(stranger)).toHaveLength(1);
    expect(await sessionsOf(user)).toHaveLength(2);
  });

  it("keeps the 50 that were used last", async () => {
    const { id: _, ...session } = only(await sessionsOf(user));
    const older = Array.from({ length: 50 }, (__, at) => ({
      ...session,
      secretHash: crypto.randomUUID(),
      lastUsedAt: session.lastUsedAt - 1000 - at,
    }));
    for (let at = 0; at < 50; at += 10) await db.insert(sessions).values(older.slice(at, at + 10));
    await Browser.signedIn(user);

    const kept = await sessionsOf(user);
    expect(kept).toHaveLength(50);
    expect(kept.map(({ lastUsedAt }) => lastUsedAt)).not.toContain(older.at(-1)?.lastUsedAt);
    expect((await browser.get(PATH)).status).toBe(200);
  });
});
