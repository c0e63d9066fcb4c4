import { and, asc, count, desc, isNull, sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { labels, type Label } from "../../../db/schema/index.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";
import { isLabelOfId, type LabelOwner, type LabelOwnerId, labelOwnerId } from "./label-owner.ts";

const issueCount = sql`(${labels.openIssueCount} + ${labels.closedIssueCount})`;

/** The orders of a list of labels; without one it is by name. */
const ORDERS = {
  reversealphabetically: desc(labels.name),
  mostissues: desc(issueCount),
  leastissues: asc(issueCount),
} as const satisfies Record<string, SQL>;

export type LabelOrder = keyof typeof ORDERS;

export const LABEL_ORDERS = Object.keys(ORDERS) as LabelOrder[];

/**
 * Lists the labels of a repository, without those of its organization, or of an organization.
 *
 * @param options.hidesArchived Whether labels that are archived are left out.
 */
export async function listLabels(
  { db }: Ctx,
  owner: LabelOwner,
  order: LabelOrder | undefined,
  { size, offset }: Slice,
  { hidesArchived = false } = {},
): Promise<Listed<Label>> {
  const args = { owner: labelOwnerId(owner), size, offset };
  const page = labelsOf(db, args, { order, hidesArchived });
  return toListedPage(await batch(db, page));
}

type PageParams = Params<Slice & { owner: LabelOwnerId }>;

interface PageShape {
  order: LabelOrder | undefined;
  hidesArchived: boolean;
}

const labelsOf = prepareAll(
  (db, { owner, size, offset }: PageParams, { order, hidesArchived }: PageShape) => {
    const isListed = and(isLabelOfId(owner), hidesArchived ? isNull(labels.archivedAt) : undefined);
    return {
      rows: db
        .select()
        .from(labels)
        .where(isListed)
        .orderBy(order ? ORDERS[order] : asc(labels.name), asc(labels.id))
        .limit(size)
        .offset(offset),
      counted: db
        .select({ total: count().as("total") })
        .from(labels)
        .where(isListed),
    };
  },
);
