import { z } from "@hono/zod-openapi";

import { decodeText, readByteText } from "../../git/byte-text.ts";
import type { SplitSignature } from "../../git/object/commit.ts";

export const PayloadUser = z
  .object({
    name: z.string(),
    email: z.string(),
    username: z.string().openapi({ description: "Empty if no account has the e-mail address" }),
  })
  .openapi("PayloadUser");

export const PayloadCommitVerification = z
  .object({
    verified: z.boolean(),
    reason: z.string(),
    signature: z.string(),
    signer: PayloadUser.nullable(),
    payload: z.string().openapi({ description: "The signed content" }),
  })
  .openapi("PayloadCommitVerification");

/** The verification of the signature of a commit or tag. */
export interface Verification {
  readonly isVerified: boolean;
  /** The signer and the key, or why the signature is not verified. */
  readonly reason: string;
  /** Undefined if there is no signature. */
  readonly split: SplitSignature | undefined;
  /** Undefined unless verified. */
  readonly signer: { readonly name: string; readonly email: string } | undefined;
}

export function toVerification({
  isVerified,
  reason,
  split,
  signer,
}: Verification): z.infer<typeof PayloadCommitVerification> {
  return {
    verified: isVerified,
    reason,
    signature: split ? decodeText(split.signature) : "",
    signer: signer ? { ...signer, username: "" } : null,
    payload: split ? decodeText(readByteText(split.signed)) : "",
  };
}
