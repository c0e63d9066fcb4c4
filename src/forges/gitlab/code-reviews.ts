import { z } from "zod";

import { boundedList } from "../../lib/bounded.ts";
import type { ForeignCodeComment, ForeignReview } from "../forge.ts";
import { toBody } from "./bodies.ts";
import type { PartCursor } from "./cursor.ts";
import { numberOfPull } from "./numbering.ts";
import type { GitLabProject, PartPage } from "./project.ts";
import { readReactions } from "./reactions.ts";
import { isGone } from "./requests.ts";
import { isOnCode, isForReaders, type MergeRequest, GitLabNote } from "./shapes.ts";

const DISCUSSIONS_SIZE = 20;

const Discussion = z.object({ notes: boundedList(GitLabNote, 5000) });

/** A comment on code, and the first one of its conversation if it answers that. */
interface CodeNote {
  readonly note: GitLabNote;
  readonly first: GitLabNote | undefined;
}

/**
 * Reads comments on the code of a merge request from a position on: a page of conversations, or
 * less.
 *
 * GitLab has neither the lines around a comment nor whether it is outdated. It moves the comments
 * that still apply to the newest commit, so a comment with another commit is outdated.
 */
export async function readCodeReviews(
  project: GitLabProject,
  item: MergeRequest,
  { id, page, doneCount }: PartCursor,
  since: number | undefined,
): Promise<PartPage<ForeignReview>> {
  const { requests, root } = project;
  const path = `${root}/merge_requests/${item.iid}`;
  const discussions = await requests
    .get(`${path}/discussions`, boundedList(Discussion, 100), { per_page: DISCUSSIONS_SIZE, page })
    .catch((error: unknown) => {
      if (isGone(error)) return { value: [], next: undefined };
      throw error;
    });
  const notes = discussions.value.flatMap(({ notes: all }): CodeNote[] => {
    const [first, ...answers] = all.filter((note) => isForReaders(note) && isOnCode(note));
    if (!first) return [];
    return [{ note: first, first: undefined }, ...answers.map((note) => ({ note, first }))];
  });
  const due = notes.slice(doneCount);
  const read = await requests.readFirst(due, false, async (each) => {
    if (since !== undefined && each.note.updated_at < since) return undefined;
    return toReview(project, item, await toCodeComment(project, item, each));
  });
  const items = read.filter((review) => review !== undefined);
  if (read.length < due.length) {
    return { items, next: { id, page, doneCount: doneCount + read.length } };
  }
  const hasMore = discussions.next !== undefined;
  return { items, next: hasMore ? { id, page: page + 1, doneCount: 0 } : undefined };
}

function toReview(
  { numbering }: GitLabProject,
  { iid }: MergeRequest,
  comment: ForeignCodeComment,
): ForeignReview {
  return {
    foreignId: `note/${comment.foreignId}`,
    number: numberOfPull(numbering, iid),
    reviewer: comment.poster,
    state: "comment",
    isDismissed: false,
    isOfficial: false,
    body: "",
    commitOid: comment.commitOid,
    createdAt: comment.createdAt,
    comments: [comment],
  };
}

async function toCodeComment(
  project: GitLabProject,
  { iid, sha }: MergeRequest,
  { note, first }: CodeNote,
): Promise<ForeignCodeComment> {
  const { position } = note;
  const { old_line: oldLine, new_line: newLine, old_path: oldPath } = position ?? {};
  // A line that did not change has both numbers.
  const isOnOldSide = !newLine && Boolean(oldLine);
  const newPath = position?.new_path || oldPath || "";
  const commitOid = position?.head_sha ?? "";
  const isOutdated = sha !== "" && commitOid !== sha;
  return {
    foreignId: String(note.id),
    answersId: first === undefined ? "" : String(first.id),
    poster: note.author,
    body: toBody(note.body, project),
    path: isOnOldSide ? oldPath || newPath : newPath,
    // A comment on a whole file or an image has no line.
    line: isOutdated ? 0 : newLine || oldLine || 0,
    isOnOldSide,
    commitOid,
    hunk: "",
    isResolved: note.resolved,
    reactions: await readReactions(
      project,
      `${project.root}/merge_requests/${iid}/notes/${note.id}`,
    ),
    createdAt: note.created_at,
    updatedAt: note.updated_at,
  };
}
