import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import type { Database } from "../../db/db.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { issues, issueSubscriptions, repositories, users } from "../../db/schema/index.ts";
import { readUnsubscribeCode, type Unsubscription } from "./unsubscribe-code.ts";

/**
 * Unsubscribes the reader of a mail from its issue. Idempotent.
 *
 * @param code The code of the link in the mail.
 * @returns Whether the code is valid. One of a deleted issue is, and changes nothing.
 */
export async function unsubscribe(ctx: Ctx, code: string): Promise<boolean> {
  const found = await readUnsubscribeCode(ctx.config, code);
  if (!found) return false;
  // An issue that is in another database changes nothing in this one: most are here, and are done with one round trip.
  const db = ctx.openShard(0);
  const [[repo]] = await db.batch([
    db
      .select({ shard: repositories.shard })
      .from(repositories)
      .where(eq(repositories.id, found.repoId)),
    unsubscribeIn(db, found, ctx.now),
  ]);
  if (repo && repo.shard !== 0) await unsubscribeIn(ctx.openShard(repo.shard), found, ctx.now);
  return true;
}

/** The statement that unsubscribes a user from an issue, if both are in this database. */
function unsubscribeIn(db: Database, { userId, issueId }: Unsubscription, now: number) {
  const row = { issueId: issues.id, userId: users.id, isSubscribed: sql`0`, updatedAt: now };
  const areThere = and(eq(issues.id, issueId), eq(users.id, userId));
  return insertSelect(
    db,
    issueSubscriptions,
    row,
    sql`from ${issues} join ${users} where ${areThere}`,
  ).onConflictDoUpdate({
    target: [issueSubscriptions.issueId, issueSubscriptions.userId],
    set: { isSubscribed: false, updatedAt: now },
  });
}
