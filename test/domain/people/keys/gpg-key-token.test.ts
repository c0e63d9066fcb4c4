import { describe, expect, it } from "vitest";

import { tokensToSign } from "../../../../src/domain/people/keys/gpg-key-token.ts";
import { make } from "../../../support/make.ts";

const MINUTE_MS = 60_000;
/** The first moment of a minute. */
const NOON = Date.UTC(2026, 0, 31, 12);

describe("tokensToSign", () => {
  it("accepts a token in its own minute and in the next one", async () => {
    const user = await make.user();
    const [token] = await tokensToSign(user, NOON);

    for (const passedMs of [0, MINUTE_MS - 1, MINUTE_MS, 2 * MINUTE_MS - 1]) {
      expect(await tokensToSign(user, NOON + passedMs)).toContain(token);
    }
    for (const passedMs of [-1, 2 * MINUTE_MS, 60 * MINUTE_MS]) {
      expect(await tokensToSign(user, NOON + passedMs)).not.toContain(token);
    }
  });

  // SECURITY: a signature that was made for another account must not prove anything here.
  it("differs between users, also between users with the same id in different databases", async () => {
    const user = await make.user();
    const tokens = await tokensToSign(user, NOON);

    for (const other of [await make.user(), { ...user, createdAt: user.createdAt + 1 }]) {
      const others = await tokensToSign(other, NOON);
      expect(others.filter((token) => tokens.includes(token))).toEqual([]);
    }
  });
});
