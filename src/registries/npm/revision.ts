import { eq, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { isViolation, onlyWhile } from "../../db/db.ts";
import { packages, type Package } from "../../db/schema/index.ts";
import { conflict } from "../../lib/failure.ts";

/**
 * The revision of a package in the form of CouchDB, as clients send it back with what they change.
 */
export const formatRevision = ({ revision, id }: Package): string =>
  `${revision}-${id.toString(16).padStart(16, "0")}`;

/** Whether a text has the form of revisions of this registry. */
export const isRevision = (given: string): boolean => /^\d+-[0-9a-f]{16}$/.test(given);

/**
 * The statement that a batch begins with if it follows from a document that the client has read: it
 * fails the batch if the package has changed since. Revisions of another form are those of clients
 * that read none, such as `undefined`.
 */
export function requireRevision({ db }: Ctx, { id, name, ...row }: Package, given = "") {
  const current = formatRevision({ id, name, ...row });
  if (isRevision(given) && given !== current) throw outdated();
  const isCurrent = sql`${packages.revision} = ${row.revision}`;
  return db
    .update(packages)
    .set({ name: isRevision(given) ? onlyWhile(isCurrent, name) : name })
    .where(eq(packages.id, id));
}

/** The refusal that an error of such a batch stands for. */
export const asOutdated = (error: unknown): unknown =>
  isViolation(error, "NOT NULL", "packages.name") ? outdated() : error;

const outdated = () => conflict("the package has changed since it was read: try again");
