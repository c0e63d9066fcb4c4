import { asc, eq, or } from "drizzle-orm";

import { auditEvents, type AuditRow } from "../../src/db/schema/index.ts";
import { db } from "./db.ts";

/**
 * The entries of the audit log that an account or a repository's owner reads, or that concern it,
 * oldest first.
 */
export const auditOf = ({ id }: { id: number }): Promise<AuditRow[]> =>
  db
    .select()
    .from(auditEvents)
    .where(or(eq(auditEvents.ownerId, id), eq(auditEvents.userId, id)))
    .orderBy(asc(auditEvents.id));

/** The kinds of entries, in order. */
export const auditKindsOf = async (account: { id: number }): Promise<string[]> =>
  (await auditOf(account)).map(({ kind }) => kind);
