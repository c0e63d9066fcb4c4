import { sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import type { Ctx } from "../../context.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { issueLabels, issues, labels } from "../../db/schema/index.ts";
import type { NewSubject } from "./initial-assignees.ts";

/** The statements that label a new issue, for the batch that inserts it. */
export const initialLabelStatements = (
  ctx: Ctx,
  { issueId, repoId, ownerId }: NewSubject,
  labelIds: readonly number[],
): BatchItem<"sqlite">[] => [
  insertSelect(
    ctx.db,
    issueLabels,
    {
      issueId,
      labelId: labels.id,
      repoId,
      isPull: false,
      isClosed: sql`(select ${issues.isClosed} from ${issues} where ${issues.id} = ${issueId})`,
    },
    sql`
      from ${labels}
      where ${labels.id} in (select value from json_each(${JSON.stringify(labelIds)}))
        and (${labels.repoId} = ${repoId} or ${labels.orgId} = ${ownerId})`,
  ),
];
