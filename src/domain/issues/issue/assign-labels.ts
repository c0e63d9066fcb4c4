import { and, eq, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { isViolation, onlyWhile } from "../../../db/db.ts";
import { derivedTable } from "../../../db/derived-table.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { COMPUTED } from "../../../db/json-of.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import {
  issueLabels,
  issues,
  labels,
  repositories,
  timelineEntries,
} from "../../../db/schema/index.ts";
import { eventArgument, type EventArgument, IF_CHANGED, recordBy } from "../../../events/record.ts";
import { invalid } from "../../../lib/failure.ts";
import { exclusiveScope } from "./exclusive-scope.ts";
import { entryArgument, type EntryArgument } from "./insert-entry.ts";
import { type IssueArgument, issueSql } from "./new-issue-id.ts";

/**
 * The number of labels that an issue can have, and that one request can name: each list of issues
 * shows all of them.
 */
export const ISSUE_LABELS_MAX = 100;

/**
 * An issue or pull request whose labels change; without id and number, the one that the batch
 * inserts.
 */
export interface LabeledIssue {
  readonly repoId: number;
  readonly ownerId: number;
  readonly issueId?: number;
  readonly number?: number;
  readonly isPull: boolean;
}

/** Labels by their ids, or by their names, which several labels may share. */
export type LabelKeys = { readonly ids: readonly number[] } | { readonly names: readonly string[] };

/** A change of the labels of an issue. */
export type LabelChange =
  | { readonly kind: "add" | "replace"; readonly labels: LabelKeys }
  | { readonly kind: "remove"; readonly labelId: number }
  | { readonly kind: "clear" };

/**
 * The statements that change the labels of an issue, for the batch of the change: the labels, the
 * entries of the timeline, the time of the issue, and the event. Where nothing changes they write
 * nothing.
 *
 * Which labels come and go is decided by the rows at the time of the write, so that of any number
 * of concurrent requests each leaves at most one label of an exclusive scope: a label takes the
 * others of its scope off, and among new labels of one scope the last one by name stays.
 *
 * SECURITY: labels that belong neither to the repository nor to its present owner are ignored.
 *
 * The batch fails with `isTooManyLabels` where the issue would have more than `ISSUE_LABELS_MAX`.
 */
export function labelStatements(ctx: Ctx, issue: LabeledIssue, change: LabelChange) {
  const { repoId, issueId } = issue;
  const subject = { issueId: COMPUTED, number: COMPUTED, ...issue };
  const event =
    change.kind === "clear"
      ? eventArgument(ctx, { ...subject, type: "issue.labels_cleared" })
      : eventArgument(ctx, {
          ...subject,
          type: "issue.labeled",
          added: COMPUTED,
          removed: COMPUTED,
        });
  const args: LabelArguments = {
    repoId,
    ...(issueId !== undefined && { issueId }),
    event,
    entry: entryArgument(ctx),
    ...("labels" in change && { keys: change.labels }),
    ...(change.kind === "remove" && { labelId: change.labelId }),
  };
  return changeLabelsOf(ctx.db, args, { kind: change.kind });
}

interface LabelArguments extends IssueArgument {
  readonly event: EventArgument;
  readonly entry: EntryArgument;
  readonly keys?: LabelKeys;
  readonly labelId?: number;
}

/** Labels that a change adds or removes. */
const changed = derivedTable("changed", "id", "name");
/** Labels that an issue has after a change. */
const kept = derivedTable("kept", "id", "name", "scope");

const changeLabelsOf = prepareAll(
  (db, p: Params<LabelArguments>, { kind }: Pick<LabelChange, "kind">) => {
    const { repoId, entry } = p;
    const { issueId, computed } = issueSql(p);
    const { added, removed } = changedLabels({ repoId, issueId }, kind, p);
    const idsOf = (rows: SQL): SQL => sql`json((
      select json_group_array(id)
      from (select ${changed.id} from ${rows} ${changed} order by ${changed.name}, ${changed.id})
    ))`;
    const insertLabelEntries = (rows: SQL, body: string) =>
      insertSelect(
        db,
        timelineEntries,
        { repoId, issueId, kind: "label", ...entry, body, labelId: changed.id },
        sql`from ${rows} ${changed} order by ${changed.name}, ${changed.id}`,
      );
    const isThis = sql`${issueLabels.issueId} = ${issueId}`;
    const hasRoom = sql`(
      select count(*) from ${issueLabels} where ${isThis}
    ) + (
      select count(*) from ${added}
    ) <= ${ISSUE_LABELS_MAX}`;
    const changes = kind === "clear" ? {} : { added: idsOf(added), removed: idsOf(removed) };
    return [
      db
        .update(issues)
        .set({ updatedAt: entry.updatedAt })
        .where(
          and(
            sql`${issues.id} = ${issueId}`,
            sql`(exists (select 1 from ${added}) or exists (select 1 from ${removed}))`,
          ),
        ),
      recordBy(db, p.event, { ...computed, ...changes }, IF_CHANGED),
      insertLabelEntries(removed, ""),
      insertLabelEntries(added, "1"),
      db
        .delete(issueLabels)
        .where(and(isThis, sql`${issueLabels.labelId} in (select id from ${removed})`)),
      insertSelect(
        db,
        issueLabels,
        {
          issueId: issues.id,
          labelId: onlyWhile(hasRoom, sql`${changed.id}`),
          repoId: issues.repoId,
          isPull: issues.isPull,
          isClosed: issues.isClosed,
        },
        sql`from ${issues} join ${added} ${changed} where ${eq(issues.id, sql`${issueId}`)}`,
      ),
    ] as const;
  },
);

/** Whether a batch failed because an issue would have too many labels. */
export const isTooManyLabels = (error: unknown): boolean =>
  isViolation(error, "NOT NULL", "issue_labels.label_id");

/** The refusal for it. */
export const tooManyLabels = () => invalid(`an issue can have ${ISSUE_LABELS_MAX} labels at most`);

/**
 * Subqueries of the ids and names of the labels that a change adds and removes, at this point of
 * the batch.
 */
function changedLabels(
  { repoId, issueId }: { repoId: SQL; issueId: SQL },
  kind: LabelChange["kind"],
  { labelId, keys }: Pick<Params<LabelArguments>, "labelId" | "keys">,
): { added: SQL; removed: SQL } {
  const attached = (isRemoved: SQL): SQL => sql`(
    select ${labels.id}, ${labels.name}
    from ${issueLabels}
    join ${labels} on ${labels.id} = ${issueLabels.labelId}
    where ${issueLabels.issueId} = ${issueId} and ${isRemoved}
  )`;
  const nothing = sql`(select 0 as id, '' as name where 0)`;
  switch (kind) {
    case "clear":
      return { added: nothing, removed: attached(sql`true`) };
    case "remove":
      return { added: nothing, removed: attached(sql`${labels.id} = ${labelId}`) };
    case "add":
    case "replace": {
      if (!keys) throw new Error("no labels are given");
      const rows = sql`${keptLabels(repoId, keys)} ${kept}`;
      const isOther = sql`${labels.id} not in (select ${kept.id} from ${rows})`;
      const isEvicted = sql`${exclusiveScope} in (select ${kept.scope} from ${rows})`;
      return {
        added: sql`(
          select ${kept.id}, ${kept.name}
          from ${rows}
          where ${kept.id} not in (
            select ${issueLabels.labelId}
            from ${issueLabels}
            where ${issueLabels.issueId} = ${issueId}
          )
        )`,
        removed: attached(kind === "replace" ? isOther : sql`${isOther} and ${isEvicted}`),
      };
    }
    default:
      return kind satisfies never;
  }
}

/**
 * A subquery of the requested labels that the issue can have, of each exclusive scope the last one
 * by name.
 */
function keptLabels(repoId: SQL, keys: Params<LabelKeys>): SQL {
  const ownerId = sql`(
    select ${repositories.ownerId} from ${repositories} where ${repositories.id} = ${repoId}
  )`;
  const isRequested =
    "ids" in keys ? sql`${labels.id} in ${keys.ids}` : sql`${labels.name} in ${keys.names}`;
  return sql`(
    select id, name, scope
    from (
      select id, name, scope, row_number() over (
        partition by scope, iif(scope is null, id, 0)
        order by name desc, id desc
      ) as position
      from (
        select ${labels.id}, ${labels.name}, ${exclusiveScope} as scope
        from ${labels}
        where (${labels.repoId} = ${repoId} and ${isRequested})
          or (${labels.orgId} = ${ownerId} and ${isRequested})
      )
    )
    where position = 1
  )`;
}
