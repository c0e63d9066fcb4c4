import type { z } from "zod";

import { boundedList } from "../../lib/bounded.ts";
import { absoluteFiles } from "../absolute-files.ts";
import { numberOf } from "../cursor.ts";
import type {
  ForeignComment,
  ForeignFilter,
  ForeignIssue,
  ForeignPage,
  ForeignUser,
} from "../forge.ts";
import { mapInParallel } from "../in-parallel.ts";
import type { GogsProject } from "./gogs-project.ts";
import { GogsComment, GogsIssue, type GogsUser } from "./shapes.ts";

/** The list has issues of one state, open without one. */
const STATES = ["open", "closed"] as const;

/** More than one page of a server has. */
const ISSUES_MAX = 1000;
const Issues = boundedList(GogsIssue, ISSUES_MAX).nullable();
const Comments = boundedList(GogsComment, 10_000).nullable();

/** A page of the server's own size, newest first; the cursor has the state and the page. */
async function readIssuePage(
  { client, path }: GogsProject,
  cursor: string | undefined,
  { since }: ForeignFilter,
): Promise<ForeignPage<GogsIssue>> {
  const [stateAt = 0, page = 1] = cursor?.split("/").map(numberOf) ?? [];
  const state = STATES[stateAt];
  if (!state) return { items: [], next: undefined };
  const { value, next } = await client.get(`${path}/issues`, Issues, { state, page });
  const items = (value ?? []).filter((issue) => isChanged(issue, since));
  const isLast = next === undefined;
  if (!isLast) return { items, next: `${stateAt}/${page + 1}` };
  return { items, next: stateAt + 1 < STATES.length ? `${stateAt + 1}/1` : undefined };
}

/** The forge keeps times to the second. */
const isChanged = (item: { readonly updated_at: number }, since: number | undefined): boolean =>
  since === undefined || item.updated_at >= Math.floor(since / 1000) * 1000;

/** Open issues, then closed ones. */
export async function readIssues(
  project: GogsProject,
  cursor: string | undefined,
  filter: ForeignFilter,
): Promise<ForeignPage<ForeignIssue>> {
  const page = await readIssuePage(project, cursor, filter);
  return { ...page, items: page.items.map((each) => toIssue(each, project)) };
}

/**
 * The comments of the issues of a page. The API also lists events of issues, whose text is empty.
 */
export async function readComments(
  project: GogsProject,
  cursor: string | undefined,
  filter: ForeignFilter,
): Promise<ForeignPage<ForeignComment>> {
  if (!filter.includesIssues) return { items: [], next: undefined };
  const { items: issues, next } = await readIssuePage(project, cursor, filter);
  const commented = issues.filter(({ comments }) => comments > 0);
  const lists = await mapInParallel(commented, async ({ number }) => {
    const path = `${project.path}/issues/${number}/comments`;
    const { value } = await project.client.get(path, Comments);
    return (value ?? [])
      .filter((comment) => comment.body !== "" && isChanged(comment, filter.since))
      .map((comment) => toComment(comment, number, project));
  });
  return { items: lists.flat(), next };
}

/** Fields that the API lacks are empty: reactions, locks, deadlines and the time of closing. */
const toIssue = (issue: GogsIssue, { rootUrl }: GogsProject): ForeignIssue => ({
  kind: "issue",
  foreignId: String(issue.id),
  number: issue.number,
  poster: userOf(issue.user),
  title: issue.title,
  body: absoluteFiles(issue.body, rootUrl),
  ref: "",
  labelIds: issue.labels.map(({ id }) => String(id)),
  milestoneId: issue.milestone ? String(issue.milestone.id) : null,
  assignees: issue.assignee ? [userOf(issue.assignee)] : [],
  reactions: [],
  isLocked: false,
  isClosed: issue.state === "closed",
  // The last change of most closed issues.
  closedAt: issue.state === "closed" ? issue.updated_at : null,
  deadlineAt: null,
  createdAt: issue.created_at,
  updatedAt: issue.updated_at,
});

const toComment = (
  comment: z.output<typeof GogsComment>,
  number: number,
  { rootUrl }: GogsProject,
): ForeignComment => ({
  kind: "comment",
  foreignId: String(comment.id),
  number,
  poster: userOf(comment.user),
  body: absoluteFiles(comment.body, rootUrl),
  reactions: [],
  createdAt: comment.created_at,
  updatedAt: comment.updated_at,
});

/** The forge shows deleted accounts as an account without an id of its own, or as none. */
export function userOf(user: GogsUser | null | undefined): ForeignUser {
  const name = user?.login || user?.username || "Ghost";
  return { id: user && user.id > 0 ? user.id : 0, name };
}
