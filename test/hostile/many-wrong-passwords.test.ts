import Argon2 from "@phi-ag/argon2";
import { eq } from "drizzle-orm";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import wranglerToml from "../../wrangler.toml?raw";
import { users } from "../../src/db/schema/index.ts";
import { basic, call, visit, type Answer, type Sending } from "../support/call.ts";
import { db } from "../support/db.ts";
import { eventsBy } from "../support/events.ts";
import { freshName, make, type TestUser } from "../support/make.ts";
import { sampleOf } from "../support/sample.ts";
import { doorsWith } from "../support/service.ts";

/** Hashes that run or wait. */
const QUEUE_LENGTH = 8;
/** Wrong passwords for one name, and from one address, before further ones are refused. */
const [PER_ACCOUNT, PER_ADDRESS] = [10, 50];

const hashed = vi.spyOn(Argon2.prototype, "tryVerify");
beforeEach(() => hashed.mockClear());
afterEach(() => vi.useRealTimers());

const wrong = (name: string): Sending => ({ headers: basic(name, freshName("wrong")) });
const statusesOf = (answers: Answer[]): Record<number, number> => {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

/** A request at each door. */
const DOORS = {
  API: (sending: Sending) => call("GET", "/version", sending),
  git: (sending: Sending) =>
    visit("GET", "/nobody/nothing/info/refs?service=git-upload-pack", sending),
  LFS: ({ headers }: Sending) =>
    visit("GET", "/nobody/nothing/info/lfs/locks", {
      headers: { ...headers, Accept: "application/vnd.git-lfs+json" },
    }),
  web: (sending: Sending) => visit("GET", "/nobody.rss", sending),
  packages: (sending: Sending) => visit("GET", "/api/packages/nobody/npm/nothing", sending),
  images: (sending: Sending) => visit("GET", "/v2/", sending),
  "tokens of images": (sending: Sending) => visit("GET", "/v2/token", sending),
};

/** The body of the refusal at each door. */
const REFUSALS: Record<keyof typeof DOORS, unknown> = {
  API: { message: expect.any(String), url: "https://forge.example/api/swagger" },
  git: expect.stringMatching(/^[^<{]+\n$/),
  LFS: expect.stringMatching(/^\{"message":"[^"]+","request_id":"[^"]+"\}$/),
  web: expect.stringMatching(/^[^<{]+\n$/),
  packages: { error: expect.any(String) },
  images: { errors: [expect.objectContaining({ code: "TOOMANYREQUESTS" })] },
  "tokens of images": { errors: [expect.objectContaining({ code: "TOOMANYREQUESTS" })] },
};
const names = Object.keys(DOORS) as (keyof typeof DOORS)[];

describe("forty wrong passwords at once", () => {
  it.each(sampleOf(names, 2, "doors"))(
    "at the door of %s cost a few hashes; the rest is 429",
    async (door) => {
      const answers = await Promise.all(
        Array.from({ length: 40 }, () => DOORS[door](wrong(freshName("nobody")))),
      );

      expect(statusesOf(answers)).toEqual({ 401: QUEUE_LENGTH, 429: 40 - QUEUE_LENGTH });
      expect(hashed).toHaveBeenCalledTimes(QUEUE_LENGTH);
      for (const { status, headers, body } of answers) {
        if (status !== 429) continue;
        expect(headers.get("Retry-After")).toMatch(/^[1-9]\d?$/);
        expect(headers.get("WWW-Authenticate")).toBeNull();
        expect(body).toEqual(REFUSALS[door]);
      }
    },
  );

  it("let other requests be answered between two hashes", async () => {
    const attempts = Promise.all(
      Array.from({ length: 40 }, () => call("GET", "/version", wrong(freshName("nobody")))),
    );
    await vi.waitFor(() => expect(hashed).toHaveBeenCalled());
    expect((await call("GET", "/version")).status).toBe(200);
    expect(hashed.mock.calls.length).toBeLessThan(QUEUE_LENGTH);
    await attempts;
  });

  it("do not refuse a right password that was given a moment ago, or a token", async () => {
    const user = await make.userWithPassword();
    const right = { headers: basic(user.name, user.password) };
    expect((await call("GET", "/user", right)).status).toBe(200);
    const attempts = Promise.all(
      Array.from({ length: 40 }, () => call("GET", "/version", wrong(freshName("nobody")))),
    );
    const [byPassword, byToken] = await Promise.all([
      call("GET", "/user", right),
      call("GET", "/user", { as: user }),
    ]);
    expect([byPassword.status, byToken.status]).toEqual([200, 200]);
    await attempts;
  });
});

describe("wrong passwords one after another", () => {
  /**
   * A service without the platform's rate limits, which counts by itself, in windows that begin
   * with a failure.
   */
  const uncounted = doorsWith(
    {},
    { SIGN_IN_ACCOUNT_FAILURES: undefined, SIGN_IN_ADDRESS_FAILURES: undefined },
  );
  const attempt = async (count: number, sending: () => Sending, ask = visit) => {
    const answers: Answer[] = [];
    for (let at = 0; at < count; at++) {
      answers.push(await ask("GET", "/api/v1/version", sending()));
    }
    return answers;
  };

  it("for one account are refused without a hash, a right one too, but no token", async () => {
    const user = await make.userWithPassword();
    const answers = await attempt(PER_ACCOUNT + 5, () => wrong(user.name.toUpperCase()), uncounted);

    expect(answers.map(({ status }) => status)).toEqual([
      ...Array.from({ length: PER_ACCOUNT }, () => 401),
      ...Array.from({ length: 5 }, () => 429),
    ]);
    expect(hashed.mock.calls.length).toBe(PER_ACCOUNT + 1);
    const seconds = Number(answers.at(-1)?.headers.get("Retry-After"));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    const right = { headers: basic(user.name, user.password) };
    expect((await uncounted("GET", "/api/v1/user", right)).status).toBe(429);
    expect((await uncounted("GET", "/api/v1/user", { as: user })).status).toBe(200);
    expect(hashed.mock.calls.length).toBe(PER_ACCOUNT + 1);
  });

  it("are limited by the platform as by an isolate", () => {
    const limitOf = (name: string) => {
      const found = new RegExp(`name = "${name}"\\n.*\\n.*limit = (\\d+), period = 60 `).exec(
        wranglerToml,
      );
      return Number(found?.[1]);
    };
    expect(limitOf("SIGN_IN_ACCOUNT_FAILURES")).toBe(PER_ACCOUNT);
    expect(limitOf("SIGN_IN_ADDRESS_FAILURES")).toBe(PER_ADDRESS);
  });

  it("for one account are refused by the platform's count", async () => {
    const user = await make.userWithPassword();
    // The platform's window may end while this runs, so its count may start anew once.
    const answers = await attempt(2 * PER_ACCOUNT + 1, () => wrong(user.name));
    expect(answers.slice(0, PER_ACCOUNT).map(({ status }) => status)).not.toContain(429);
    expect(answers.at(-1)?.status).toBe(429);
  });

  // SECURITY: a limit only for names that exist would reveal which do.
  it("for an unknown name are refused like those for an account", async () => {
    const name = freshName("nobody");
    const answers = await attempt(PER_ACCOUNT + 1, () => wrong(name), uncounted);
    expect(answers.at(-2)?.status).toBe(401);
    expect(answers.at(-1)?.status).toBe(429);
  });

  it("from one address are refused, whatever the name, and from others they are not", async () => {
    const from = (address: string) => (): Sending => ({
      headers: { ...wrong(freshName("nobody")).headers, "CF-Connecting-IP": address },
    });
    const answers = await attempt(PER_ADDRESS + 1, from("2001:db8::1"), uncounted);
    expect(statusesOf(answers)).toEqual({ 401: PER_ADDRESS, 429: 1 });
    // One network of 64 bits is one caller: it has more addresses than any limit has counters.
    expect(statusesOf(await attempt(1, from("2001:db8::ffff:2")))).toEqual({ 429: 1 });
    expect(statusesOf(await attempt(1, from("2001:db8:0:1::1")))).toEqual({ 401: 1 });
    expect(statusesOf(await attempt(1, from("192.0.2.1")))).toEqual({ 401: 1 });
  });

  it("write nothing, and log nothing of what was typed", async () => {
    const user = await make.userWithPassword();
    const lines = vi.spyOn(console, "log");
    const password = freshName("typed");
    for (let at = 0; at < PER_ACCOUNT + 2; at++) {
      await call("POST", "/user/repos", {
        headers: basic(user.name, password),
        json: { name: "x" },
      });
    }
    const text = lines.mock.calls.flat().join("\n");
    lines.mockRestore();
    expect(text).not.toMatch(new RegExp(`${password}|${user.name}`));
    expect(await eventsBy(user)).toEqual([]);
  });
});

describe("a right password", () => {
  const read = (user: Pick<TestUser, "name">, password: string) =>
    call("GET", "/user", { headers: basic(user.name, password) });

  it("is hashed once a minute, in sequence and at once", async () => {
    const user = await make.userWithPassword();
    const first = await Promise.all(Array.from({ length: 40 }, () => read(user, user.password)));
    expect(statusesOf(first)).toEqual({ 200: 40 });
    expect((await read(user, user.password)).status).toBe(200);
    expect(hashed).toHaveBeenCalledTimes(1);

    vi.useFakeTimers({ now: Date.now() + 61_000, toFake: ["Date"] });
    expect((await read(user, user.password)).status).toBe(200);
    expect(hashed).toHaveBeenCalledTimes(2);
  });

  it("is refused at once when the account's password has changed", async () => {
    const user = await make.userWithPassword();
    const [admin, next] = [await make.admin(), "another long password"];
    expect((await read(user, user.password)).status).toBe(200);
    const json = { password: next, must_change_password: false };
    const path = `/admin/users/${user.name}`;
    expect((await call("PATCH", path, { as: admin, json })).status).toBe(200);
    expect((await read(user, user.password)).status).toBe(401);
    expect((await read(user, next)).status).toBe(200);
  });

  it("is refused at once when the account may not sign in any more", async () => {
    const user = await make.userWithPassword();
    expect((await read(user, user.password)).status).toBe(200);
    await db.update(users).set({ isLoginProhibited: true }).where(eq(users.id, user.id));
    expect((await read(user, user.password)).status).toBe(403);
  });

  it("of one account opens no other", async () => {
    const [user, other] = [await make.userWithPassword(), await make.user()];
    expect((await read(user, user.password)).status).toBe(200);
    expect((await read(other, user.password)).status).toBe(401);
    expect((await read({ name: freshName("nobody") }, user.password)).status).toBe(401);
  });
});
