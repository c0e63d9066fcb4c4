import { eq, sql } from "drizzle-orm";

import { createOwnersTeam } from "../../../auth/access/memberships.ts";
import type { Ctx } from "../../../context.ts";
import { isViolation } from "../../../db/db.ts";
import { userRedirects, users, type User, type Visibility } from "../../../db/schema/index.ts";
import { record } from "../../../events/record.ts";
import { forbidden, invalid } from "../../../lib/failure.ts";
import { only } from "../../../lib/only.ts";
import { checkWebAddress } from "../../../lib/web-address.ts";
import { checkAccountName } from "../accounts/account-name.ts";
import { checkEmail } from "../accounts/email-address.ts";
import { recordAudit } from "../audit/record-audit.ts";

/** The input for a new organization. */
export interface NewOrganization {
  name: string;
  fullName?: string | undefined;
  email?: string | undefined;
  description?: string | undefined;
  website?: string | undefined;
  location?: string | undefined;
  visibility?: Visibility | undefined;
  canRepoAdminChangeTeamAccess?: boolean | undefined;
}

/**
 * Creates an organization with a team "Owners", whose first member is the creator.
 *
 * @throws Failure `forbidden` when the creator may not create organizations, or for a non-public
 * organization with a public-only token; `invalid` for an invalid name, email address or
 * website, or a name that is taken.
 */
export async function createOrganization(
  ctx: Ctx,
  creator: User,
  input: NewOrganization,
): Promise<User> {
  if (!creator.canCreateOrganization && !creator.isAdmin) {
    throw forbidden("user is not allowed to create organizations");
  }
  if (ctx.actor.scopes.isPublicOnly && (input.visibility ?? "public") !== "public") {
    throw forbidden("token scope is limited to public orgs");
  }
  checkAccountName(input.name);
  if (input.email) checkEmail(input.email);
  checkWebAddress(input.website, "website");

  const { db, now } = ctx;
  const lowerName = input.name.toLowerCase();
  const newId = sql<number>`(
    select ${users.id} from ${users} where ${users.lowerName} = ${lowerName}
  )`;
  try {
    const [created] = await db.batch([
      db
        .insert(users)
        .values({
          kind: "organization",
          name: input.name,
          lowerName,
          fullName: input.fullName ?? "",
          email: input.email ?? "",
          description: input.description ?? "",
          website: input.website ?? "",
          location: input.location ?? "",
          visibility: input.visibility ?? "public",
          canRepoAdminChangeTeamAccess: input.canRepoAdminChangeTeamAccess ?? false,
          createdAt: now,
          updatedAt: now,
        })
        .returning(),
      ...createOwnersTeam(db, newId, creator.id, now),
      db.delete(userRedirects).where(eq(userRedirects.lowerName, lowerName)),
      record(ctx, { type: "organization.created", ownerId: newId, name: input.name }),
      recordAudit(ctx, { kind: "organization.created", ownerId: newId }),
    ]);
    return only(created);
  } catch (error) {
    if (!isViolation(error, "UNIQUE", "users.lower_name")) throw error;
    throw invalid(`user already exists [name: ${input.name}]`);
  }
}
