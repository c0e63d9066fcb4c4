import { sql, type SQL } from "drizzle-orm";

import { insertSelect } from "../../../db/insert-select.ts";
import { newRepositoryId, type NewRepositoryRef } from "../../../db/new-repository-id.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { forkFamilies, repositories } from "../../../db/schema/index.ts";

/**
 * The family of forks of each repository of a query, within its network: the object of its root, ""
 * for the family that started the network.
 */
export const forkFamilyOf = (repoId: SQL = sql`${repositories.id}`): SQL<string> => sql`coalesce((
  select ${forkFamilies.rootName} from ${forkFamilies} where ${forkFamilies.repoId} = ${repoId}
), '')`;

interface NewFork {
  readonly fork: NewRepositoryRef;
  readonly parentId: number;
}

/** The statement by which a new fork belongs to the family of its parent. */
export const joinFamily = prepare((db, { fork, parentId }: Params<NewFork>) =>
  insertSelect(
    db,
    forkFamilies,
    { repoId: newRepositoryId(fork), rootName: forkFamilies.rootName },
    sql`from ${forkFamilies} where ${forkFamilies.repoId} = ${parentId}`,
  ),
);

interface NewRoot {
  readonly repo: NewRepositoryRef;
  readonly rootName: string;
}

/** The statement by which a new repository starts a family in the network of another one. */
export const startFamily = prepare((db, { repo, rootName }: Params<NewRoot>) =>
  db.insert(forkFamilies).values({ repoId: newRepositoryId(repo), rootName }),
);
