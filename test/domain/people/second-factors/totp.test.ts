import { describe, expect, it } from "vitest";

import {
  findTotpStep,
  makeTotpSecret,
  totpUri,
} from "../../../../src/domain/people/second-factors/totp.ts";

/** "12345678901234567890" in base32: the secret of RFC 6238, appendix B. */
const SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

describe("findTotpStep", () => {
  // The last six of the eight digits there.
  it.each([
    [59, "287082"],
    [1_111_111_109, "081804"],
    [1_111_111_111, "050471"],
    [1_234_567_890, "005924"],
    [2_000_000_000, "279037"],
    [20_000_000_000, "353130"],
  ])("finds the codes of RFC 6238: at %i", async (seconds, code) => {
    expect(await findTotpStep(SECRET, code, seconds * 1000)).toBe(Math.floor(seconds / 30));
  });

  it.each([
    ["the step before", 30, true],
    ["the step after", -30, true],
    ["two steps before", 60, false],
    ["two steps after", -60, false],
  ])("knows a code of %s: %s", async (_, laterSeconds, isFound) => {
    const step = await findTotpStep(SECRET, "287082", (45 + laterSeconds) * 1000);
    expect(step).toBe(isFound ? 1 : undefined);
  });

  it.each(["", "287083", "28708", "2870822", "abcdef"])("refuses %j", async (code) => {
    expect(await findTotpStep(SECRET, code, 59_000)).toBeUndefined();
  });
});

describe("makeTotpSecret", () => {
  it("makes 160 bits, each time others", async () => {
    const secrets = [await makeTotpSecret(), await makeTotpSecret()];

    expect(secrets[0]).toMatch(/^[A-Z2-7]{32}$/);
    expect(secrets[0]).not.toBe(secrets[1]);
  });
});

describe("totpUri", () => {
  it("is what authenticator apps scan, whatever the names are", async () => {
    const uri = new URL(await totpUri(SECRET, "My Forge & Co", "alice"));

    expect(uri.protocol).toBe("otpauth:");
    expect(Object.fromEntries(uri.searchParams)).toEqual({
      issuer: "My Forge & Co",
      secret: SECRET,
      algorithm: "SHA1",
      digits: "6",
      period: "30",
    });
  });
});
