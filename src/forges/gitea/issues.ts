import { formatTime } from "../../lib/time.ts";
import type { ForeignFilter, ForeignIssue, ForeignPage } from "../forge.ts";
import { mapInParallel } from "../in-parallel.ts";
import { absoluteFiles } from "../absolute-files.ts";
import { authorOf, userOf } from "./authors.ts";
import type { GiteaProject } from "./gitea-project.ts";
import { readIssueReactions } from "./reactions.ts";
import { GiteaIssue, type GiteaPull } from "./shapes.ts";

/** Small, since the reactions to each are a request. */
export const ITEMS_SIZE = 25;

/** Issues by age: the API lists them newest first. */
export async function readIssues(
  project: GiteaProject,
  cursor: string | undefined,
  { since }: ForeignFilter,
): Promise<ForeignPage<ForeignIssue>> {
  const { lists, path } = project;
  const list = {
    path: `${path}/issues`,
    shape: GiteaIssue,
    query: { state: "all", type: "issues", since: sinceOf(since) },
    size: ITEMS_SIZE,
  };
  const page = await lists.readBackward(list, cursor);
  const items = await mapInParallel(page.items, async (issue): Promise<ForeignIssue> => ({
    kind: "issue",
    ...(await toIssueFields(project, "issue", issue)),
    ref: refOf(issue.ref),
  }));
  return { ...page, items };
}

/** The fields that issues and pull requests share, with their reactions. */
export async function toIssueFields(
  project: GiteaProject,
  kind: "issue" | "pull",
  issue: Omit<GiteaIssue, "ref"> | GiteaPull,
): Promise<Omit<ForeignIssue, "kind">> {
  const { assignee, assignees, number } = issue;
  return {
    // Issues and pull requests are counted apart: both have the same ids.
    foreignId: `${kind}/${issue.id}`,
    number,
    poster: authorOf(issue),
    title: issue.title,
    body: absoluteFiles(issue.body, project.rootUrl),
    ref: "",
    labelIds: issue.labels.map(({ id }) => String(id)),
    milestoneId: issue.milestone ? String(issue.milestone.id) : null,
    assignees: (assignees.length === 0 && assignee ? [assignee] : assignees).map(userOf),
    reactions: await readIssueReactions(project, number),
    isLocked: issue.is_locked,
    isClosed: issue.state === "closed",
    closedAt: issue.closed_at,
    deadlineAt: issue.due_date,
    createdAt: issue.created_at,
    updatedAt: issue.updated_at,
  };
}

/** Old issues have the short name of a branch. */
const refOf = (ref: string): string =>
  ref === "" || ref.startsWith("refs/") ? ref : `refs/heads/${ref}`;

/** The time in the query of lists, which includes it. */
export const sinceOf = (since: number | undefined): string | undefined =>
  since === undefined ? undefined : formatTime(since);
