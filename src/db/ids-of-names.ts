import { sql, type SQL } from "drizzle-orm";

import { repositories, users } from "./schema/index.ts";

/** A name as rows are found by it. A parameter of a prepared query is bound in lower case. */
export const lowered = (name: string | SQL): string | SQL =>
  typeof name === "string" ? name.toLowerCase() : name;

/** The id of the repository of a name, for statements that are sent before it is known. */
export const idOfNamed = (owner: string | SQL, name: string | SQL): SQL => sql`(
  select ${repositories.id}
  from ${repositories}
  where ${repositories.ownerId} = ${idOfOwner(owner)}
    and ${repositories.lowerName} = ${lowered(name)}
)`;

/** The id of the account of a name. */
export const idOfOwner = (name: string | SQL): SQL => sql`(
  select ${users.id} from ${users} where ${users.lowerName} = ${lowered(name)}
)`;
