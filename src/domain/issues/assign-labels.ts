import { and, eq, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { isViolation, onlyWhile } from "../../db/db.ts";
import { insertSelect } from "../../db/insert-select.ts";
import {
  issueLabels,
  issues,
  labels,
  repositories,
  timelineEntries,
} from "../../db/schema/index.ts";
import { recordIfChanged } from "../../events/record.ts";
import { invalid } from "../../lib/failure.ts";
import { exclusiveScopeSql } from "./exclusive-scope.ts";

/** The number of labels that an issue can have, and that one request can name: each list of issues shows all of them. */
export const ISSUE_LABELS_MAX = 100;

/** An issue or pull request whose labels change; its id and number may be those of a row that the batch inserts. */
export interface LabeledIssue {
  readonly repoId: number;
  readonly ownerId: number;
  readonly issueId: number | SQL<number>;
  readonly number: number | SQL<number>;
  readonly isPull: boolean;
}

/** Labels by their ids, or by their names, which several labels may share. */
export type WantedLabels =
  | { readonly ids: readonly number[] }
  | { readonly names: readonly string[] };

/** What happens to the labels of an issue. */
export type LabelChange =
  | { readonly kind: "add" | "replace"; readonly wanted: WantedLabels }
  | { readonly kind: "remove"; readonly labelId: number }
  | { readonly kind: "clear" };

/**
 * The statements that change the labels of an issue, for the batch of the change: the labels, the entries of the
 * timeline, the time of the issue, and the event. Where nothing changes they write nothing.
 *
 * Which labels come and go is decided by the rows at the time of the write, so that of any number of concurrent requests
 * each leaves at most one label of an exclusive scope: a label takes the others of its scope off, and among wanted
 * labels of one scope the last one by name stays.
 *
 * SECURITY: labels that belong neither to the repository nor to its present owner are ignored.
 *
 * The batch fails with `isTooManyLabels` where the issue would have more than `ISSUE_LABELS_MAX`.
 */
export function labelStatements(ctx: Ctx, issue: LabeledIssue, change: LabelChange) {
  const { db, now } = ctx;
  const { repoId, ownerId, issueId, number, isPull } = issue;
  const { added, removed } = changedLabels(issue, change);
  const idsOf = (rows: SQL): SQL => sql`json((
    select json_group_array(id)
    from (select id from ${rows} order by name, id)
  ))`;
  const entry = (rows: SQL, body: string) =>
    insertSelect(
      db,
      timelineEntries,
      {
        repoId,
        issueId: sql`${issueId}`,
        kind: "label",
        posterId: ctx.actor.user?.id ?? null,
        body,
        labelId: sql`changed.id`,
        createdAt: now,
        updatedAt: now,
      },
      sql`from ${rows} changed order by changed.name, changed.id`,
    );
  const isThis = sql`${issueLabels.issueId} = ${issueId}`;
  const hasRoom = sql`(
    select count(*) from ${issueLabels} where ${isThis}
  ) + (
    select count(*) from ${added}
  ) <= ${ISSUE_LABELS_MAX}`;
  const event = { repoId, ownerId, issueId, number, isPull };
  return [
    db
      .update(issues)
      .set({ updatedAt: now })
      .where(
        and(
          sql`${issues.id} = ${issueId}`,
          sql`(exists (select 1 from ${added}) or exists (select 1 from ${removed}))`,
        ),
      ),
    change.kind === "clear"
      ? recordIfChanged(ctx, { ...event, type: "issue.labels_cleared" })
      : recordIfChanged(ctx, {
          ...event,
          type: "issue.labeled",
          added: idsOf(added),
          removed: idsOf(removed),
        }),
    entry(removed, ""),
    entry(added, "1"),
    db.delete(issueLabels).where(and(isThis, sql`label_id in (select id from ${removed})`)),
    insertSelect(
      db,
      issueLabels,
      {
        issueId: issues.id,
        labelId: onlyWhile(hasRoom, sql`added.id`),
        repoId: issues.repoId,
        isPull: issues.isPull,
        isClosed: issues.isClosed,
      },
      sql`from ${issues} join ${added} added where ${eq(issues.id, sql`${issueId}`)}`,
    ),
  ] as const;
}

/** Whether a batch failed because an issue would have too many labels. */
export const isTooManyLabels = (error: unknown): boolean =>
  isViolation(error, "NOT NULL", "issue_labels.label_id");

/** The refusal for it. */
export const tooManyLabels = () => invalid(`an issue can have ${ISSUE_LABELS_MAX} labels at most`);

/** Subqueries of the ids and names of the labels that a change adds and removes, at this point of the batch. */
function changedLabels(issue: LabeledIssue, change: LabelChange): { added: SQL; removed: SQL } {
  const { issueId } = issue;
  const held = (isRemoved: SQL): SQL => sql`(
    select l.id, l.name
    from ${issueLabels} il
    join ${labels} l on l.id = il.label_id
    where il.issue_id = ${issueId} and ${isRemoved}
  )`;
  const nothing = sql`(select 0 as id, '' as name where 0)`;
  switch (change.kind) {
    case "clear":
      return { added: nothing, removed: held(sql`true`) };
    case "remove":
      return { added: nothing, removed: held(sql`l.id = ${change.labelId}`) };
    case "add":
    case "replace": {
      const kept = keptLabels(issue, change.wanted);
      const isOther = sql`l.id not in (select id from ${kept})`;
      const isEvicted = sql`${exclusiveScopeSql("l")} in (select scope from ${kept})`;
      return {
        added: sql`(
          select id, name
          from ${kept}
          where id not in (select label_id from ${issueLabels} where issue_id = ${issueId})
        )`,
        removed: held(change.kind === "replace" ? isOther : sql`${isOther} and ${isEvicted}`),
      };
    }
    default:
      return change satisfies never;
  }
}

/** A subquery of the wanted labels that the issue can have, of each exclusive scope the last one by name. */
function keptLabels({ repoId }: LabeledIssue, wanted: WantedLabels): SQL {
  const ownerId = sql`(select owner_id from ${repositories} where id = ${repoId})`;
  const isWanted =
    "ids" in wanted
      ? sql`l.id in (select value from json_each(${JSON.stringify(wanted.ids)}))`
      : sql`l.name in (select value from json_each(${JSON.stringify(wanted.names)}))`;
  return sql`(
    select id, name, scope
    from (
      select id, name, scope, row_number() over (
        partition by scope, iif(scope is null, id, 0)
        order by name desc, id desc
      ) as place
      from (
        select l.id, l.name, ${exclusiveScopeSql("l")} as scope
        from ${labels} l
        where (l.repo_id = ${repoId} and ${isWanted})
          or (l.org_id = ${ownerId} and ${isWanted})
      )
    )
    where place = 1
  )`;
}
