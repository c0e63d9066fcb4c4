import type { ForeignReview } from "../forge.ts";
import { readCodeReviews } from "./code-reviews.ts";
import type { PartCursor } from "./cursor.ts";
import { listFrom, positionAfter } from "./list-position.ts";
import type { PartPage, ReadPage } from "./project.ts";
import { MergeRequest } from "./shapes.ts";
import { readApprovals } from "./approvals.ts";

/**
 * Reads reviews: for each merge request first approvals and requests, then the comments on code.
 *
 * GitLab does not state which comments were submitted together, so each is a review of its own, as
 * Gitea stores the answers in a conversation.
 */
export const readReviews: ReadPage<ForeignReview> = async (project, cursor, { since }) => {
  const { requests, root } = project;
  const { position, part } = cursor;
  const list = `${root}/merge_requests`;
  const page = await listFrom(requests, list, MergeRequest, position, { size: 20, since });
  const items: ForeignReview[] = [];
  let doneCount = 0;
  let open = part;
  for (const item of page.items) {
    // The one at which the page before ended may be gone.
    let at: PartCursor | undefined = open?.id === item.id ? open : startOf(item);
    open = undefined;
    while (at) {
      if (requests.isSpent) return { items, next: nextAt(at) };
      const [read]: PartPage<ForeignReview>[] = await requests.readFirst(
        [at],
        items.length > 0 || doneCount > 0,
        (from) =>
          from.page === 0
            ? readApprovals(project, item)
            : readCodeReviews(project, item, from, since),
      );
      if (!read) return { items, next: nextAt(at) };
      items.push(...read.items);
      at = read.next;
    }
    doneCount++;
  }
  const next = positionAfter(position, page, doneCount);
  return { items, next: next && { position: next } };

  function nextAt(at: PartCursor) {
    return { position: positionAfter(position, page, doneCount) ?? position, part: at };
  }
};

const startOf = ({ id }: MergeRequest): PartCursor => ({ id, page: 0, doneCount: 0 });
