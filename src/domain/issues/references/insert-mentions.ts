import { sql } from "drizzle-orm";

import { isBlockedBy } from "../../../auth/access/blocks.ts";
import { mentionedSql, mentionedUserIds } from "../../../auth/access/mentioned-users.ts";
import { reaches } from "../../../auth/access/people.ts";
import type { Ctx } from "../../../context.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { issueMentions, issues, users } from "../../../db/schema/index.ts";
import { unitOf } from "../issue/find-issue.ts";
import type { TextReferences } from "./find-references.ts";
import type { ReferringText } from "./update-references.ts";

/**
 * Stores the mentions of a text: of accounts that may see the issue and do not block its author.
 *
 * SECURITY: lists of "issues that mention me" must not show issues that their reader may not
 * see.
 */
export async function insertMentions(
  { db, actor }: Ctx,
  { repo, issue }: ReferringText,
  mentioned: Pick<TextReferences, "users" | "teams">,
): Promise<void> {
  if (mentioned.users.length === 0 && mentioned.teams.length === 0) return;
  const { id: issueId, repoId } = issue;
  const userId = sql`${users.id}`;
  const mentionedIds = mentionedUserIds(repo.row.ownerId, mentionedSql(mentioned));
  await insertSelect(
    db,
    issueMentions,
    { issueId, userId, repoId },
    sql`
      from ${users}
      where ${users.id} in (select user_id from (${mentionedIds}))
        and ${reaches(userId, repo.row, { unit: unitOf(issue), mode: "read" })}
        and not ${isBlockedBy(sql`${actor.user?.id ?? 0}`, userId)}
        and exists (select 1 from ${issues} where ${issues.id} = ${issueId})`,
  ).onConflictDoNothing();
}
