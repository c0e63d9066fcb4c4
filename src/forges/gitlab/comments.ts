import { z } from "zod";

import { boundedList } from "../../lib/bounded.ts";
import { flag } from "../fields.ts";
import type { ForeignComment, ForeignFilter } from "../forge.ts";
import { toBody } from "./bodies.ts";
import type { GitLabCursor, PartCursor } from "./cursor.ts";
import { listFrom, LIST_START, positionAfter } from "./list-position.ts";
import { numberOfIssue, numberOfPull } from "./numbering.ts";
import type { GitLabPage, GitLabProject, PartPage, ReadPage } from "./project.ts";
import { readReactions } from "./reactions.ts";
import { isGone } from "./requests.ts";
import { isOnCode, isForReaders, issuableFields, GitLabNote } from "./shapes.ts";

/** Each comment takes a request for its reactions. */
const NOTES_SIZE = 20;

const Commented = z.object({
  id: issuableFields.id,
  iid: issuableFields.iid,
  created_at: issuableFields.created_at,
  user_notes_count: issuableFields.user_notes_count,
  confidential: flag,
});
type Commented = z.infer<typeof Commented>;

/**
 * Reads the comments of issues, then those of merge requests that are not on code, in the order of
 * their issues and merge requests.
 *
 * GitLab lists them for one issue at a time. Issues without comments are passed over. GitLab's own
 * notes about changes are skipped. SECURITY: so are comments that only members may read: internal
 * notes, and all comments of confidential issues.
 */
export const readComments: ReadPage<ForeignComment> = async (project, cursor, filter) => {
  const isAtPulls = cursor.isAtPulls || !filter.includesIssues;
  if (isAtPulls && !filter.includesPulls) return { items: [], next: undefined };
  const page = await readAt(project, { ...cursor, isAtPulls }, filter);
  if (page.next || isAtPulls || !filter.includesPulls) return page;
  return { ...page, next: { isAtPulls: true, position: LIST_START } };
};

async function readAt(
  project: GitLabProject,
  { isAtPulls, position, part }: GitLabCursor,
  { since }: ForeignFilter,
): Promise<GitLabPage<ForeignComment>> {
  const { requests, numbering } = project;
  const list = `${project.root}/${isAtPulls ? "merge_requests" : "issues"}`;
  const page = await listFrom(requests, list, Commented, position, { size: 100, since });
  const items: ForeignComment[] = [];
  let doneCount = 0;
  let open = part;
  for (const item of page.items) {
    const { id, iid } = item;
    const number = isAtPulls ? numberOfPull(numbering, iid) : numberOfIssue(numbering, iid);
    // The one at which the page before ended may be gone.
    let at: PartCursor | undefined = open?.id === id ? open : { id, page: 1, doneCount: 0 };
    open = undefined;
    while (at && hasComments(item)) {
      if (requests.isSpent) return { items, next: nextAt(at) };
      const path = `${list}/${iid}`;
      const [read]: PartPage<ForeignComment>[] = await requests.readFirst(
        [at],
        items.length > 0 || doneCount > 0,
        (from) => readNotes(project, path, number, from, since),
      );
      if (!read) return { items, next: nextAt(at) };
      items.push(...read.items);
      at = read.next;
    }
    doneCount++;
  }
  const next = positionAfter(position, page, doneCount);
  return { items, next: next && { isAtPulls, position: next } };

  function nextAt(at: PartCursor) {
    return { isAtPulls, position: positionAfter(position, page, doneCount) ?? position, part: at };
  }
}

const hasComments = ({ user_notes_count: count, confidential }: Commented): boolean =>
  count !== 0 && !confidential;

/** Reads comments of an issue or merge request from a position on: a page of notes, or less. */
async function readNotes(
  project: GitLabProject,
  path: string,
  number: number,
  { id, page, doneCount }: PartCursor,
  since: number | undefined,
): Promise<PartPage<ForeignComment>> {
  const { requests } = project;
  const notes = await requests
    .get(`${path}/notes`, boundedList(GitLabNote, 100), {
      order_by: "created_at",
      sort: "asc",
      per_page: NOTES_SIZE,
      page,
    })
    .catch((error: unknown) => {
      if (isGone(error)) return { value: [], next: undefined };
      throw error;
    });
  const due = notes.value.slice(doneCount);
  const read = await requests.readFirst(due, false, async (note) => {
    const isRecent = since === undefined || note.updated_at >= since;
    if (!isForReaders(note) || isOnCode(note) || !isRecent) return undefined;
    const comment: ForeignComment = {
      kind: "comment",
      foreignId: String(note.id),
      number,
      poster: note.author,
      body: toBody(note.body, project),
      reactions: await readReactions(project, `${path}/notes/${note.id}`),
      createdAt: note.created_at,
      updatedAt: note.updated_at,
    };
    return comment;
  });
  const items = read.filter((comment) => comment !== undefined);
  if (read.length < due.length) {
    return { items, next: { id, page, doneCount: doneCount + read.length } };
  }
  return {
    items,
    next: notes.next === undefined ? undefined : { id, page: page + 1, doneCount: 0 },
  };
}
