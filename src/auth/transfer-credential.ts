import { z } from "zod";

import type { User } from "../db/schema/index.ts";
import type { Actor } from "./actor.ts";
import type { Credential } from "./credential.ts";
import { markSignIn } from "./password.ts";

/** The credential of a token that the service made for a caller, as such a token contains it. */
export const TransferCredential = z.union([
  z.object({ kind: z.literal("transfer"), userId: z.number(), tokenId: z.number() }),
  z.object({ kind: z.literal("transfer"), userId: z.number(), signInMark: z.string() }),
]);

/**
 * Names what a caller signed in with. It grants what that one grants when it is used, and ends with
 * it.
 */
export async function transferCredential(
  { token }: Actor,
  user: User,
): Promise<Extract<Credential, { kind: "transfer" }>> {
  const kind = "transfer";
  const { id: userId } = user;
  if (token) return { kind, userId, tokenId: token.id };
  return { kind, userId, signInMark: await markSignIn(user) };
}
