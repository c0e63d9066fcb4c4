import { eq, sql, type SQL } from "drizzle-orm";

import type { Actor } from "../../../auth/actor.ts";
import { type CallerArgument, toCallerSql } from "../../../auth/caller-sql.ts";
import { isAllowed } from "../../../auth/access/permission.ts";
import { TO_SEE } from "../../../auth/access/requirement.ts";
import { type Database, flagColumn } from "../../../db/db.ts";
import { idOfNamed } from "../../../db/ids-of-names.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { repositories, stars, watches } from "../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { type RepositoryRow, selectRepositories, toRepositoryContext } from "./find-repository.ts";

/** What a page of a repository shows of its relation to the reader. */
export interface ReaderFacts {
  readonly hasStarred: boolean;
  readonly isWatching: boolean;
  /** The repository that it was forked from, if the reader may see that. */
  readonly parent: RepositoryContext | undefined;
}

interface Named {
  readonly owner: string;
  readonly name: string;
}

type NamedParams = Params<Named & { caller: CallerArgument }>;

/** Selects the facts of a repository by its names, for a batch that is sent before it is known. */
export const selectReaderFacts = (db: Database, { owner, name }: Named, caller: CallerArgument) => {
  const args = { caller, owner: owner.toLowerCase(), name: name.toLowerCase() };
  return [togglesByName(db, args), parentByName(db, args)] as const;
};

const togglesByName = prepare((db, { caller, owner, name }: NamedParams) => {
  const { actorId } = toCallerSql(caller);
  const [star, watch] = [stars, watches].map((table) => {
    const isOfReader = sql`${table.userId} = ${actorId} and ${table.repoId} = ${repositories.id}`;
    return sql`exists (select 1 from ${table} where ${isOfReader})`;
  }) as [SQL, SQL];
  return db
    .select({
      hasStarred: flagColumn(star, "has_starred"),
      isWatching: flagColumn(watch, "is_watching"),
    })
    .from(repositories)
    .where(eq(repositories.id, idOfNamed(owner, name)));
});

const parentByName = prepare((db, { caller, owner, name }: NamedParams) => {
  const parentId = sql`(
    select ${repositories.parentId}
    from ${repositories}
    where ${repositories.id} = ${idOfNamed(owner, name)}
  )`;
  return selectRepositories(db, toCallerSql(caller)).where(eq(repositories.id, parentId));
});

/** The facts from the rows of `selectReaderFacts`. */
export function toReaderFacts(
  actor: Actor,
  [toggles, parents]: readonly [
    readonly Pick<ReaderFacts, "hasStarred" | "isWatching">[],
    readonly RepositoryRow[],
  ],
): ReaderFacts {
  const [toggle = { hasStarred: false, isWatching: false }] = toggles;
  const [row] = parents;
  const parent = row && toRepositoryContext(actor, row);
  // SECURITY: access to a fork does not imply access to its parent.
  return { ...toggle, parent: parent && isAllowed(parent, TO_SEE) ? parent : undefined };
}
