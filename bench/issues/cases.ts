import { ISSUE_SORTS } from "../../src/domain/issues/lists/issue-query.ts";
import type { Case, Request } from "../api/cases.ts";
import { COMMON_WORD, OWNER, RARE_WORD, REPOSITORY, token } from "./population.ts";

/**
 * A measured request, with the rows that it may read at any size although it reads more from a
 * larger repository.
 */
export type IssueCase = Case & { rowsMax?: number };

/** Totals of filters without a counter count this many issues at most, each of them in an index. */
const COUNTED_MAX = 12_000;
/**
 * A list in another order than by age sorts this many issues at most, or walks the order past those
 * that don't match.
 */
const SORTED_MAX = 15_000;
/**
 * Words find this many issues at most, each with a document and a row, for the page and for the
 * total.
 */
const FOUND_MAX = 15_000;
/**
 * A page shows labels, assignees and milestones of 50 issues, of which one page has more than
 * another.
 */
const PAGE_MAX = 1000;

/** Issues in the last full page of the open ones. */
const lastPage = (issues: number): number => Math.min(1000, Math.floor((issues * 0.6) / 50));

/** In the order in which they run: those that write come last. */
export function casesOf(issues: number): IssueCase[] {
  const api = `/api/v1/repos/${OWNER}/${REPOSITORY}`;
  const get = (name: string, path: string, more: Partial<IssueCase> = {}): IssueCase => ({
    name,
    status: 200,
    next: () => ({ method: "GET", path, token }),
    ...more,
  });
  const list = (query: string, more: Partial<IssueCase> = {}) =>
    get(query === "" ? "list" : `list, ${query}`, `${api}/issues?limit=50&${query}`, {
      rowsMax: PAGE_MAX,
      ...more,
    });
  const search = (query: string, more: Partial<IssueCase> = {}) =>
    get(
      query === "" ? "search" : `search, ${query}`,
      `/api/v1/repos/issues/search?limit=50&${query}`,
      more,
    );
  const counted = { rowsMax: COUNTED_MAX };
  const sorted = { rowsMax: SORTED_MAX };
  const found = { rowsMax: FOUND_MAX };
  // Where no index has both of two conditions, the issues of the rarer one are looked at, to count
  // those that match.
  const both = (share: number, rowsOfIssue: number) => ({
    rowsMax: PAGE_MAX + share * issues * rowsOfIssue,
  });
  const deep = lastPage(issues);
  let turn = 0;
  const next = () => (turn += 1);
  const number = () => 1 + ((next() * 7919) % (issues / 10));
  const post = (
    name: string,
    path: () => string,
    body: () => object,
    status: number,
  ): IssueCase => ({
    name,
    status,
    // The answer shows the labels of the issue, of which one has more than another.
    rowsMax: 500,
    next: (): Request => ({ method: "POST", path: path(), token, body: JSON.stringify(body()) }),
  });
  return [
    list(""),
    ...ISSUE_SORTS.slice(1).map((sort) => list(`sort=${sort}`)),
    list("state=all"),
    list("state=closed"),
    list("labels=common"),
    list("labels=some"),
    list("labels=rare"),
    list("labels=common,some", both(0.01, 13)),
    list("labels=common&sort=recentupdate", sorted),
    list("labels=some&sort=recentupdate", sorted),
    list("milestones=v1"),
    list("milestones=v1&sort=mostcomment", sorted),
    list("created_by=user-5", counted),
    list("assigned_by=user-5", counted),
    list("mentioned_by=user-5", counted),
    list("created_by=user-5&labels=common", both(0.01, 7)),
    list("since=2018-01-01T00:00:00Z", sorted),
    list(`page=${deep}`, { isDeep: true }),
    list(`q=${RARE_WORD}`),
    list(`q=${COMMON_WORD}`, found),
    list(`q=${COMMON_WORD}&labels=some`, { rowsMax: 80_000 }),
    list(`q=${COMMON_WORD}&sort=recentupdate`, found),
    search("", counted),
    search(`owner=${OWNER}`),
    search("created=true&state=all"),
    search("assigned=true"),
    search(`q=${RARE_WORD}`),
    search(`q=${COMMON_WORD}`, { rowsMax: 18_000 }),
    get("issue", "", { next: () => ({ method: "GET", path: `${api}/issues/${number()}`, token }) }),
    get("timeline", "", {
      next: () => ({ method: "GET", path: `${api}/issues/${number()}/timeline`, token }),
    }),
    get("notifications", "/api/v1/notifications?limit=50"),
    get("notifications, all", "/api/v1/notifications?all=true&limit=50"),
    get("new notifications", "/api/v1/notifications/new"),
    post(
      "comment",
      () => `${api}/issues/${number()}/comments`,
      () => ({ body: "Seen again" }),
      201,
    ),
    post(
      "label",
      () => `${api}/issues/${number()}/labels`,
      () => ({ labels: [2] }),
      200,
    ),
    post(
      "create",
      () => `${api}/issues`,
      () => ({ title: `New ${next()}`, body: "A text" }),
      201,
    ),
  ];
}
