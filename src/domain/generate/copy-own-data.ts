import { eq, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { readRows, type RowRange, type RowSource, rowsOfTable } from "../../db/row-source.ts";
import { branchProtections, hooks, labels, type Repository } from "../../db/schema/index.ts";
import { UNDELIVERED } from "../repos/copy-default-hooks.ts";
import { COPIED_LABELS_MAX, copyLabels } from "../labels/copy-labels.ts";

/** Which own data of a template a new repository takes. */
interface OwnParts {
  readonly hasWebhooks: boolean;
  readonly hasLabels: boolean;
  readonly hasBranchRules: boolean;
}

/** Webhooks and rules that a repository takes from its template, at most. */
const COPIED_ROWS_MAX = 10_000;

/** The own data of a template that is copied. */
export interface TemplateData {
  readonly webhooks: readonly RowSource<typeof hooks>[];
  readonly labels: readonly RowSource<typeof labels>[];
  readonly branchRules: readonly RowSource<typeof branchProtections>[];
}

/**
 * Opens what a new repository takes of its template's own data. Where that of the new one may be in another database, it is read here; otherwise
 * the statements that write it read it.
 *
 * SECURITY: with webhooks it has their secrets, which stay sealed.
 *
 * Cost: none without shards, otherwise a round trip for each thousand rows of the template's database.
 */
export async function openTemplateData(
  ctx: Ctx,
  template: Repository,
  { hasWebhooks, hasLabels, hasBranchRules }: OwnParts,
): Promise<TemplateData> {
  const ranges = {
    webhooks: { isCopied: eq(hooks.repoId, template.id), countMax: COPIED_ROWS_MAX },
    labels: { isCopied: eq(labels.repoId, template.id), countMax: COPIED_LABELS_MAX },
    branchRules: {
      isCopied: eq(branchProtections.repoId, template.id),
      countMax: COPIED_ROWS_MAX,
    },
  };
  const isInOne = ctx.openShards().size === 0;
  const from = ctx.openShard(template.shard);
  const open = async <T extends typeof hooks | typeof labels | typeof branchProtections>(
    isWanted: boolean,
    table: T,
    range: RowRange,
  ): Promise<RowSource<T>[]> => {
    if (!isWanted) return [];
    return isInOne ? [rowsOfTable(table, range)] : readRows(from, table, range);
  };
  return {
    webhooks: await open(hasWebhooks, hooks, ranges.webhooks),
    labels: await open(hasLabels, labels, ranges.labels),
    branchRules: await open(hasBranchRules, branchProtections, ranges.branchRules),
  };
}

/**
 * The statements that give a new repository own data of its template, for the batch with its first own data.
 *
 * @param own Its database has the new repository's own data.
 */
export function copyOwnData(own: Ctx, data: TemplateData, repoId: SQL<number>) {
  const { db, now } = own;
  const webhooks = data.webhooks.map(({ columns, from }) =>
    insertSelect(
      db,
      hooks,
      {
        ...columns,
        id: sql`null`,
        repoId,
        approverId: own.actor.user?.id ?? 0,
        ...UNDELIVERED,
        createdAt: now,
        updatedAt: now,
      },
      from,
    ),
  );
  // Users and teams on their lists who have no access to the new repository are neither shown nor admitted there.
  const branchRules = data.branchRules.map(({ columns, from }) =>
    insertSelect(
      db,
      branchProtections,
      { ...columns, id: sql`null`, repoId, createdAt: now, updatedAt: now },
      from,
    ),
  );
  return [
    ...webhooks,
    ...data.labels.map((source) => copyLabels(own, source, repoId)),
    ...branchRules,
  ];
}
