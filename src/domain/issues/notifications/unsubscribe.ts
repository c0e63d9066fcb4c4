import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { issues, issueSubscriptions, users } from "../../../db/schema/index.ts";
import { readUnsubscribeCode } from "./unsubscribe-code.ts";

/**
 * Unsubscribes the reader of a mail from its issue. Idempotent.
 *
 * @param code The code of the link in the mail.
 * @returns Whether the code is valid. One of a deleted issue is, and changes nothing.
 */
export async function unsubscribe(ctx: Ctx, code: string): Promise<boolean> {
  const found = await readUnsubscribeCode(ctx.config, code);
  if (!found) return false;
  const row = {
    issueId: issues.id,
    userId: users.id,
    isSubscribed: sql`0`,
    updatedAt: ctx.now,
  };
  const areThere = and(eq(issues.id, found.issueId), eq(users.id, found.userId));
  await insertSelect(
    ctx.db,
    issueSubscriptions,
    row,
    sql`from ${issues} join ${users} where ${areThere}`,
  ).onConflictDoUpdate({
    target: [issueSubscriptions.issueId, issueSubscriptions.userId],
    set: { isSubscribed: false, updatedAt: ctx.now },
  });
  return true;
}
