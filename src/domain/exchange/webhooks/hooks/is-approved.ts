import { sql, type SQL } from "drizzle-orm";

import { isGranted } from "../../../../auth/access/grants.ts";
import { isOwnerOf } from "../../../../auth/access/organizations.ts";
import { hooks, repositories, users } from "../../../../db/schema/index.ts";

const approverId = sql`${hooks.approverId}`;

const administersRepository = sql`exists (
  select 1 from ${repositories}
  where ${repositories.id} = ${hooks.repoId} and ${isGranted(approverId, { mode: "admin" })}
)`;

/** Whether a hook's approver may still administer its owner, as SQL over `hooks`. */
export const isApproved: SQL = sql`case ${hooks.level}
  when 'repository' then ${isApprover(administersRepository)}
  when 'organization' then ${isApprover(isOwnerOf(sql`${hooks.ownerId}`, approverId))}
  when 'user' then ${isApprover(sql`${hooks.approverId} = ${hooks.ownerId}`)}
  else ${isApprover(sql`0`)}
end`;

function isApprover(condition: SQL): SQL {
  return sql`(
    ${hooks.approverId} = 0 or exists (
      select 1 from ${users}
      where ${users.id} = ${hooks.approverId} and ${users.isActive}
        and not ${users.isLoginProhibited} and (${users.isAdmin} or ${condition})
    )
  )`;
}
