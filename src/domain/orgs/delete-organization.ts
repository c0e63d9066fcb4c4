import { and, eq, sql } from "drizzle-orm";

import { deleteSomeMemberships, selectMembershipCount } from "../../auth/access/memberships.ts";
import type { Ctx } from "../../context.ts";
import { isViolation } from "../../db/db.ts";
import { repositories, users, type User } from "../../db/schema/index.ts";
import { recordIfChanged } from "../../events/record.ts";
import { invalid, notFound } from "../../lib/failure.ts";
import {
  isOwningPackages,
  refuseSeenVersions,
  selectSeenVersion,
} from "../packages/delete-some-packages.ts";
import { ownsPackagesInShard } from "../packages/package-shard.ts";
import { recordAuditWhere } from "../audit/record-audit.ts";
import { ownStatements } from "../shards/own-statements.ts";

/** Memberships that are deleted in one batch; a statement of D1 ends after 30 seconds. */
const STEP_ROWS_MAX = 5000;

/**
 * Deletes an organization with its teams, memberships, webhooks and former names.
 *
 * The row and what refers to it are one batch. Before it, a large organization loses its members in steps, owners
 * excepted: whoever finds it half done can delete it again.
 *
 * @throws Failure `invalid` while it owns repositories or packages, `not_found` if another request has deleted it.
 */
export async function deleteOrganization(ctx: Ctx, org: User): Promise<void> {
  const { db } = ctx;
  const [owned, [memberships], seen = []] = await db.batch([
    db
      .select({ id: repositories.id })
      .from(repositories)
      .where(eq(repositories.ownerId, org.id))
      .limit(1),
    selectMembershipCount(db, org.id, STEP_ROWS_MAX),
    ...ownStatements(ctx, undefined, (own) => [selectSeenVersion(own, org.id)]),
  ]);
  if (owned.length > 0) throw stillOwning(org, "repositories");
  if (seen.length > 0) throw stillOwning(org, "packages");
  let isLarge = (memberships?.count ?? 0) === STEP_ROWS_MAX;
  while (isLarge) {
    const [left] = await db.batch(deleteSomeMemberships(db, org.id, STEP_ROWS_MAX));
    isLarge = left.length === STEP_ROWS_MAX;
  }
  // A shard is asked at last, since it has no part in the batch.
  if (await ownsPackagesInShard(ctx, org.id)) throw stillOwning(org, "packages");
  try {
    const results: unknown[] = await db.batch([
      // Before the deletion, whose names it keeps.
      recordAuditWhere(
        ctx,
        { kind: "organization.deleted", ownerId: org.id },
        sql`exists (select 1 from ${users} where ${users.id} = ${org.id})`,
      ),
      // Not what was published meanwhile.
      ...ownStatements(ctx, undefined, (own) => [refuseSeenVersions(own, org.id)]),
      db
        .delete(users)
        .where(and(eq(users.id, org.id), eq(users.kind, "organization")))
        .returning({ id: users.id }),
      recordIfChanged(ctx, { type: "organization.deleted", ownerId: org.id, name: org.name }),
    ]);
    const deleted = results.at(-2) as unknown[];
    if (deleted.length === 0) throw notFound();
  } catch (error) {
    if (isOwningPackages(error)) throw stillOwning(org, "packages");
    // A repository refers to its owner without a cascade: one that was created meanwhile is not lost.
    if (isViolation(error, "FOREIGN KEY")) throw stillOwning(org, "repositories");
    throw error;
  }
}

const stillOwning = ({ id }: User, what: "repositories" | "packages") =>
  invalid(`organization still has ownership of ${what} [uid: ${id}]`);
