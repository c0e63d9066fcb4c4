import { RemoteFailure } from "../../outgoing/remote-failure.ts";
import type { ForeignComment, ForeignFilter, ForeignPage } from "../forge.ts";
import { mapInParallel } from "../in-parallel.ts";
import { absoluteFiles } from "../absolute-files.ts";
import { authorOf } from "./authors.ts";
import type { GiteaProject } from "./gitea-project.ts";
import { ITEMS_SIZE, sinceOf } from "./issues.ts";
import { readCommentReactions } from "./reactions.ts";
import { GiteaComment } from "./shapes.ts";

/** The comments of all issues and pull requests, oldest first. */
export async function readComments(
  project: GiteaProject,
  cursor: string | undefined,
  { since, includesIssues, includesPulls }: ForeignFilter,
): Promise<ForeignPage<ForeignComment>> {
  const { lists, path, rootUrl } = project;
  const list = {
    path: `${path}/issues/comments`,
    shape: GiteaComment,
    query: { since: sinceOf(since) },
    size: ITEMS_SIZE,
  };
  const page = await lists.readForward(list, cursor);
  const included = page.items.filter(({ pull_request_url }) =>
    pull_request_url === "" ? includesIssues : includesPulls,
  );
  const items = await mapInParallel(included, async (comment): Promise<ForeignComment> => ({
    kind: "comment",
    foreignId: String(comment.id),
    number: numberIn(comment.pull_request_url || comment.issue_url),
    poster: authorOf(comment),
    body: absoluteFiles(comment.body, rootUrl),
    reactions: await readCommentReactions(project, comment.id),
    createdAt: comment.created_at,
    updatedAt: comment.updated_at,
  }));
  return {
    items,
    next: page.next,
    total: includesIssues && includesPulls ? page.total : undefined,
  };
}

/** The number at the end of the address of an issue or pull request. */
function numberIn(url: string): number {
  const number = Number(/\/(\d{1,15})$/.exec(url)?.[1]);
  if (Number.isNaN(number)) {
    throw new RemoteFailure("protocol", "a comment does not say what it is about");
  }
  return number;
}
