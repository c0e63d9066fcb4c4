import { describe, expect, it } from "vitest";
import { verifyGpgSignature } from "../../../../src/domain/people/keys/verify-gpg-signature.ts";
import * as known from "./fixtures.ts";

const { ADA, GRACE, NIST, TOKEN } = known;

describe("verifyGpgSignature", () => {
  it.each([
    ["the line that echo makes", ADA, known.ADA_SIGNED_LINE],
    ["the bare text", ADA, known.ADA_SIGNED_BARE],
    ["the line that Windows makes", ADA, known.ADA_SIGNED_WINDOWS_LINE],
    ["text whose line breaks gpg normalised", ADA, known.ADA_SIGNED_TEXT],
    ["the text, signed by an RSA subkey", GRACE, known.GRACE_SIGNED],
    ["the text, signed by a subkey of another algorithm", NIST, known.NIST_SIGNED],
  ])("accepts a signature over %s", async (_, { armored }, signature) => {
    for (const text of [TOKEN, `${TOKEN}\n`, `${TOKEN}\r\n`]) {
      expect(await verifyGpgSignature(armored, signature, text)).toBe(true);
    }
  });

  it.each([
    ["over another text", ADA.armored, known.ADA_SIGNED_OTHER, TOKEN],
    ["over a text with more lines", ADA.armored, known.ADA_SIGNED_LINE, `${TOKEN}\n\n\n`],
    ["over nothing", ADA.armored, known.ADA_SIGNED_LINE, ""],
    ["by another key", GRACE.armored, known.ADA_SIGNED_LINE, TOKEN],
    ["that is empty", ADA.armored, "", TOKEN],
    ["that is garbage", ADA.armored, "hello", TOKEN],
    ["that is cut off", ADA.armored, known.ADA_SIGNED_LINE.slice(0, 120), TOKEN],
    ["that is a key", ADA.armored, ADA.armored, TOKEN],
    ["that is too long", ADA.armored, known.ADA_SIGNED_LINE + "x".repeat(16_384), TOKEN],
    ["with an empty key", "", known.ADA_SIGNED_LINE, TOKEN],
    ["with garbage for a key", "hello", known.ADA_SIGNED_LINE, TOKEN],
    ["with several keys at once", known.THREE_IN_ONE_BLOCK.armored, known.GRACE_SIGNED, TOKEN],
  ])("is false for a signature %s", async (_, armored, signature, text) => {
    expect(await verifyGpgSignature(armored, signature, text)).toBe(false);
  });
});
