import { eq } from "drizzle-orm";

import type { Database } from "../db/db.ts";
import { type Params, prepare } from "../db/prepared.ts";
import { accessTokens, type AccessToken } from "../db/schema/index.ts";
import { LruCache } from "../lib/lru-cache.ts";

/** Maximum lag of `last_used_at`: writing on every request would cost more than most reads. */
const LAG_MS = 60_000;

/** When the isolate recorded the use of a token, by its hash: a guard's row may be older. */
const recorded = new LruCache<number>(256 * 1024);

/** Records that a token was used, at most once a minute; returns undefined when no write is due. */
export function noteTokenUse(
  db: Database,
  token: AccessToken,
  now: number,
): Promise<unknown> | undefined {
  if (token.lastUsedAt !== null && token.lastUsedAt > now - LAG_MS) return undefined;
  const agoMs = now - (recorded.get(token.secretHash) ?? -Infinity);
  if (agoMs >= 0 && agoMs < LAG_MS) return undefined;
  recorded.set(token.secretHash, now, token.secretHash.length);
  return noteUse(db, { id: token.id, now }).execute();
}

const noteUse = prepare((db, p: Params<{ id: number; now: number }>) =>
  db.update(accessTokens).set({ lastUsedAt: p.now }).where(eq(accessTokens.id, p.id)),
);
