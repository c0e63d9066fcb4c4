import { and, eq, isNull, sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import type { Database } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import type { Params } from "../../../db/prepared.ts";
import { contentVersions, issues, timelineEntries } from "../../../db/schema/index.ts";

/** A text with a history: the body of an issue or pull request, or a comment. */
interface VersionedText {
  readonly issueId: number | SQL;
  /** The comment; null for the issue's own body. */
  readonly entryId: number | SQL | null;
}

/** The condition for the versions of a text. */
export const isVersionOf = ({ issueId, entryId }: VersionedText): SQL | undefined =>
  and(
    eq(contentVersions.issueId, issueId),
    entryId === null ? isNull(contentVersions.entryId) : eq(contentVersions.entryId, entryId),
  );

/**
 * The statement that keeps the original text before its first edit: the present one, unless there
 * are versions.
 *
 * @param isEdited The condition of the edit on the row with the text.
 */
export const insertOriginal = (db: Database, text: VersionedText, isEdited: SQL | undefined) => {
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

/** Text by the caller, as an argument of a prepared query. */
export interface EditArgument {
  readonly body: string;
  readonly editorId: number | null;
  readonly createdAt: number;
}

export const editArgument = ({ actor, now }: Ctx, body: string): EditArgument => ({
  body,
  editorId: actor.user?.id ?? null,
  createdAt: now,
});

/**
 * The statement that adds a version of a text.
 *
 * @param from The clauses after the selected columns: `from … where …`.
 */
export const insertVersion = (
  db: Database,
  text: VersionedText,
  edit: Params<EditArgument>,
  from: SQL,
) => insertSelect(db, contentVersions, { ...text, ...edit }, from);
