import { asc, eq, inArray, or } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf } from "../../../db/db.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { type Label, labels, type Milestone, milestones } from "../../../db/schema/index.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";
import { toIssueContext } from "../issue/find-issue.ts";
import type { IssueFilter } from "./issue-query.ts";
import { selectList } from "./list-issues.ts";

/** Choices of each kind that are offered: a repository with more is searched by typed terms. */
const CHOICES_MAX = 200;

/** The labels and milestones that issues of a repository may have. */
export interface IssueChoices {
  /** Those of the repository and of its organization, by name. */
  readonly labels: readonly Label[];
  /** The open ones, the one that is due first in front. */
  readonly milestones: readonly Milestone[];
}

/** Selects the choices for issues of a repository: 200 of each kind at most. */
export const issueChoices = prepareAll(
  (db, { repoId, ownerId }: Params<{ repoId: number; ownerId: number }>) => ({
    labels: db
      .select()
      .from(labels)
      .where(or(eq(labels.repoId, repoId), eq(labels.orgId, ownerId)))
      .orderBy(asc(labels.name), asc(labels.id))
      .limit(CHOICES_MAX),
    milestones: db
      .select()
      .from(milestones)
      .where(allOf(eq(milestones.repoId, repoId), eq(milestones.isClosed, false)))
      .orderBy(asc(milestones.deadlineAt), asc(milestones.title), asc(milestones.id))
      .limit(CHOICES_MAX),
  }),
);

/** Finds the choices for issues of a repository. Cost: one round trip. */
export const findIssueChoices = ({ db }: Ctx, { row }: RepositoryContext): Promise<IssueChoices> =>
  batch(db, issueChoices(db, { repoId: row.id, ownerId: row.ownerId }));

/**
 * Lists issues or pull requests as `listIssues` does, with what a list may be narrowed by. A user
 * who does not exist has none.
 *
 * Cost: one round trip.
 *
 * @param filter Undefined if nothing can match.
 */
export async function listIssuesWithChoices(
  ctx: Ctx,
  repo: RepositoryContext,
  filter: IssueFilter | undefined,
  slice: Slice,
): Promise<Listed<IssueContext> & { choices: IssueChoices }> {
  const { id: repoId, ownerId } = repo.row;
  const {
    labels: found,
    milestones: open,
    ...page
  } = await batch(ctx.db, {
    ...selectList(ctx.db, repo, filter, slice),
    ...issueChoices(ctx.db, { repoId, ownerId }),
  });
  return {
    ...toListedPage(page, (row) => toIssueContext(repo, row)),
    choices: { labels: found, milestones: open },
  };
}

/** The names of labels, and the title of a milestone, of a repository. */
export interface FilterNames {
  readonly labels: ReadonlyMap<number, string>;
  readonly milestone: string | undefined;
}

/** Finds labels and a milestone of a repository by their ids. Unknown ids are left out. */
export async function findFilterNames(
  { db }: Ctx,
  { row }: RepositoryContext,
  ids: { labels: readonly number[]; milestone: number },
): Promise<FilterNames> {
  const found = await batch(db, filterNames(db, { repoId: row.id, ownerId: row.ownerId, ...ids }));
  return {
    labels: new Map(found.labels.map(({ id, name }) => [id, name])),
    milestone: found.milestones[0]?.title,
  };
}

interface FilterIds {
  readonly repoId: number;
  readonly ownerId: number;
  readonly labels: readonly number[];
  /** 0 for none. */
  readonly milestone: number;
}

const filterNames = prepareAll((db, p: Params<FilterIds>) => ({
  labels: db
    .select({ id: labels.id, name: labels.name })
    .from(labels)
    .where(
      allOf(
        inArray(labels.id, p.labels),
        or(eq(labels.repoId, p.repoId), eq(labels.orgId, p.ownerId)),
      ),
    ),
  milestones: db
    .select({ title: milestones.title })
    .from(milestones)
    .where(allOf(eq(milestones.id, p.milestone), eq(milestones.repoId, p.repoId))),
}));
