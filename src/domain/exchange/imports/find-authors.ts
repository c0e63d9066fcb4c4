import { sql } from "drizzle-orm";

import { hasScope } from "../../../auth/scope.ts";
import type { Ctx } from "../../../context.ts";
import { type ImportOptions, users } from "../../../db/schema/index.ts";
import { forbidden, invalid } from "../../../lib/failure.ts";

/** Authors that one request maps. */
export const AUTHORS_MAX = 1000;

/**
 * Finds the accounts of authors.
 *
 * SECURITY: imported items then count as written by these accounts. Only an administrator of the
 * service, who could sign in as any of them, may name them.
 *
 * @param authors Names of accounts here, by names there.
 * @throws Failure `forbidden` for others, `invalid` for an unknown account.
 */
export async function findAuthors(
  { actor, db }: Ctx,
  authors: Readonly<Record<string, string>>,
): Promise<ImportOptions["authors"]> {
  const entries = Object.entries(authors);
  if (entries.length === 0) return {};
  if (!actor.isSiteAdmin) throw forbidden("authors are mapped by administrators of the service");
  // SECURITY: a token for repositories alone speaks for nobody, not even where its account
  // administers the service.
  if (!hasScope(actor.scopes, "write:admin")) {
    throw forbidden("authors are mapped by tokens with write:admin");
  }
  if (entries.length > AUTHORS_MAX) throw invalid(`at most ${AUTHORS_MAX} authors can be mapped`);
  const names = JSON.stringify(entries.map(([, name]) => name.toLowerCase()));
  const found = await db
    .select({ id: users.id, lowerName: users.lowerName })
    .from(users)
    .where(
      sql`${users.lowerName} in (select value from json_each(${names})) and ${users.kind} = 'user'`,
    );
  const ids = new Map(found.map(({ id, lowerName }) => [lowerName, id]));
  return Object.fromEntries(
    entries.map(([author, name]) => {
      const id = ids.get(name.toLowerCase());
      if (id === undefined) throw invalid(`user does not exist [uid: 0, name: ${name}]`);
      return [author.toLowerCase(), id];
    }),
  );
}
