import type { Ctx } from "../../../context.ts";
import type { User } from "../../../db/schema/index.ts";
import { decodeText } from "../../../git/byte-text.ts";
import { applySuggestion } from "../../../git/apply/apply-suggestion.ts";
import { conflict, invalid } from "../../../lib/failure.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { CodeCommentContext } from "../../../shapes/pulls/pull-review-comment.ts";
import { toIdentity } from "../../people/accounts/git-identity.ts";
import {
  commitFilesUnchecked,
  type EditTarget,
  type MadeCommit,
} from "../../code/contents/commit-files.ts";
import { readTreePath } from "../../code/contents/tree-path.ts";
import { findCodeComments } from "../reviews/find-code-comments.ts";
import { findFileAt } from "../reviews/find-file-at.ts";
import { followComments } from "../reviews/follow-comments.ts";
import { catchUp } from "../sync/catch-up.ts";
import { requireWritableHead } from "../pull/writable-head.ts";

/** Maximum size of a file that a suggestion changes, in bytes. */
const FILE_BYTES_MAX = 4 * 1024 * 1024;

/** Maximum suggestions of one commit. */
export const SUGGESTIONS_MAX = 100;

/**
 * Applies the suggestion of a comment as a commit of the caller to the branch of the head, with the
 * author of the comment as a co-author.
 *
 * @throws Failure as `applyCodeSuggestions`.
 */
export const applyCodeSuggestion = (
  ctx: Ctx,
  pull: PullContext,
  comment: CodeCommentContext,
  user: User,
  message?: string,
): Promise<MadeCommit> => applyCodeSuggestions(ctx, pull, [comment], user, message);

/**
 * Applies the suggestions of comments together as one commit of the caller to the branch of the
 * head, with the authors of the comments as co-authors: all of them, or none.
 *
 * @param message The message of the commit; undefined for one that names the file or the number of
 * suggestions.
 * @throws Failure `invalid` for no comment or more than 100, for one that suggests nothing, on the
 * old side, of a pending review, and for a pull request that is closed or whose head has no branch
 * any more; `conflict` where the lines have changed since, where two suggestions are for the same
 * line, and where a file would not change; else as `requireWritableHead`.
 */
export async function applyCodeSuggestions(
  ctx: Ctx,
  pull: PullContext,
  comments: readonly CodeCommentContext[],
  user: User,
  message?: string,
): Promise<MadeCommit> {
  if (comments.length === 0) throw invalid("no suggestion is chosen");
  if (comments.length > SUGGESTIONS_MAX) {
    throw invalid(`at most ${SUGGESTIONS_MAX} suggestions make a commit`);
  }
  const replacements = await readReplacements(ctx, comments);
  if (pull.row.isClosed) throw invalid("the pull request is closed");
  const headRepo = await requireWritableHead(ctx, pull);
  if (pull.headTip === undefined) throw invalid("the head is no branch");
  const { headOid, headBranch } = (await catchUp(ctx, pull)).pull;
  const suggestions = (await followAll(ctx, pull, comments, headOid)).map(({ code, entry }) => {
    const replacement = replacements.get(entry.id);
    const isHere = !code.isOutdated && code.commitOid === headOid;
    if (replacement === undefined || !isHere) throw changedSince();
    const { path, startLine, line } = code;
    return { path, startLine, line, replacement };
  });
  const byPath = Map.groupBy(suggestions, ({ path }) => path);
  for (const ofFile of byPath.values()) requireApart(ofFile);
  const [first] = suggestions;
  const fallback =
    first && suggestions.length === 1
      ? `Apply suggestion to ${first.path}`
      : `Apply ${suggestions.length} suggestions`;
  const trailers = new Set(comments.flatMap((comment) => coAuthor(ctx, comment, user)));
  const { made } = await commitFilesUnchecked(
    ctx,
    headRepo,
    user,
    {
      branch: headBranch,
      isForced: false,
      isSignedOff: false,
      message: [
        message?.trim() || fallback,
        ...(trailers.size === 0 ? [] : [""]),
        ...trailers,
      ].join("\n"),
    },
    fallback,
    async (target) => {
      for (const [path, ofFile] of byPath) await edit(target, path, ofFile, headOid);
    },
  );
  return made;
}

