import { eq, sql } from "drizzle-orm";

import { callerSql } from "../../../auth/caller-sql.ts";
import type { Ctx } from "../../../context.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { events, issues, repositories, timelineEntries } from "../../../db/schema/index.ts";
import type { Consequence } from "../../../events/consequence.ts";
import type { StoredUpdate } from "../../../shapes/events/activity.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { isResultRef } from "../../code/protections/merge-queue-rule.ts";
import { selectRepositories, toRepositoryContext } from "../../repos/repository/find-repository.ts";
import { actByCommit, type CommitAct, isActed } from "./act-by-commit.ts";
import { commitLink } from "./commit-link.ts";
import type { ReferredIssue } from "./find-references.ts";
import { findReferred } from "./find-referred.ts";
import { readCommitReferences, type ReferringCommit } from "./read-commit-references.ts";

/** The position at which the next step continues a push. */
interface PushState {
  /** The index among the push's updates of branches. */
  readonly update: number;
  /**
   * The index of the commit among those that the update added, and of the reference among the
   * commit's.
   */
  readonly commit: number;
  readonly reference: number;
}

const START: PushState = { update: 0, commit: 0, reference: 0 };

/**
 * Updated branches that one step reads at most; the first one whose commits change an issue ends
 * it.
 */
const BRANCHES_AT_ONCE = 50;

/**
 * Lists commits in the timelines of the issues to which they refer, and closes, reopens and books
 * time on issues as commits of the right branch request. The pusher does all of it, also for
 * commits of other authors.
 *
 * Idempotent: a commit does each of these at most once to an issue (`timeline_entries_commit`). In
 * one step an issue is changed at most once, so that a repeated step changes nothing back.
 */
export const referByCommits: Consequence = {
  name: "commit-references",
  kinds: ["repository.pushed"],
  // As `isOfBranch`, but for the branches of merge queues.
  isNeeded: sql`exists (
    select 1
    from json_each(${events.payload}, '$.updates')
    where value ->> 'after' is not null
      and value ->> 'hasNoReferences' is null
      and value ->> 'ref' like 'refs/heads/%'
  )`,
  async handle(ctx, { event }, budget, state) {
    if (event.type !== "repository.pushed" || ctx.actor.user === undefined) return undefined;
    // Nobody pushed these commits: they have closed issues where they come from.
    if (event.isMirror) return undefined;
    const begin = (state as PushState | undefined) ?? START;
    const updates = event.updates.filter(isOfBranch);
    if (begin.update >= updates.length) return undefined;
    budget.consume(5);
    const [row] = await selectRepositories(ctx.db, callerSql(ctx.actor)).where(
      eq(repositories.id, event.repoId),
    );
    if (!row) return undefined;
    const repo = toRepositoryContext(ctx.actor, row);
    const stored = ctx.git.repository(repo.row);
    const repository = await stored.openByBlock(await stored.snapshot("none"));
    let at = begin;
    for (const update of updates.slice(begin.update, begin.update + BRANCHES_AT_ONCE)) {
      const { commits, next } = await readCommitReferences(ctx, repository, update, at.commit);
      const places = listReferences(commits, at).filter(
        // SECURITY: a bound token pushes with the rights of its account, and must not reach further
        // by a commit.
        ({ issue }) => event.isConfined !== true || isIn(repo, issue),
      );
      const { stoppedAt, hasActed } = await apply(ctx, repo, update.ref, places);
      if (stoppedAt) return { update: at.update, ...stoppedAt };
      if (next !== undefined) return { update: at.update, commit: next, reference: 0 };
      at = { ...START, update: at.update + 1 };
      if (hasActed) break;
    }
    return at.update < updates.length ? at : undefined;
  },
};

const isIn = ({ owner, row }: RepositoryContext, { repo }: ReferredIssue): boolean =>
  repo === undefined || (repo.owner === owner.lowerName && repo.name === row.lowerName);

const isOfBranch = ({ ref, after, hasNoReferences }: StoredUpdate): boolean =>
  ref.startsWith("refs/heads/") &&
  after !== null &&
  hasNoReferences !== true &&
  // Commits that a merge queue tests count once they are on the base branch.
  !isResultRef(ref, after);

/** A reference with its position. */
interface PlacedReference {
  readonly commit: ReferringCommit;
  readonly reference: number;
  readonly issue: ReferredIssue;
}

const listReferences = (commits: readonly ReferringCommit[], { commit, reference }: PushState) =>
  commits.flatMap((each) =>
    each.issues.flatMap((issue, index): PlacedReference[] =>
      each.index === commit && index < reference ? [] : [{ commit: each, reference: index, issue }],
    ),
  );

/**
 * @returns The position at which the next step continues, if not everything was applied, and
 *   whether an issue was changed.
 */
async function apply(
  ctx: Ctx,
  repo: RepositoryContext,
  branch: string,
  places: readonly PlacedReference[],
): Promise<{ stoppedAt?: { commit: number; reference: number }; hasActed: boolean }> {
  const find = await findReferred(
    ctx,
    repo,
    places.map(({ issue }) => issue),
  );
  const changed = new Set<number>();
  let pending: CommitAct[] = [];
  const insertPending = async (): Promise<void> => {
    if (pending.length > 0) await insertReferences(ctx, repo, pending);
    pending = [];
  };
  for (const { commit, reference, issue } of places) {
    const referred = find(issue);
    if (!referred) continue;
    const act: CommitAct = { repo, branch, commit, reference: issue, referred };
    const isActing = isActed(ctx, act);
    if (isActing && changed.has(referred.row.id)) {
      await insertPending();
      return { stoppedAt: { commit: commit.index, reference }, hasActed: true };
    }
    pending.push(act);
    if (!isActing) continue;
    // In the order in which readers see it: the reference first, then what it does.
    await insertPending();
    await actByCommit(ctx, act);
    changed.add(referred.row.id);
  }
  await insertPending();
  return { hasActed: changed.size > 0 };
}

/** Inserts the entries of the timelines, unless they were inserted before. */
async function insertReferences(
  { db, actor, now }: Ctx,
  repo: RepositoryContext,
  acts: readonly CommitAct[],
): Promise<void> {
  const rows = acts.map(({ commit, referred }) => ({
    repoId: referred.row.repoId,
    issueId: referred.row.id,
    commitOid: commit.oid,
    body: commitLink(repo, commit),
  }));
  await insertSelect(
    db,
    timelineEntries,
    {
      repoId: sql`value ->> 'repoId'`,
      issueId: sql`value ->> 'issueId'`,
      kind: "commit_ref",
      posterId: actor.user?.id ?? null,
      body: sql`value ->> 'body'`,
      commitOid: sql`value ->> 'commitOid'`,
      commitRepoId: repo.row.id,
      createdAt: now,
      updatedAt: now,
    },
    // Some issues may have been deleted meanwhile.
    sql`
      from json_each(${JSON.stringify(rows)})
      where exists (select 1 from ${issues} where ${issues.id} = value ->> 'issueId')
      order by key`,
  ).onConflictDoNothing();
}
