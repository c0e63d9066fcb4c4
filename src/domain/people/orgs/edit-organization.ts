import { eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { users, type User } from "../../../db/schema/index.ts";
import { record } from "../../../events/record.ts";
import { differing } from "../../../lib/differing.ts";
import { forbidden, notFound } from "../../../lib/failure.ts";
import { checkWebAddress } from "../../../lib/web-address.ts";
import { checkEmail } from "../accounts/email-address.ts";
import { recordAudit } from "../audit/record-audit.ts";
import { forksFollow } from "../visibility/fork-visibility.ts";

/** The properties of an organization to change. Missing properties keep their value. */
export type OrganizationEdit = Partial<
  Pick<
    User,
    | "fullName"
    | "email"
    | "description"
    | "website"
    | "location"
    | "visibility"
    | "canRepoAdminChangeTeamAccess"
  >
>;

/**
 * Edits an organization. Its repositories are as visible as it allows, at once, and so are their
 * forks. Unchanged values record no event.
 *
 * @throws Failure `invalid` for an invalid address or website; `forbidden` where a token for public
 * resources would hide the organization from itself.
 */
export async function editOrganization(
  ctx: Ctx,
  org: User,
  input: OrganizationEdit,
): Promise<User> {
  if (input.email) checkEmail(input.email);
  checkWebAddress(input.website, "website");
  const edit = differing(org, input);
  if (Object.keys(edit).length === 0) return org;
  if (ctx.actor.scopes.isPublicOnly && (edit.visibility ?? "public") !== "public") {
    throw forbidden("token scope is limited to public orgs");
  }
  const changed = Object.keys(edit).toSorted();
  const [[updated]] = await ctx.db.batch([
    ctx.db
      .update(users)
      .set({ ...edit, updatedAt: ctx.now })
      .where(eq(users.id, org.id))
      .returning(),
    record(ctx, {
      type: "organization.edited",
      ownerId: org.id,
      changed,
    }),
    recordAudit(ctx, {
      kind: "organization.edited",
      ownerId: org.id,
      details: { changed },
    }),
    ...(edit.visibility === undefined ? [] : forksFollow(ctx, { ownerId: org.id })),
  ]);
  if (!updated) throw notFound();
  return updated;
}