const changedSince = () => conflict("the suggestion is for another version of the file");

/** What a comment suggests, and for which lines of the head. */
interface PlacedSuggestion {
  readonly path: string;
  readonly startLine: number;
  readonly line: number;
  readonly replacement: string;
}

/** What comments suggest, by their ids. */
async function readReplacements(
  ctx: Ctx,
  comments: readonly CodeCommentContext[],
): Promise<ReadonlyMap<number, string>> {
  // Loaded on first use, as it reads what the renderer shows.
  const { readSuggestion } = await import("../../../render/suggestion.ts");
  const { RENDER_STEPS_MAX } = await import("../../../render/render-budget.ts");
  const budget = ctx.git.openBudget(RENDER_STEPS_MAX);
  const replacements = new Map<number, string>();
  for (const { code, entry, review } of comments) {
    const replacement = await readSuggestion(entry.body, budget);
    if (replacement === undefined) throw invalid("the comment suggests nothing");
    if (review.state === "pending") throw invalid("the review of the comment is pending");
    if (code.isOldSide || code.line === 0) throw invalid("the comment is on no line of the head");
    replacements.set(entry.id, replacement);
  }
  return replacements;
}

/** Comments with their places in the head, which the job that follows it may not have moved yet. */
async function followAll(
  ctx: Ctx,
  pull: PullContext,
  comments: readonly CodeCommentContext[],
  headOid: string,
): Promise<readonly CodeCommentContext[]> {
  if (comments.every(({ code }) => code.commitOid === headOid)) return comments;
  const ids = comments.map(({ entry }) => entry.id);
  await followComments(ctx, pull, headOid, pull.pull.mergeBaseOid, ids);
  return findCodeComments(ctx, pull.repo, pull.row.number, ids);
}

/** Refuses suggestions for the same line of a file. */
function requireApart(suggestions: readonly PlacedSuggestion[]): void {
  const inOrder = suggestions.toSorted((a, b) => a.startLine - b.startLine);
  for (const [at, { startLine, path }] of inOrder.entries()) {
    if (startLine > (inOrder[at - 1]?.line ?? 0)) continue;
    throw conflict(`two suggestions are for line ${startLine} of ${path}: choose one of them`);
  }
}

/** Changes a file, which must be the one that the comments are about. */
async function edit(
  { tree, pack, repository }: EditTarget,
  path: string,
  suggestions: readonly PlacedSuggestion[],
  headOid: string,
): Promise<void> {
  const names = readTreePath(path);
  const [commented, present] = await Promise.all([
    findFileAt(repository, headOid, path),
    tree.find(names),
  ]);
  if (!commented || !present || commented.oid !== present.oid) throw changedSince();
  const found = await repository.catalog.findSized(present.oid);
  if (!found || found.sizeBytes > FILE_BYTES_MAX) {
    throw invalid("the file is too large for a suggestion");
  }
  let text = await repository.objects.readAt(found.location);
  // From the last line up, so that the lines of the others keep their numbers.
  for (const each of suggestions.toSorted((a, b) => b.line - a.line)) {
    const fresh = applySuggestion(text, each.startLine, each.line, each.replacement);
    if (!fresh) throw changedSince();
    text = fresh;
  }
  const oid = pack.add("blob", text);
  if (oid === present.oid) throw conflict("the suggestion changes nothing");
  await tree.put(names, { mode: present.mode, oid });
}

/** The trailer for the author of the comment, where the caller is another user. */
function coAuthor(ctx: Ctx, { poster }: CodeCommentContext, user: User): string[] {
  if (!poster || poster.id === user.id) return [];
  const { name, email } = toIdentity(ctx, poster);
  return [`Co-authored-by: ${decodeText(name)} <${decodeText(email)}>`];
}
