import { and, asc, desc, eq, sql } from "drizzle-orm";

import { isAllowed } from "../../../auth/access/permission.ts";
import { isUnitOn } from "../../../auth/access/unit-switches.ts";
import type { Ctx } from "../../../context.ts";
import { derivedTable } from "../../../db/derived-table.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { ACTIVITY_KINDS, events, pulls, repositories, users } from "../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";

/** A branch that the caller has pushed, and of which there is no pull request. */
export interface PushedBranch {
  readonly branch: string;
  /** The fork that has it; undefined for the repository itself. */
  readonly fork: { readonly owner: string; readonly name: string } | undefined;
  /** In milliseconds. */
  readonly pushedAt: number;
}

/** How long a push counts as recent, in milliseconds. */
const RECENT_MS = 24 * 60 * 60 * 1000;
/** The latest events of the caller that are looked at. */
const EVENTS_MAX = 20;
/** Branches that are listed. */
const BRANCHES_MAX = 3;

/**
 * Finds branches that the caller has pushed within a day, to the repository or to a fork of it, and
 * that no pull request has as its head: the latest first. Default branches are left out.
 *
 * Cost: one call, of the caller's latest events; none for callers who can open no pull request.
 */
export async function findPushedBranches(
  ctx: Ctx,
  repo: RepositoryContext,
): Promise<readonly PushedBranch[]> {
  const { user } = ctx.actor;
  const { row } = repo;
  const mayPropose =
    row.archivedAt === null &&
    !row.isMirror &&
    !row.isEmpty &&
    isUnitOn(row, "pulls") &&
    isAllowed(repo, { unit: "pulls", mode: "read" }) &&
    isAllowed(repo, { unit: "code", mode: "read" });
  if (!user || !mayPropose) return [];
  const found = await pushedBranches(ctx.db, {
    actorId: user.id,
    repoId: row.id,
    since: ctx.now - RECENT_MS,
  });
  return found.map(({ branch, pushedAt, repoId, owner, name }) => ({
    branch,
    pushedAt,
    fork: repoId === row.id ? undefined : { owner, name },
  }));
}

/** Where the name of a branch begins in its ref, from 1. */
const BRANCH_AT = "refs/heads/".length + 1;

interface PushesOf {
  readonly actorId: number;
  readonly repoId: number;
  readonly since: number;
}

/** The last update of each branch, which may be its deletion. */
const last = derivedTable("last_update", "repoId", "branch", "after", "pushedAt", "eventId");

const pushedBranches = prepare((db, p: Params<PushesOf>) => {
  const updates = sql`(
    select
      recent.repo_id, substr(pushed.value ->> 'ref', ${BRANCH_AT}) as branch,
      pushed.value ->> 'after' as after, recent.created_at as pushed_at,
      max(recent.id) as event_id
    from (
      select id, type, repo_id, payload, created_at
      from ${events}
      where ${events.actorId} = ${p.actorId}
        and ${events.createdAt} > ${p.since}
        and ${events.type} in ${ACTIVITY_KINDS}
      order by ${events.createdAt} desc, ${events.id} desc
      limit ${EVENTS_MAX}
    ) recent
    join json_each(recent.payload, '$.updates') pushed
    where recent.type = 'repository.pushed' and pushed.value ->> 'ref' like 'refs/heads/%'
    group by recent.repo_id, pushed.value ->> 'ref'
  )`;
  return db
    .select({
      branch: sql<string>`${last.branch}`.as("of_branch"),
      pushedAt: sql<number>`${last.pushedAt}`.as("of_time"),
      repoId: sql<number>`${repositories.id}`.as("of_repo"),
      owner: sql<string>`${users.name}`.as("of_owner"),
      name: sql<string>`${repositories.name}`.as("of_name"),
    })
    .from(sql`${updates} ${last}`)
    .innerJoin(repositories, eq(repositories.id, last.repoId))
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(
      and(
        sql`(${repositories.id} = ${p.repoId} or ${repositories.parentId} = ${p.repoId})`,
        sql`${last.after} is not null and ${last.branch} <> ${repositories.defaultBranch}`,
        sql`not exists (
          select 1 from ${pulls}
          where ${pulls.headRepoId} = ${repositories.id} and ${pulls.headBranch} = ${last.branch}
            and ${pulls.repoId} = ${p.repoId}
            and (not ${pulls.isClosed} or ${pulls.headOid} = ${last.after})
        )`,
      ),
    )
    .orderBy(desc(last.eventId), asc(last.branch))
    .limit(BRANCHES_MAX);
});
