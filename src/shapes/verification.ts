import { z } from "@hono/zod-openapi";

import { type ByteText, decodeText, readByteText } from "../git/byte-text.ts";

export const PayloadUser = z
  .object({
    name: z.string(),
    email: z.string().openapi({ format: "email" }),
    username: z.string().openapi({ description: "Empty if no account has the address" }),
  })
  .openapi("PayloadUser");

export const PayloadCommitVerification = z
  .object({
    verified: z.boolean(),
    reason: z.string(),
    signature: z.string(),
    signer: PayloadUser.nullable(),
    payload: z.string().openapi({ description: "What is signed" }),
  })
  .openapi("PayloadCommitVerification");
type PayloadCommitVerification = z.infer<typeof PayloadCommitVerification>;

/** What is known of a signature. No key is known, so none is ever found to be good. */
export function toVerification(
  split: { signature: ByteText; signed: Uint8Array } | undefined,
): PayloadCommitVerification {
  if (!split) {
    const reason = "gpg.error.not_signed_commit";
    return { verified: false, reason, signature: "", signer: null, payload: "" };
  }
  return {
    verified: false,
    reason: "gpg.error.no_gpg_keys_found",
    signature: decodeText(split.signature),
    signer: null,
    payload: decodeText(readByteText(split.signed)),
  };
}
