import { asc, inArray, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { allOf } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { issues } from "../../../db/schema/index.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { isIssueVisible, selectIssues, toIssueContext } from "../issue/find-issue.ts";
import { ALL_ISSUES } from "./issue-query.ts";
import { listIssues } from "./list-issues.ts";

/** Numbers that a few digits may begin with, as far as they are looked up. */
const NUMBERS_MAX = 50;

/**
 * Lists some issues and pull requests of a repository that somebody may mean who has typed the
 * beginning of a number, or words of a title; without either, those that were updated last.
 *
 * Cost: one round trip of the database; rows read do not grow with the repository.
 */
export async function suggestIssues(
  ctx: Ctx,
  repo: RepositoryContext,
  text: string,
  countMax: number,
): Promise<IssueContext[]> {
  const { id: repoId, lastIssueNumber } = repo.row;
  if (/^[1-9]\d{0,14}$/.test(text)) {
    const numbers = numbersWith(Number(text), lastIssueNumber);
    const rows = await issuesNumbered(ctx.db, { repoId, numbers: JSON.stringify(numbers) });
    return rows
      .filter(({ issue }) => isIssueVisible(repo, issue))
      .slice(0, countMax)
      .map((row) => toIssueContext(repo, row));
  }
  const words = text.split(/\s+/).filter((word) => word !== "");
  const filter = { ...ALL_ISSUES, words, parts: ["title"], sort: "recentupdate" } as const;
  const slice = { size: countMax, offset: 0 };
  return (await listIssues(ctx, repo, { filter, requiredPeople: [] }, slice)).items;
}

/** The numbers up to a last one whose digits begin with those of a number, in their order. */
function numbersWith(beginning: number, last: number): number[] {
  const numbers: number[] = [];
  for (let [from, span] = [beginning, 1]; from <= last; [from, span] = [from * 10, span * 10]) {
    for (let number = from; number < from + span && number <= last; number++) {
      if (numbers.length === NUMBERS_MAX) return numbers;
      numbers.push(number);
    }
  }
  return numbers;
}

const issuesNumbered = prepare((db, p: Params<{ repoId: number; numbers: string }>) =>
  selectIssues(db)
    .where(
      allOf(
        sql`${issues.repoId} = ${p.repoId}`,
        inArray(issues.number, sql`(select value from json_each(${p.numbers}))`),
      ),
    )
    .orderBy(asc(issues.number)),
);
