import { and, eq, sql } from "drizzle-orm";

import { deleteSomeMemberships, selectMembershipCount } from "../../../auth/access/memberships.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { flagColumn, isViolation } from "../../../db/db.ts";
import { repositories, users, type User } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { invalid, notFound } from "../../../lib/failure.ts";
import { ownsPackages } from "../../packages/package/delete-some-packages.ts";
import { recordAuditWhere } from "../../people/audit/record-audit.ts";

/** Memberships that are deleted in one batch; a statement of D1 ends after 30 seconds. */
const STEP_ROWS_MAX = 5000;

/**
 * Deletes an organization with its teams, memberships, webhooks and former names.
 *
 * The row and the rows that refer to it are deleted in one batch. Before it, the members of a large
 * organization are deleted in steps, except its owners: after an interruption they can repeat the
 * deletion.
 *
 * @throws Failure `invalid` while it owns repositories or packages, `not_found` if another request
 *   has deleted it.
 */
export async function deleteOrganization(ctx: Ctx, org: User): Promise<void> {
  const { db } = ctx;
  const { owned, memberships, publishers } = await batch(db, {
    owned: db
      .select({ id: repositories.id })
      .from(repositories)
      .where(eq(repositories.ownerId, org.id))
      .limit(1),
    memberships: selectMembershipCount(db, org.id, STEP_ROWS_MAX),
    publishers: db
      .select({ ownsPackages: flagColumn(ownsPackages(org.id), "owns_packages") })
      .from(users)
      .where(eq(users.id, org.id)),
  });
  if (owned.length > 0) throw stillOwning(org, "repositories");
  if (publishers[0]?.ownsPackages) throw stillOwning(org, "packages");
  let isLarge = memberships[0]?.count === STEP_ROWS_MAX;
  while (isLarge) {
    const [left] = await db.batch(deleteSomeMemberships(db, org.id, STEP_ROWS_MAX));
    isLarge = left.length === STEP_ROWS_MAX;
  }
  // A package may be published meanwhile.
  const isUnused = sql`not ${ownsPackages(org.id)}`;
  try {
    const { deleted } = await batch(db, {
      // Before the deletion, whose names it keeps.
      audit: recordAuditWhere(
        ctx,
        { kind: "organization.deleted", ownerId: org.id },
        sql`exists (select 1 from ${users} where ${users.id} = ${org.id} and ${isUnused})`,
      ),
      deleted: db
        .delete(users)
        .where(and(eq(users.id, org.id), eq(users.kind, "organization"), isUnused))
        .returning({ id: users.id }),
      event: recordIfChanged(ctx, {
        type: "organization.deleted",
        ownerId: org.id,
        name: org.name,
      }),
    });
    if (deleted.length === 0) throw notFound();
  } catch (error) {
    // A repository refers to its owner without a cascade: one that was created meanwhile is not
    // lost.
    if (isViolation(error, "FOREIGN KEY")) throw stillOwning(org, "repositories");
    throw error;
  }
}

const stillOwning = ({ id }: User, what: "repositories" | "packages") =>
  invalid(`organization still has ownership of ${what} [uid: ${id}]`);
