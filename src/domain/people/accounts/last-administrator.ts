import { sql, type SQL } from "drizzle-orm";

import { users } from "../../../db/schema/index.ts";

/**
 * Whether another administrator remains who can sign in: the last one keeps the role and the
 * account.
 *
 * It belongs into the statement that takes either away, so that two concurrent requests can't
 * remove the last two.
 */
export const othersAdminister = (accountId: number | SQL): SQL => sql`exists (
  select 1
  from ${users} others
  where others.is_admin = 1
    and others.is_active
    and not others.is_login_prohibited
    and others.id <> ${accountId}
  limit 1
)`;
