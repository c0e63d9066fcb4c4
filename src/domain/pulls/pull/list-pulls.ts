import { asc, eq, sql } from "drizzle-orm";

import { isAccountVisible } from "../../../auth/access/accounts.ts";
import { callerArgument, type CallerArgument, toCallerSql } from "../../../auth/caller-sql.ts";
import { type Principal, principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf } from "../../../db/db.ts";
import { type Params, prepare, prepareAll } from "../../../db/prepared.ts";
import { selectTotal } from "../../../db/select-total.ts";
import { issues, users } from "../../../db/schema/index.ts";
import { malformed } from "../../../lib/failure.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import {
  bindLabelIds,
  bindPerson,
  type ListFilter,
  NO_FILTER,
} from "../../issues/lists/bound-filter.ts";
import type { IssueSort } from "../../issues/lists/issue-query.ts";
import {
  isKindListed,
  type ListScope,
  listScopeOf,
  listStatements,
} from "../../issues/lists/list-issues.ts";
import { PINS_MAX } from "../../issues/issue/pin-issue.ts";
import { toRepositoryContext } from "../../repos/repository/find-repository.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";
import { selectHeads, selectPulls, toPullContext } from "./find-pull.ts";

/** The filters of a list of pull requests. */
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
 * Lists the pull requests of a repository. Rows read do not grow with the repository, as for
 * `listIssues`.
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
  const { poster, milestoneId, base, head, isClosed, sort } = query;
  const lowerPoster = poster === "" ? undefined : poster.toLowerCase();
  const filter: ListFilter = {
    ...NO_FILTER,
    ...bindLabelIds(query.labelIds),
    isClosed,
    isPull: true,
    milestoneId,
    people: lowerPoster === undefined ? {} : bindPerson("poster", lowerPoster),
    base,
    head,
  };
  const asked = {
    caller: callerArgument(ctx.actor),
    scope: listScopeOf(repo, { isPull: true, isClosed }, slice),
    filter: isKindListed(repo, { isPull: true }) ? filter : undefined,
  };
  const named = lowerPoster === undefined ? [] : [lowerPoster];
  const posters = named.map((name) =>
    posterNamed(ctx.db, { name, principal: principalOf(ctx.actor) }),
  );
  const found = await batch(ctx.db, { ...pullPage(ctx.db, asked, { sort }), posters });
  if (found.posters.some((each) => each.length === 0)) {
    throw malformed(`user does not exist [uid: 0, name: ${poster}]`);
  }
  const headRepos = found.heads.map((each) => toRepositoryContext(ctx.actor, each));
  return toListedPage(found, (row) => toPullContext(repo, row, headRepos));
}

interface Asked {
  readonly caller: CallerArgument;
  readonly scope: ListScope;
  /** Undefined if the caller sees none. */
  readonly filter: ListFilter | undefined;
}

const pullPage = prepareAll(
  (db, { caller, scope, filter }: Params<Asked>, { sort }: Pick<PullQuery, "sort">) => {
    const { ids, total, terms } = listStatements(scope, filter, sort);
    return {
      rows: selectPulls(db)
        .where(sql`${issues.id} in (${ids})`)
        .orderBy(...terms),
      heads: selectHeads(db, toCallerSql(caller), scope.repoId, ids),
      counted: selectTotal(db, total),
    };
  },
);

const posterNamed = prepare(
  (db, { name, principal }: Params<{ name: string; principal: Principal }>) =>
    db
      .select({ id: users.id })
      .from(users)
      .where(allOf(eq(users.lowerName, name), isAccountVisible(principal))),
);

/** Lists the pinned pull requests of a repository, in their order. */
export async function listPinnedPulls(ctx: Ctx, repo: RepositoryContext): Promise<PullContext[]> {
  const { rows, heads } = await batch(
    ctx.db,
    pinnedPulls(ctx.db, { caller: callerArgument(ctx.actor), repoId: repo.row.id }),
  );
  const headRepos = heads.map((each) => toRepositoryContext(ctx.actor, each));
  return rows.map((row) => toPullContext(repo, row, headRepos));
}

const pinnedPulls = prepareAll(
  (db, { caller, repoId }: Params<{ caller: CallerArgument; repoId: number }>) => {
    const isPinned = sql`
      ${issues.repoId} = ${repoId} and ${issues.isPull} = 1 and ${issues.pinOrder} > 0`;
    return {
      rows: selectPulls(db).where(isPinned).orderBy(asc(issues.pinOrder)).limit(PINS_MAX),
      heads: selectHeads(
        db,
        toCallerSql(caller),
        repoId,
        sql`select ${issues.id} from ${issues} where ${isPinned}`,
      ),
    };
  },
);
