import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type CodeComment, codeComments, reviews } from "../../../db/schema/index.ts";
import { decodeText } from "../../../git/byte-text.ts";
import type { Budget } from "../../../git/budget.ts";
import { GitError } from "../../../git/error.ts";
import { hunkAround } from "../../../git/diff/hunk-around.ts";
import type { LineDiff } from "../../../git/diff/line-diff.ts";
import type { PathChange, PathEntry } from "../../../git/diff/tree-diff.ts";
import { invalidField, notFound } from "../../../lib/failure.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import { diffSides } from "../../code/commits/find-changes.ts";
import { type OpenPull, openPull } from "../pull/open-pull.ts";
import { findFileAt } from "../reviews/find-file-at.ts";
import { isReviewVisible } from "../reviews/review-states.ts";

/** Maximum comments in one request. */
export const COMMENTS_MAX = 100;
/** Maximum lines that one comment is about. */
const LINES_MAX = 1000;
/** Maximum characters of a stored hunk: lines may be long. */
const HUNK_CHARS_MAX = 8192;
/** Steps to compare the files of one request: a second of processor time. */
const STEPS_MAX = 100_000_000;

/** A new comment on code. */
export interface NewCodeComment {
  readonly path: string;
  readonly body: string;
  /** The line of the head, from 1, or 0 for none: one of the two. The old side precedes. */
  readonly newLine: number;
  /** The line of the merge base. */
  readonly oldLine: number;
  /** The first of several lines; 0 for one. */
  readonly startLine: number;
  /** The comment that it answers, whose place it takes; 0 for none. */
  readonly repliedId: number;
}

/** A new comment with its place, as it is stored. */
export type PlacedComment = { readonly body: string } & Pick<
  CodeComment,
  | "rootId"
  | "path"
  | "line"
  | "startLine"
  | "isOldSide"
  | "commitOid"
  | "originalCommitOid"
  | "originalLine"
  | "diffHunk"
  | "isOutdated"
>;

/**
 * Finds where new comments are, and the part of the diff that each is shown with.
 *
 * Paths and lines that do not exist are accepted, as in Gitea: such a comment has no hunk.
 *
 * Cost: nothing without comments; one query for answers; opens the repository if one names a line,
 * or if they must be changed.
 *
 * @param areChanged Whether the files must be among those that the pull request changes, and have
 *   the lines.
 * @throws Failure `invalid` for lines out of range, and for what is not changed; `not_found` for an answer to a comment that the
 *   caller does not see.
 */
export async function placeComments(
  ctx: Ctx,
  pull: PullContext,
  inputs: readonly NewCodeComment[],
  areChanged = false,
): Promise<PlacedComment[]> {
  if (inputs.length === 0) return [];
  const isOnLine = inputs.some(
    ({ repliedId, ...each }) => repliedId === 0 && (areChanged || lineOf(each) > 0),
  );
  const budget = ctx.git.openBudget(STEPS_MAX);
  const [replied, open] = await Promise.all([
    findReplied(ctx, pull, inputs),
    isOnLine ? openPull(ctx, pull, budget) : undefined,
  ]);
  const diffs = new Map<string, FileChange | undefined>();
  const placed: PlacedComment[] = [];
  for (const each of inputs) {
    const { body, repliedId, path } = each;
    const first = replied.get(repliedId);
    if (repliedId !== 0) {
      if (!first) throw notFound("comment does not exist");
      const { entryId, reviewId: _, issueId: __, resolverId: ___, resolvedAt: ____, ...at } = first;
      placed.push({ ...at, body, rootId: at.rootId ?? entryId });
      continue;
    }
    if (!diffs.has(path) && open) diffs.set(path, await changeOf(open, path, budget));
    const change = diffs.get(path);
    if (areChanged) requireChanged(change, each);
    placed.push({ ...place(pull, open, each, change?.diff), body });
  }
  return placed;
}

/** How the head has changed a file since the merge base. */
interface FileChange {
  readonly change: PathChange;
  /** Undefined for a file without text, or where that is not known. */
  readonly diff: LineDiff | undefined;
  /** Whether the file was too large to be compared. */
  readonly isUnknown: boolean;
}

