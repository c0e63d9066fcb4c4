import { and, eq, inArray, isNull, ne, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { crossShardEntries, repositories, users } from "../../db/schema/index.ts";
import { storeEntry } from "../cross-shard/entry-statements.ts";
import { sendEntriesNow } from "../cross-shard/send-entries.ts";
import type { RefKind, ReferringText, Told, WantedReference } from "./referring-text.ts";

/**
 * Makes timelines of other databases tell of exactly those references that a text has, as `updateReferences`. What is to be told is stored
 * beside the text, and then sent.
 *
 * Idempotent, also concurrently: the statement that stores an entry stores it once.
 *
 * Cost: one round trip if the text had and has none; otherwise one or two of the first database and one of this one more, and what
 * `sendEntries` costs.
 *
 * @param isStale Whether a reference that was told is not one of the text any more.
 */
export async function updateFarReferences(
  ctx: Ctx,
  text: ReferringText,
  kind: RefKind,
  { wanted, isStale }: { wanted: readonly WantedReference[]; isStale: (told: Told) => boolean },
): Promise<void> {
  const { db, now } = ctx;
  const told = await listTold(ctx, text, kind);
  const stale = told.filter(isStale).map(({ id }) => id);
  const known = new Set(told.filter((each) => !isStale(each)).map(({ issueId }) => issueId));
  const missing = wanted.filter(({ issueId }) => !known.has(issueId));
  if (stale.length === 0 && missing.length === 0) return;
  await db.batch([
    db
      .update(crossShardEntries)
      // A worker that is sending it comes first.
      .set({ state: "gone", dueAt: sql`coalesce(${crossShardEntries.dueAt}, ${now})` })
      .where(
        inArray(crossShardEntries.id, sql`(select value from json_each(${JSON.stringify(stale)}))`),
      ),
    ...missing.map(({ repoId, issueId, number, action }) =>
      storeEntry(
        ctx,
        {
          kind,
          subject: text.issue,
          commentId: text.commentId,
          to: { id: issueId, repoId, number },
          refAction: action,
        },
        sql`where ${isThere(text)} and not exists (
          select 1 from ${crossShardEntries}
          where ${and(isFarOfText(text, kind), eq(crossShardEntries.toIssueId, issueId))}
        )`,
      ),
    ),
  ]);
  await sendEntriesNow(ctx);
}

/** The condition that the text was not deleted meanwhile. */
const isThere = ({ issue, commentId }: ReferringText) =>
  commentId === undefined
    ? sql`exists (select 1 from issues where id = ${issue.id})`
    : sql`exists (select 1 from timeline_entries where id = ${commentId})`;

/** The condition for entries that tell issues of other databases of the references of a text. */
export const isFarOfText = ({ issue, commentId }: ReferringText, kind: RefKind) =>
  and(
    eq(crossShardEntries.issueId, issue.id),
    commentId === undefined
      ? isNull(crossShardEntries.commentId)
      : eq(crossShardEntries.commentId, commentId),
    eq(crossShardEntries.kind, kind),
    ne(crossShardEntries.state, "gone"),
  );

/** Lists what is told, with the present names of the repositories. Those of deleted ones are missing. */
async function listTold(
  { db, directory }: Ctx,
  text: ReferringText,
  kind: RefKind,
): Promise<Told[]> {
  const rows = await db
    .select({
      id: crossShardEntries.id,
      issueId: crossShardEntries.toIssueId,
      repoId: crossShardEntries.toRepoId,
      number: crossShardEntries.toNumber,
      action: crossShardEntries.refAction,
    })
    .from(crossShardEntries)
    .where(isFarOfText(text, kind));
  if (rows.length === 0) return [];
  const ids = JSON.stringify(rows.map(({ repoId }) => repoId));
  const names = await directory
    .select({ id: repositories.id, owner: users.lowerName, name: repositories.lowerName })
    .from(repositories)
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(inArray(repositories.id, sql`(select value from json_each(${ids}))`));
  const namesById = new Map(names.map((each) => [each.id, each]));
  return rows.flatMap((row) => {
    const named = namesById.get(row.repoId);
    return named ? [{ ...row, owner: named.owner, name: named.name }] : [];
  });
}
