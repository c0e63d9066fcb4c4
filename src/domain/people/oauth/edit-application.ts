import { and, eq } from "drizzle-orm";

import { hashSecret } from "../../../auth/secret.ts";
import type { Ctx } from "../../../context.ts";
import { oauthApplications, type User } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { notFound } from "../../../lib/failure.ts";
import { recordAuditIfChanged } from "../audit/record-audit.ts";
import { makeClientSecret } from "./client-secret.ts";
import type { NewApplication, WithSecret } from "./create-application.ts";

/** The changes of an application; what is undefined stays as it is. */
export type ApplicationChanges = {
  [K in keyof NewApplication]: NewApplication[K] | undefined;
};

/**
 * Changes an application of `user` and gives it a new secret, as in Gitea: the old one is refused
 * from then on. What users granted stays.
 *
 * @throws Failure `not_found`, also for an application of somebody else.
 */
export async function editApplication(
  ctx: Ctx,
  user: User,
  id: number,
  changes: ApplicationChanges & Pick<NewApplication, "name">,
): Promise<WithSecret> {
  const secret = makeClientSecret();
  const [[edited]] = await ctx.db.batch([
    ctx.db
      .update(oauthApplications)
      .set({ ...changes, secretHash: await hashSecret(secret) })
      .where(and(eq(oauthApplications.id, id), eq(oauthApplications.ownerId, user.id)))
      .returning(),
    recordIfChanged(ctx, {
      type: "oauth_application.edited",
      ownerId: user.id,
      name: changes.name,
    }),
    recordAuditIfChanged(ctx, {
      kind: "oauth_application.edited",
      ownerId: user.id,
      target: changes.name,
    }),
  ]);
  if (!edited) throw notFound();
  return { application: edited, secret };
}
