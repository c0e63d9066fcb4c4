import { hashSecret } from "../../auth/secret.ts";
import type { User } from "../../db/schema/index.ts";

const MINUTE_MS = 60_000;

/**
 * The texts whose signature proves a key now: this minute's token and the last one's.
 *
 * They need not be secret, only the user's own and of this time: a signature made for another
 * account or long ago proves nothing here.
 */
export async function tokensToSign(user: User, now: number): Promise<string[]> {
  const minute = Math.floor(now / MINUTE_MS);
  const token = (at: number) => hashSecret(`gpg-key-token:${user.id}:${user.createdAt}:${at}`);
  return Promise.all([token(minute), token(minute - 1)]);
}
