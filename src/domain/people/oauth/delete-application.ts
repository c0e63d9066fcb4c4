import { eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { oauthApplications, type User } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { notFound } from "../../../lib/failure.ts";
import { recordAuditIfChanged } from "../audit/record-audit.ts";
import { findApplication } from "./find-application.ts";

/**
 * Deletes an application of `user`, and with it all that users granted to it: its tokens are
 * refused from then on.
 *
 * @throws Failure `not_found`, also for an application of somebody else.
 */
export async function deleteApplication(ctx: Ctx, user: User, id: number): Promise<void> {
  const { name } = await findApplication(ctx, user, id);
  const [deleted] = await ctx.db.batch([
    // Grants and their tokens follow by their references.
    ctx.db
      .delete(oauthApplications)
      .where(eq(oauthApplications.id, id))
      .returning({ id: oauthApplications.id }),
    recordIfChanged(ctx, { type: "oauth_application.deleted", ownerId: user.id, name }),
    recordAuditIfChanged(ctx, {
      kind: "oauth_application.deleted",
      ownerId: user.id,
      target: name,
    }),
  ]);
  // Another request has deleted it meanwhile.
  if (deleted.length === 0) throw notFound();
}
