import { z } from "@hono/zod-openapi";

import { decodeText, readByteText } from "../git/byte-text.ts";
import { splitSignature } from "../git/object/commit.ts";

const PayloadUser = z
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

/** What is known of a commit's signature. No key is known, so none is ever found to be good. */
export function toVerification(commitBytes: Uint8Array): PayloadCommitVerification {
  const split = splitSignature(commitBytes);
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
