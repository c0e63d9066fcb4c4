import { eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { isViolation } from "../../../db/db.ts";
import { userRedirects, users, type User } from "../../../db/schema/index.ts";
import { record } from "../../../events/record.ts";
import { invalid } from "../../../lib/failure.ts";
import { recordAudit } from "../audit/record-audit.ts";
import { checkAccountName } from "./account-name.ts";

/**
 * Renames an account. The old name redirects to it until another account takes that name.
 *
 * @throws Failure `invalid` for an invalid or taken name.
 */
export async function renameAccount(ctx: Ctx, account: User, name: string): Promise<void> {
  const isOrganization = account.kind === "organization";
  checkAccountName(name, isOrganization ? "new_name" : "new_username");
  if (name === account.name) return;
  const lowerName = name.toLowerCase();
  const insertRedirect =
    lowerName === account.lowerName
      ? []
      : [
          ctx.db
            .insert(userRedirects)
            .values({ lowerName: account.lowerName, userId: account.id })
            .onConflictDoUpdate({ target: userRedirects.lowerName, set: { userId: account.id } }),
        ];
  try {
    await ctx.db.batch([
      ctx.db
        .update(users)
        .set({ name, lowerName, updatedAt: ctx.now })
        .where(eq(users.id, account.id)),
      ctx.db.delete(userRedirects).where(eq(userRedirects.lowerName, lowerName)),
      ...insertRedirect,
      record(ctx, {
        type: isOrganization ? "organization.renamed" : "user.renamed",
        ownerId: account.id,
        from: account.name,
        to: name,
      }),
      recordAudit(ctx, {
        kind: account.kind === "user" ? "user.renamed" : "organization.renamed",
        ownerId: account.id,
        details: { from: account.name, to: name },
      }),
    ]);
  } catch (error) {
    if (isViolation(error, "UNIQUE", "users.lower_name")) {
      throw invalid(`user already exists [name: ${name}]`);
    }
    throw error;
  }
}
