import type { Context } from "hono";

import {
  type IssueFilter,
  ISSUE_SORTS,
  type IssueSort,
  type PersonFilter,
  type PersonRole,
} from "../../../domain/issues/lists/issue-query.ts";
import { parseQuery } from "../../../domain/issues/lists/parse-query.ts";
import { readSearchText } from "../read-search-text.ts";

/** The orders of lists, with their names. */
export const SORT_NAMES: Readonly<Record<IssueSort, string>> = {
  newest: "Newest",
  oldest: "Oldest",
  recentupdate: "Recently changed",
  leastupdate: "Least recently changed",
  mostcomment: "Most comments",
  leastcomment: "Fewest comments",
  nearduedate: "Due first",
  farduedate: "Due last",
  recentclose: "Recently closed",
};

/** The states of a list, with their names. */
export const STATES = { open: "Open", closed: "Closed", all: "All" } as const;
export type ListState = keyof typeof STATES;

/** What the address of a list asks for, as its form shows it. */
export interface ListQuery {
  readonly text: string;
  readonly state: ListState;
  readonly sort: IssueSort;
  /** Names of labels that an issue has all of. */
  readonly labels: readonly string[];
  /** The title of a milestone; "" for any. */
  readonly milestone: string;
  /** Names of users; "" for anybody. */
  readonly author: string;
  readonly assignee: string;
  /** Undefined if nothing can match. */
  readonly filter: IssueFilter | undefined;
}

/** Characters of a parameter that is a name. */
const NAME_CHARS_MAX = 255;
/** Labels that a query may name. */
const LABELS_MAX = 32;

/**
 * Reads the query of a list: words and terms in `q`, such as `is:closed` or `-label:bug`, which
 * precede `state` and `sort`; and `label`, `milestone`, `author` and `assignee` by name. As
 * everywhere, unknown states and orders count as the usual ones.
 *
 * @param kind Whether pull requests are listed, or issues; undefined for both.
 */
export function readListQuery(
  c: Context,
  isPull: boolean | undefined,
  me: string | undefined,
  usual: IssueSort = "newest",
): ListQuery {
  const nameOf = (parameter: string) => (c.req.query(parameter) ?? "").slice(0, NAME_CHARS_MAX);
  const text = readSearchText(c);
  const { isUnfindable, state: typedState, sort: typedSort, ...typed } = parseQuery(text, me);
  const chosen = { state: c.req.query("state") ?? "", sort: c.req.query("sort") ?? "" };
  const state = typedState ?? (isState(chosen.state) ? chosen.state : "open");
  const sort = typedSort ?? ISSUE_SORTS.find((each) => each === chosen.sort) ?? usual;
  const labels = (c.req.queries("label") ?? []).filter((name) => name !== "").slice(0, LABELS_MAX);
  const [milestone, author] = [nameOf("milestone"), nameOf("author") || nameOf("poster")];
  const assignee = nameOf("assignee");
  const filter: IssueFilter = {
    labels: [],
    milestones: [],
    since: undefined,
    before: undefined,
    ...typed,
    isClosed: state === "all" ? undefined : state === "closed",
    isPull: isPull ?? typed.isPull,
    requiredLabels: [...typed.requiredLabels, ...labels],
    requiredMilestones: [...typed.requiredMilestones, ...(milestone === "" ? [] : [milestone])],
    people: [...typed.people, ...personOf("poster", author), ...personOf("assignee", assignee)],
    sort,
  };
  const isNothing =
    isUnfindable || text.includes("\0") || (isPull === false && typed.isPull === true);
  return {
    ...{ text, state, sort, labels, milestone, author, assignee },
    filter: isNothing ? undefined : filter,
  };
}

const isState = (text: string): text is ListState => Object.hasOwn(STATES, text);

const personOf = (role: PersonRole, name: string): PersonFilter[] =>
  name === "" ? [] : [{ role, name }];

/** The query of a list with some parameters changed, from its first page: `?state=closed`. */
export function withParameters(
  url: string,
  changes: Readonly<Record<string, string | readonly string[]>>,
): string {
  const { searchParams } = new URL(url);
  searchParams.delete("page");
  for (const [name, value] of Object.entries(changes)) {
    searchParams.delete(name);
    for (const each of [value].flat()) if (each !== "") searchParams.append(name, each);
  }
  return `?${searchParams.toString()}`;
}
