import { sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { contentVersions, issues } from "../../db/schema/index.ts";
import type { IssueContext } from "../../shapes/issues/issue.ts";

/**
 * The statements that keep a new text of an issue's body, before it is stored; and with the first edit the original, which
 * is not kept until then.
 */
export function issueVersionStatements(ctx: Ctx, { row }: IssueContext, body: string) {
  const { db, actor, now } = ctx;
  const isChanged = sql`${issues.id} = ${row.id} and ${issues.body} <> ${body}`;
  const hasNone = sql`not exists (
    select 1
    from ${contentVersions}
    where ${contentVersions.issueId} = ${row.id} and ${contentVersions.entryId} is null
  )`;
  return [
    insertSelect(
      db,
      contentVersions,
      {
        issueId: issues.id,
        editorId: issues.posterId,
        body: issues.body,
        createdAt: issues.createdAt,
      },
      sql`from ${issues} where ${isChanged} and ${hasNone}`,
    ),
    insertSelect(
      db,
      contentVersions,
      { issueId: issues.id, editorId: actor.user?.id ?? null, body, createdAt: now },
      sql`from ${issues} where ${isChanged}`,
    ),
  ] as const;
}