/** @throws Failure `invalid` for a file that is not changed, and for a line that it does not have. */
function requireChanged(found: FileChange | undefined, input: NewCodeComment): void {
  const { change, diff } = found ?? {};
  if (!change || (change.kind === "modified" && isSame(change.old, change.new))) {
    throw invalidField("path", "must be a file that is changed");
  }
  const line = lineOf(input);
  const isOldSide = input.oldLine > 0;
  // The old side of one that is added may be that of another path, which it had.
  if (line === 0 || found?.isUnknown || (isOldSide && change.kind === "added")) return;
  const count = (isOldSide ? diff?.left : diff?.right)?.count ?? 0;
  if (line > count) throw invalidField("line", "must be a line of the file");
}

const isSame = (a: PathEntry, b: PathEntry): boolean => a.oid === b.oid && a.mode === b.mode;

const lineOf = ({ oldLine, newLine }: Pick<NewCodeComment, "oldLine" | "newLine">): number =>
  oldLine > 0 ? oldLine : newLine;

function place(
  { pull }: PullContext,
  open: OpenPull | undefined,
  inputs: NewCodeComment,
  diff: LineDiff | undefined,
): Omit<PlacedComment, "body"> {
  const line = lineOf(inputs);
  const isOldSide = inputs.oldLine > 0;
  const startLine = inputs.startLine > 0 ? inputs.startLine : line;
  if (startLine > line || line - startLine >= LINES_MAX) {
    throw invalidField(
      "start_line",
      `must be one of the ${LINES_MAX} lines that end with the last`,
    );
  }
  const graph = open?.snapshot.repository.graph;
  const mergeBaseOid = open?.mergeBase === undefined ? "" : (graph?.oid(open.mergeBase) ?? "");
  const hunk = diff ? decodeText(hunkAround(diff, isOldSide ? "old" : "new", line)) : "";
  return {
    rootId: null,
    path: inputs.path,
    line,
    startLine,
    isOldSide,
    isOutdated: false,
    commitOid: isOldSide ? mergeBaseOid : pull.headOid,
    originalCommitOid: pull.headOid,
    originalLine: line,
    diffHunk: [...hunk.toWellFormed()].slice(0, HUNK_CHARS_MAX).join(""),
  };
}

/** How the head changes a file since the merge base; undefined for a path that neither has. */
async function changeOf(
  { snapshot: { repository }, head, mergeBase }: OpenPull,
  path: string,
  budget: Budget,
): Promise<FileChange | undefined> {
  const { graph } = repository;
  const old = mergeBase === undefined ? undefined : graph.oid(mergeBase);
  const change = await findChange(repository, old, graph.oid(head), path);
  if (!change) return undefined;
  try {
    const diff = await diffSides(repository.objects, change, budget);
    return { change, diff, isUnknown: false };
  } catch (error) {
    if (error instanceof GitError) return { change, diff: undefined, isUnknown: true };
    throw error;
  }
}

async function findChange(
  repository: OpenRepository,
  oldOid: string | undefined,
  newOid: string,
  path: string,
): Promise<PathChange | undefined> {
  const old = oldOid === undefined ? undefined : await findFileAt(repository, oldOid, path);
  const fresh = await findFileAt(repository, newOid, path);
  if (old && fresh) return { kind: "modified", old, new: fresh };
  if (old) return { kind: "deleted", old };
  return fresh && { kind: "added", new: fresh };
}

/** The comments that new ones answer, by their ids. */
async function findReplied(
  ctx: Ctx,
  { row }: PullContext,
  inputs: readonly NewCodeComment[],
): Promise<ReadonlyMap<number, CodeComment>> {
  const ids = inputs.map(({ repliedId }) => repliedId).filter((id) => id !== 0);
  if (ids.length === 0) return new Map();
  const callerId = ctx.actor.user?.id ?? null;
  const found = await ctx.db
    .select()
    .from(codeComments)
    .where(
      and(
        eq(codeComments.issueId, row.id),
        sql`${codeComments.entryId} in (select value from json_each(${JSON.stringify(ids)}))`,
        // SECURITY: a reply to a pending comment of another user would reveal it.
        sql`exists (
          select 1 from ${reviews}
          where ${reviews.id} = ${codeComments.reviewId} and ${isReviewVisible(callerId)}
        )`,
      ),
    );
  return new Map(found.map((each) => [each.entryId, each]));
}
