import { and, eq, isNull, sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { contentVersions, issues, timelineEntries } from "../../db/schema/index.ts";

/** A text with a history: the body of an issue or pull request, or a comment. */
export interface VersionedText {
  readonly issueId: number;
  /** The comment; null for the issue's own body. */
  readonly entryId: number | null;
}

/** The condition for the versions of a text. */
export const isVersionOf = ({
  issueId,
  entryId,
}: {
  issueId: number | SQL;
  entryId: number | SQL | null;
}): SQL | undefined =>
  and(
    eq(contentVersions.issueId, issueId),
    entryId === null ? isNull(contentVersions.entryId) : eq(contentVersions.entryId, entryId),
  );

/**
 * The statement that keeps the original text before its first edit: the present one, unless there are versions.
 *
 * @param isEdited The condition of the edit on the row with the text.
 */
export const insertOriginal = ({ db }: Ctx, text: VersionedText, isEdited: SQL | undefined) => {
  const table = text.entryId === null ? issues : timelineEntries;
  const { posterId, body, createdAt } = table;
  return insertSelect(
    db,
    contentVersions,
    { ...text, editorId: posterId, body, createdAt },
    sql`
      from ${table}
      where ${isEdited}
        and not exists (select 1 from ${contentVersions} where ${isVersionOf(text)})`,
  );
};

/**
 * The statement that adds a version of an issue's body by the caller, before the body is changed.
 *
 * @param isEdited The condition of the edit on the row with the text.
 */
export const insertBodyVersion = (
  { db, actor, now }: Ctx,
  issueId: number,
  body: string,
  isEdited: SQL | undefined,
) =>
  insertSelect(
    db,
    contentVersions,
    { issueId, editorId: actor.user?.id ?? null, body, createdAt: now },
    sql`from ${issues} where ${isEdited}`,
  );

/** The statement that adds a version by the caller, if the previous statement of the batch changed a row. */
export const insertVersionIfChanged = (
  { db, actor, now }: Ctx,
  text: VersionedText,
  body: string,
) =>
  insertSelect(
    db,
    contentVersions,
    { ...text, editorId: actor.user?.id ?? null, body, createdAt: now },
    sql`where changes() > 0`,
  );
