import { z } from "@hono/zod-openapi";

import {
  ISSUE_SORTS,
  type IssueFilter,
  type IssueSort,
} from "../../domain/issues/lists/issue-query.ts";
import { parseQuery } from "../../domain/issues/lists/parse-query.ts";
import { invalidField } from "../../lib/failure.ts";
import { Paging } from "../paging.ts";

/** Characters of a query parameter that is a text or a list of names. */
const TEXT_MAX = 1024;

const text = (description: string) => z.string().max(TEXT_MAX).default("").openapi({ description });

const timeParameter = (description: string) =>
  text(description).openapi({
    type: "string",
    format: "date-time",
    example: "2026-01-31T08:15:00Z",
  });

/** The query parameters that lists and searches of issues share. */
export const IssueListQuery = Paging.extend({
  state: text("Only issues in this state: open, closed or all; the default is open"),
  type: text("Only issues, or only pull requests: issues or pulls"),
  labels: text("Names of labels, separated by commas; names that do not exist are ignored"),
  milestones: text(
    "Titles of milestones, separated by commas; those that do not exist are ignored",
  ),
  q: text(
    "Words that a title, a text or a comment has, a number, or terms such as `label:bug` or `review-requested:@me`",
  ),
  since: timeParameter("Only issues updated at this time or later"),
  before: timeParameter("Only issues updated at this time or earlier"),
  sort: text(`The order: one of ${ISSUE_SORTS.join(", ")}; the default is newest`),
});
type IssueListQuery = z.infer<typeof IssueListQuery>;

/**
 * The filter of a query. Terms in `q` take precedence over parameters; unknown states, types and
 * orders count as the default, as in Gitea.
 *
 * @param me The name of the caller.
 * @returns Undefined if nothing can match.
 */
export function readFilter(query: IssueListQuery, me: string | undefined): IssueFilter | undefined {
  const [since, before] = [readTime("since", query.since), readTime("before", query.before)];
  const { state = query.state, isPull, sort, isUnfindable, ...typed } = parseQuery(query.q, me);
  if (isUnfindable || query.q.includes("\0")) return undefined;
  return {
    ...typed,
    isClosed: state === "all" ? undefined : state === "closed",
    isPull: isPull ?? KINDS.get(query.type),
    labels: namesOf(query.labels),
    milestones: namesOf(query.milestones),
    since,
    before,
    sort: sort ?? ISSUE_SORTS.find((each) => each === query.sort) ?? ("newest" satisfies IssueSort),
  };
}

const KINDS = new Map([
  ["issues", false],
  ["pulls", true],
]);

/** Names in a list, at most. */
const NAMES_MAX = 100;

const namesOf = (list: string): string[] => {
  const names = list.split(",").map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== ""))].slice(0, NAMES_MAX);
};

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** @throws Failure `invalid` for a text that is not a time in RFC 3339. */
function readTime(field: string, time: string): number | undefined {
  if (time === "") return undefined;
  const milliseconds = RFC_3339.test(time) ? Date.parse(time) : Number.NaN;
  if (Number.isNaN(milliseconds)) {
    throw invalidField(field, "must be a time in RFC 3339, such as 2026-01-31T08:15:00Z");
  }
  return milliseconds;
}
