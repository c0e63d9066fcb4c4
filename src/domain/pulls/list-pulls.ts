import { asc, eq, sql } from "drizzle-orm";

import { isAccountVisible } from "../../auth/access/accounts.ts";
import { principalOf } from "../../auth/principal.ts";
import type { Ctx } from "../../context.ts";
import { allOf } from "../../db/db.ts";
import { selectTotal } from "../../db/select-total.ts";
import { issues, users } from "../../db/schema/index.ts";
import { malformed } from "../../lib/failure.ts";
import type { PullContext } from "../../shapes/pulls/pull-request.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { type IssueFilter, type IssueSort, NAMES_NOTHING } from "../issue-lists/issue-query.ts";
import { listStatements } from "../issue-lists/list-issues.ts";
import { PINS_MAX } from "../issues/pin-issue.ts";
import { toRepositoryContext } from "../repos/find-repository.ts";
import type { Listed, Slice } from "../slice.ts";
import { selectHeadRepositories, selectPulls, toPullContext } from "./find-pull.ts";

/** What a list of pull requests is filtered by. */
interface PullQuery {
  /** Undefined for open and closed ones. */
  readonly isClosed: boolean | undefined;
  /** "" for anybody's. */
  readonly poster: string;
  /** Undefined for any. */
  readonly milestoneId: number | undefined;
  /** A pull request has all of them. */
  readonly labelIds: readonly number[];
  /** Undefined for any. */
  readonly base: string | undefined;
  readonly head: string | undefined;
  readonly sort: IssueSort;
}

/**
 * Lists the pull requests of a repository. Rows read do not grow with the repository, as for `listIssues`.
 *
 * Cost: one query.
 *
 * @throws Failure `malformed` for a poster who does not exist.
 */
export async function listPulls(
  ctx: Ctx,
  repo: RepositoryContext,
  query: PullQuery,
  slice: Slice,
): Promise<Listed<PullContext>> {
  const { poster, base, head } = query;
  const filter: IssueFilter = {
    ...NAMES_NOTHING,
    isClosed: query.isClosed,
    isPull: true,
    labelIds: query.labelIds,
    milestoneId: query.milestoneId,
    people: poster === "" ? [] : [{ role: "poster", name: poster }],
    sort: query.sort,
    pull: { base, head },
  };
  const { ids, total, terms } = listStatements(repo, filter, slice);
  const [rows, heads, [counted], posters] = await ctx.db.batch([
    selectPulls(ctx.db)
      .where(sql`${issues.id} in (${ids})`)
      .orderBy(...terms),
    selectHeadRepositories(ctx, repo.row.id, ids),
    selectTotal(ctx.db, total),
    ctx.db
      .select({ id: users.id })
      .from(users)
      .where(
        allOf(eq(users.lowerName, poster.toLowerCase()), isAccountVisible(principalOf(ctx.actor))),
      ),
  ]);
  if (poster !== "" && posters.length === 0) {
    throw malformed(`user does not exist [uid: 0, name: ${poster}]`);
  }
  const headRepos = heads.map((each) => toRepositoryContext(ctx.actor, each));
  return {
    items: rows.map((row) => toPullContext(repo, row, headRepos)),
    total: counted?.total ?? 0,
  };
}

/** Lists the pinned pull requests of a repository, in their order. */
export async function listPinnedPulls(ctx: Ctx, repo: RepositoryContext): Promise<PullContext[]> {
  const isPinned = sql`
    ${issues.repoId} = ${repo.row.id} and ${issues.isPull} = 1 and ${issues.pinOrder} > 0`;
  const [rows, heads] = await ctx.db.batch([
    selectPulls(ctx.db).where(isPinned).orderBy(asc(issues.pinOrder)).limit(PINS_MAX),
    selectHeadRepositories(
      ctx,
      repo.row.id,
      sql`select ${issues.id} from ${issues} where ${isPinned}`,
    ),
  ]);
  const headRepos = heads.map((each) => toRepositoryContext(ctx.actor, each));
  return rows.map((row) => toPullContext(repo, row, headRepos));
}
