import { hashSecret } from "../../../auth/secret.ts";
import type { User } from "../../../db/schema/index.ts";

const MINUTE_MS = 60_000;

/**
 * The texts whose signature currently proves possession of a key: the tokens of this minute and of
 * the last one.
 *
 * The tokens are not secret, only specific to the user and the time: a signature that was made for
 * another account, or earlier, does not match.
 */
export async function tokensToSign(user: User, now: number): Promise<string[]> {
  const minute = Math.floor(now / MINUTE_MS);
  const token = (at: number) => hashSecret(`gpg-key-token:${user.id}:${user.createdAt}:${at}`);
  return Promise.all([token(minute), token(minute - 1)]);
}
