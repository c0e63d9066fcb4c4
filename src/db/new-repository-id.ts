import { sql, type SQL } from "drizzle-orm";

import type { Params } from "./prepared.ts";
import { repositories } from "./schema/index.ts";

/** A repository that the same batch inserts: by its owner, and its name in lower case. */
export interface NewRepositoryRef {
  readonly ownerId: number;
  readonly lowerName: string;
}

/** Its id, as a value of a statement. */
export const newRepositoryId = ({
  ownerId,
  lowerName,
}: NewRepositoryRef | Params<NewRepositoryRef>): SQL<number> =>
  sql<number>`(
    select ${repositories.id}
    from ${repositories}
    where ${repositories.ownerId} = ${ownerId} and ${repositories.lowerName} = ${lowerName}
  )`;
