import { sql } from "drizzle-orm";

import { isRepositoryVisible } from "../../../auth/access/visible-repositories.ts";
import { type Principal, principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { repositories, users } from "../../../db/schema/index.ts";
import { invalidField } from "../../../lib/failure.ts";

/** A repository to which a token is bound. */
export interface BoundRepository {
  id: number;
  fullName: string;
}

/**
 * Finds repositories by name, each visible to the caller; a bound token sees only its own
 * repositories.
 *
 * @param field The field that names them.
 * @throws Failure `invalid` if one of them is not there, or not for the caller.
 */
export async function findVisibleRepositories(
  ctx: Pick<Ctx, "db" | "actor">,
  fullNames: readonly string[],
  field: string,
): Promise<BoundRepository[]> {
  const lowerNames = [...new Set(fullNames.map((name) => name.toLowerCase()))];
  const found = await visibleRepositories(ctx.db, {
    lowerNames,
    principal: principalOf(ctx.actor),
  });
  if (found.length !== lowerNames.length) {
    const known = new Set(found.map((each) => each.fullName.toLowerCase()));
    const missing = lowerNames.find((name) => !known.has(name));
    throw invalidField(
      field,
      `must name repositories that exist, unlike ${JSON.stringify(missing)}`,
    );
  }
  return found;
}

interface NamedRepositories {
  readonly lowerNames: readonly string[];
  readonly principal: Principal;
}

const visibleRepositories = prepare((db, { lowerNames, principal }: Params<NamedRepositories>) => {
  const fullName = sql<string>`${users.name} || '/' || ${repositories.name}`;
  return db
    .select({ id: repositories.id, fullName: fullName.as("full_name") })
    .from(repositories)
    .innerJoin(users, sql`${users.id} = ${repositories.ownerId}`)
    .where(
      sql`
        (${repositories.ownerLowerName}, ${repositories.lowerName}) in (
          select substr(value, 1, instr(value, '/') - 1), substr(value, instr(value, '/') + 1)
          from ${lowerNames}
        )
        and ${isRepositoryVisible(principal)}`,
    )
    .orderBy(repositories.id);
});
