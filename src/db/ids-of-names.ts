import { sql, type SQL } from "drizzle-orm";

import { repositories, users } from "./schema/index.ts";

/** The id of the repository of a name, for statements that are sent before it is known. */
export const idOfNamed = (owner: string, name: string): SQL => sql`(
  select ${repositories.id}
  from ${repositories}
  where ${repositories.ownerId} = ${idOfOwner(owner)}
    and ${repositories.lowerName} = ${name.toLowerCase()}
)`;

/** The id of the account of a name. */
export const idOfOwner = (name: string): SQL => sql`(
  select ${users.id} from ${users} where ${users.lowerName} = ${name.toLowerCase()}
)`;
