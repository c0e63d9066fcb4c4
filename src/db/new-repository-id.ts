import { sql, type SQL } from "drizzle-orm";

import { repositories } from "./schema/index.ts";

/** A new repository: by its id or, in the batch that inserts it, by its owner and its name in lower case. */
export type NewRepositoryRef<N = number, T = string> =
  | { readonly repoId: N }
  | { readonly ownerId: N; readonly lowerName: T };

/** Its id, as a value of a statement. */
export const newRepositoryId = (ref: NewRepositoryRef<number | SQL, string | SQL>): SQL<number> =>
  "repoId" in ref
    ? sql<number>`${ref.repoId}`
    : sql<number>`(
        select ${repositories.id}
        from ${repositories}
        where ${repositories.ownerId} = ${ref.ownerId}
          and ${repositories.lowerName} = ${ref.lowerName}
      )`;
