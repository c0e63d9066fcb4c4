import { sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { derivedTable } from "../../../db/derived-table.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { packageUsage, repositories, users } from "../../../db/schema/index.ts";

/** How many bytes an owner stores. */
export interface OwnerStorage {
  readonly name: string;
  readonly kind: "user" | "organization";
  readonly repoCount: number;
  readonly gitBytes: number;
  readonly lfsBytes: number;
  readonly packageBytes: number;
}

/** The largest repositories of each visibility whose owners are compared. */
const COMPARED_MAX = 1000;
/** Owners that are listed. */
const OWNERS_MAX = 50;
/** Repositories of an owner that are added up. */
const ADDED_MAX = 10_000;

const owners = derivedTable("owners", "ownerId", "bytes");
const sizes = derivedTable("sizes", "gitBytes", "lfsBytes");

/**
 * Lists the owners who store most, the largest first: owners of the largest repositories, and of
 * the largest sets of packages.
 *
 * Cost: one round trip. What it reads does not grow with the service beyond its bounds.
 */
export const listStorage = ({ db }: Ctx): Promise<OwnerStorage[]> =>
  storageOfOwners(db, { ownersMax: OWNERS_MAX });

const storageOfOwners = prepare((db, { ownersMax }: Params<{ ownersMax: number }>) => {
  const largest = (["public", "limited", "private"] as const).map(
    (visibility) => sql`
      select * from (
        select ${repositories.ownerId} as owner_id,
          ${repositories.sizeBytes} + ${repositories.lfsSizeBytes} as bytes
        from ${repositories}
        where ${repositories.visibility} = ${visibility}
        order by (${repositories.sizeBytes} + ${repositories.lfsSizeBytes}) desc
        limit ${COMPARED_MAX}
      )`,
  );
  const published = sql`
    select * from (
      select ${packageUsage.ownerId} as owner_id, ${packageUsage.sizeBytes} as bytes
      from ${packageUsage}
      order by ${packageUsage.sizeBytes} desc
      limit ${COMPARED_MAX}
    )`;
  const compared = sql`(
    select owner_id, sum(bytes) as bytes
    from (${sql.join([...largest, published], sql` union all `)})
    group by owner_id
    order by sum(bytes) desc
    limit ${ownersMax}
  ) ${owners}`;
  const added = (value: ReturnType<typeof sql>) => sql<number>`(
    select ${value}
    from (
      select ${repositories.sizeBytes} as git_bytes, ${repositories.lfsSizeBytes} as lfs_bytes
      from ${repositories}
      where ${repositories.ownerId} = ${owners.ownerId}
      limit ${ADDED_MAX}
    ) ${sizes}
  )`;
  const packageBytes = sql<number>`coalesce((
    select ${packageUsage.sizeBytes} from ${packageUsage}
    where ${packageUsage.ownerId} = ${owners.ownerId}
  ), 0)`;
  return db
    .select({
      name: users.name,
      kind: users.kind,
      repoCount: added(sql`count(*)`).as("repo_count"),
      gitBytes: added(sql`coalesce(sum(${sizes.gitBytes}), 0)`).as("git_sum"),
      lfsBytes: added(sql`coalesce(sum(${sizes.lfsBytes}), 0)`).as("lfs_sum"),
      packageBytes: packageBytes.as("package_sum"),
    })
    .from(compared)
    .innerJoin(users, sql`${users.id} = ${owners.ownerId}`)
    .orderBy(sql`git_sum + lfs_sum + package_sum desc`, users.lowerName);
});
