import { and, type Column, eq, type SQL, sql } from "drizzle-orm";

import { attachmentLooseFiles } from "../../../db/schema/index.ts";

/** The condition that a file was noted and its note has not expired. */
export const isNoted = (uuid: string | Column): SQL => sql`exists (
  select 1
  from ${attachmentLooseFiles}
  where ${and(
    eq(attachmentLooseFiles.uuid, uuid),
    // By the database's clock when the statement runs.
    sql`${attachmentLooseFiles.expiresAt} > unixepoch() * 1000`,
  )}
)`;
