import type { ForeignIssue } from "../forge.ts";
import { toBody } from "./bodies.ts";
import { listFrom, positionAfter } from "./list-position.ts";
import { numberOfIssue } from "./numbering.ts";
import type { GitLabProject, ReadPage } from "./project.ts";
import { readReactions } from "./reactions.ts";
import { GitLabIssue, type MergeRequest } from "./shapes.ts";

/** Each takes a request for its reactions. */
const PAGE_SIZE = 20;

/**
 * Reads issues of every type, such as incidents and tasks.
 *
 * SECURITY: confidential issues are left out. Nothing here is hidden from readers of its
 * repository.
 */
export const readIssues: ReadPage<ForeignIssue> = async (project, { position }, { since }) => {
  const { requests, root } = project;
  const path = `${root}/issues`;
  const page = await listFrom(requests, path, GitLabIssue, position, { size: PAGE_SIZE, since });
  const read = await requests.readFirst(page.items, false, (issue) =>
    issue.confidential ? Promise.resolve(undefined) : toIssue(project, issue),
  );
  const next = positionAfter(position, page, read.length);
  const hidden = page.items.slice(0, read.length).filter(({ confidential }) => confidential);
  return {
    items: read.filter((issue) => issue !== undefined),
    next: next && { position: next },
    total: page.total,
    leftOut: hidden.map(({ iid }) => `The issue #${iid} is confidential.`),
  };
};

async function toIssue(project: GitLabProject, issue: GitLabIssue): Promise<ForeignIssue> {
  const isClosed = issue.state === "closed";
  return {
    kind: "issue",
    ...issuableOf(project, issue),
    foreignId: `issue/${issue.id}`,
    number: numberOfIssue(project.numbering, issue.iid),
    title: issue.title,
    reactions: await readReactions(project, `${project.root}/issues/${issue.iid}`),
    isClosed,
    closedAt: isClosed ? (issue.closed_at ?? issue.updated_at) : null,
    deadlineAt: issue.due_date ?? null,
  };
}

/** The fields that issues and merge requests share. */
export function issuableOf(project: GitLabProject, item: GitLabIssue | MergeRequest) {
  return {
    poster: item.author,
    body: toBody(item.description, project),
    ref: "",
    labelIds: item.labels.map(({ id }) => String(id)),
    milestoneId: item.milestone ? String(item.milestone.id) : null,
    assignees: item.assignees,
    isLocked: item.discussion_locked,
    createdAt: item.created_at,
    updatedAt: item.updated_at,
  };
}
