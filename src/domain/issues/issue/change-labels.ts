import { and, asc, eq, inArray, or } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { columnsOf, isViolation } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { issueLabels, labels, type Label } from "../../../db/schema/index.ts";
import { invalid, notFound } from "../../../lib/failure.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { findIssue } from "./find-issue.ts";
import {
  isTooManyLabels,
  type LabelChange,
  labelStatements,
  tooManyLabels,
} from "./assign-labels.ts";
import { requireLabeling } from "./require-labeling.ts";

/**
 * Changes the labels of an issue or pull request. Idempotent.
 *
 * @returns The labels that it has then, by name.
 * @throws Failure `invalid` if it would have too many.
 */
export async function changeLabels(
  ctx: Ctx,
  { repo, row }: IssueContext,
  change: LabelChange,
): Promise<Label[]> {
  const { db } = ctx;
  const issue = {
    repoId: repo.row.id,
    ownerId: repo.row.ownerId,
    issueId: row.id,
    number: row.number,
    isPull: row.isPull,
  };
  try {
    const { found } = await batch(db, {
      change: labelStatements(ctx, issue, change),
      found: labelsOfIssue(db, { issueId: row.id }),
    });
    return found;
  } catch (error) {
    // The issue, or one of the labels, was deleted meanwhile.
    if (isViolation(error, "FOREIGN KEY")) throw notFound("issue does not exist");
    throw isTooManyLabels(error) ? tooManyLabels() : error;
  }
}

const labelsOfIssue = prepare((db, { issueId }: Params<{ issueId: number }>) =>
  db
    .select(columnsOf(labels, "l"))
    .from(issueLabels)
    .innerJoin(labels, eq(labels.id, issueLabels.labelId))
    .where(eq(issueLabels.issueId, issueId))
    .orderBy(asc(labels.name), asc(labels.id)),
);

/**
 * Takes a label off an issue or pull request. Idempotent.
 *
 * SECURITY: a label of another repository or owner is answered like one that does not exist.
 *
 * @param number The number of the issue.
 * @throws Failure `not_found` for an issue that the caller may not see, `forbidden` for one that
 * they may not write to, and `invalid` for a label that neither the repository nor its owner has.
 */
export async function removeLabel(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  labelId: number,
): Promise<void> {
  const { id: repoId, ownerId } = repo.row;
  const [issue, [label]] = await Promise.all([
    findIssue(ctx, repo, number),
    usableLabels(ctx.db, { ids: [labelId], repoId, ownerId }),
  ]);
  requireLabeling(issue);
  if (!label) throw invalid(`label does not exist [label_id: ${labelId}]`);
  await changeLabels(ctx, issue, { kind: "remove", labelId });
}

/**
 * Refuses labels that neither the repository nor its owner has.
 *
 * @throws Failure `invalid`
 */
export async function requireUsableLabels(
  { db }: Ctx,
  { row }: RepositoryContext,
  ids: readonly number[],
): Promise<void> {
  const asked = { ids: [...ids], repoId: row.id, ownerId: row.ownerId };
  const found = ids.length === 0 ? [] : await usableLabels(db, asked);
  if (found.length < new Set(ids).size) throw invalid("One of the labels does not exist any more.");
}

const usableLabels = prepare(
  (db, p: Params<{ ids: readonly number[]; repoId: number; ownerId: number }>) =>
    db
      .select({ id: labels.id })
      .from(labels)
      .where(
        and(
          inArray(labels.id, p.ids),
          or(eq(labels.repoId, p.repoId), eq(labels.orgId, p.ownerId)),
        ),
      ),
);
