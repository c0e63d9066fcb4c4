import { and, asc, count, eq, inArray, isNotNull, isNull, sql, type SQL } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import type { Ctx } from "../../../context.ts";
import { attachmentLooseFiles, attachments } from "../../../db/schema/index.ts";
import { isNoted } from "./is-noted.ts";

/** The condition for a file that no text has claimed yet. */
export const isUnclaimed: SQL | undefined = and(
  isNull(attachments.issueId),
  isNull(attachments.releaseId),
);

/** The issue, or the comment of one, that a batch writes. */
interface Claimant {
  readonly repoId: number;
  readonly issueId: number | SQL<number>;
  /** Selects the id of a comment that the batch wrote; undefined for the text of the issue. */
  readonly entryId?: SQL<number>;
}

const LINK = /\/attachments\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/g;
/** Links of a text that are looked at. */
const LINKS_MAX = 1000;

/**
 * The statements, in the batch that writes a text of the caller, by which the text gets the files
 * that the caller has uploaded for it: those that it links, as far as it may have more files.
 *
 * SECURITY: a file that another user has uploaded, or for another repository, stays where it is.
 */
export function claimUploads(
  { db, actor, config }: Ctx,
  { repoId, issueId, entryId }: Claimant,
  text: string,
): BatchItem<"sqlite">[] {
  const linked = new Set(Array.from(text.matchAll(LINK), ([, uuid]) => uuid));
  const list = JSON.stringify([...linked].slice(0, LINKS_MAX));
  if (linked.size === 0 || !actor.user) return [];
  const isLinked = (uuid: typeof attachments.uuid | typeof attachmentLooseFiles.uuid) =>
    sql`${uuid} in (select value from json_each(${list}))`;
  const room = sql`(
    select max(0, ${config.attachmentCountMax} - ${count()})
    from ${attachments}
    where ${attachments.issueId} = ${issueId} and ${attachments.entryId} is ${entryId ?? null}
  )`;
  const claimed = sql`(
    select ${attachments.id}
    from ${attachments}
    where ${and(
      isLinked(attachments.uuid),
      isUnclaimed,
      eq(attachments.repoId, repoId),
      eq(attachments.uploaderId, actor.user.id),
      isNoted(attachments.uuid),
    )}
    order by ${asc(attachments.id)}
    limit ${room}
  )`;
  return [
    db
      .update(attachments)
      .set({ issueId: sql`${issueId}`, ...(entryId && { entryId }) })
      .where(and(inArray(attachments.id, claimed), entryId && sql`${entryId} is not null`)),
    db.delete(attachmentLooseFiles).where(
      and(
        isLinked(attachmentLooseFiles.uuid),
        inArray(
          attachmentLooseFiles.uuid,
          sql`(
              select ${attachments.uuid}
              from ${attachments}
              where ${isLinked(attachments.uuid)} and ${isNotNull(attachments.issueId)}
            )`,
        ),
      ),
    ),
  ];
}
