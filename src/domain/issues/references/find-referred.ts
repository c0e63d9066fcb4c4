import { eq, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import { isBlockedBy } from "../../../auth/access/blocks.ts";
import { isAllowed } from "../../../auth/access/permission.ts";
import { TO_SEE } from "../../../auth/access/requirement.ts";
import { callerSql } from "../../../auth/caller-sql.ts";
import type { Ctx } from "../../../context.ts";
import { columnsOf } from "../../../db/db.ts";
import { issues, repositories, users, type Issue } from "../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { isIssueVisible } from "../issue/find-issue.ts";
import { selectRepositories, toRepositoryContext } from "../../repos/repository/find-repository.ts";
import type { ReferredIssue } from "./find-references.ts";

/** The name of an issue in a reference. */
type Named = Pick<ReferredIssue, "repo" | "number">;

/** An issue or pull request to which somebody may refer. */
export interface Referred {
  /** With the permission of the caller. */
  readonly repo: RepositoryContext;
  readonly row: Issue;
}

const named = alias(issues, "named");

/**
 * Finds the issues and pull requests to which the caller may refer: those that the caller may see,
 * in repositories that are not archived and whose owner does not block the caller.
 *
 * SECURITY: an entry in a timeline shows readers of that issue where it was referred to, so nobody
 * may leave one where they may not comment; and nobody learns of an issue that they may not see.
 *
 * Cost: two queries.
 *
 * @param repo The repository of the text.
 * @param all  At most some thousands.
 * @returns A function that returns the issue of a reference, or undefined.
 */
export async function findReferred(
  ctx: Ctx,
  repo: RepositoryContext,
  all: readonly Named[],
): Promise<(reference: Named) => Referred | undefined> {
  const { db, actor } = ctx;
  if (actor.user === undefined || all.length === 0) return () => undefined;
  const others = new Map(
    all.flatMap((each) => (each.repo ? [[fullNameOf(each), each.repo] as const] : [])),
  );
  const rows =
    others.size === 0
      ? []
      : await selectRepositories(db, callerSql(actor)).where(isOneOf([...others.values()]));
  const repos = new Map<string, RepositoryContext>([["", repo]]);
  for (const row of rows) {
    const found = toRepositoryContext(actor, row);
    repos.set(`${found.owner.lowerName}/${found.row.lowerName}`, found);
  }
  const open = new Map(
    [...repos].filter(([, found]) => isAllowed(found, TO_SEE) && found.row.archivedAt === null),
  );
  const numbers = all.flatMap((each) => {
    const found = open.get(fullNameOf(each));
    return found ? [[found.row.id, each.number]] : [];
  });
  const referred = await db
    .select({ row: columnsOf(issues, "i") })
    .from(issues)
    .innerJoin(repositories, eq(repositories.id, issues.repoId))
    .where(
      sql`${issues.id} in (
        select ${named.id}
        from json_each(${JSON.stringify(numbers)}) number
        join ${issues} ${named}
          on ${named.repoId} = number.value ->> 0 and ${named.number} = number.value ->> 1
      ) and not ${isBlockedBy(sql`${actor.user.id}`, sql`${repositories.ownerId}`)}`,
    );
  const byNumber = new Map(referred.map(({ row }) => [`${row.repoId}#${row.number}`, row]));
  return (reference) => {
    const found = open.get(fullNameOf(reference));
    const row = found && byNumber.get(`${found.row.id}#${reference.number}`);
    return found && row && isIssueVisible(found, row) ? { repo: found, row } : undefined;
  };
}

const fullNameOf = ({ repo }: Named): string => (repo ? `${repo.owner}/${repo.name}` : "");

const namedOwner = alias(users, "named_owner");
const namedRepository = alias(repositories, "named_repository");

const isOneOf = (names: readonly { owner: string; name: string }[]): SQL => sql`
  ${repositories.id} in (
    select ${namedRepository.id}
    from json_each(${JSON.stringify(names)}) name
    join ${users} ${namedOwner} on ${namedOwner.lowerName} = name.value ->> 'owner'
    join ${repositories} ${namedRepository}
      on ${namedRepository.ownerId} = ${namedOwner.id}
      and ${namedRepository.lowerName} = name.value ->> 'name'
  )`;
