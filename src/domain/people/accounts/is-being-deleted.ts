import { sql, type SQL } from "drizzle-orm";

import { accountDeletions } from "../../../db/schema/index.ts";

/** Whether an account is being deleted. */
export const isBeingDeleted = (accountId: SQL): SQL => sql`exists (
  select 1 from ${accountDeletions} deletion where deletion.account_id = ${accountId}
)`;
