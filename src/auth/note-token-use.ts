import { eq } from "drizzle-orm";

import type { Database } from "../db/db.ts";
import { accessTokens, type AccessToken } from "../db/schema/index.ts";

/** How far `last_used_at` may lag: a write with every read would cost more than the read. */
const LAG_MS = 60_000;

/** Notes that a token was used, once a minute at most; undefined where that was done already. */
export function noteTokenUse(
  db: Database,
  token: AccessToken,
  now: number,
): Promise<unknown> | undefined {
  if (token.lastUsedAt !== null && token.lastUsedAt > now - LAG_MS) return undefined;
  return db
    .update(accessTokens)
    .set({ lastUsedAt: now })
    .where(eq(accessTokens.id, token.id))
    .run();
}
