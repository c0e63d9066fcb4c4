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
import { findFileAt } from "../reviews/find-file-at.ts";
import { readSuggestion } from "../reviews/read-suggestion.ts";
import { requireWritableHead } from "../pull/writable-head.ts";

/** Maximum size of a file that a suggestion changes, in bytes. */
const FILE_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Applies the suggestion of a comment as a commit of the caller to the branch of the head, with the
 * author of the comment as a co-author.
 *
 * @param message The message of the commit; undefined for one that names the file.
 * @throws Failure `invalid` for a comment that suggests nothing, on the old side, of a pending
 * review, and for a pull request that is closed or whose head has no branch any more; `conflict`
 * where the file has changed since, or would not change; else as `requireWritableHead`.
 */
export async function applyCodeSuggestion(
  ctx: Ctx,
  pull: PullContext,
  comment: CodeCommentContext,
  user: User,
  message?: string,
): Promise<MadeCommit> {
  const { code, entry, review } = comment;
  const replacement = readSuggestion(entry.body);
  if (replacement === undefined) throw invalid("the comment suggests nothing");
  if (review.state === "pending") throw invalid("the review of the comment is pending");
  if (code.isOldSide || code.line === 0) throw invalid("the comment is on no line of the head");
  if (pull.row.isClosed) throw invalid("the pull request is closed");
  const { headTip } = pull;
  const headRepo = await requireWritableHead(ctx, pull);
  if (headTip === undefined) throw invalid("the head is no branch");
  const { headOid, headBranch } = pull.pull;
  if (code.isOutdated || code.commitOid !== headOid) throw isStale();
  const fallback = `Apply suggestion to ${code.path}`;
  const { made } = await commitFilesUnchecked(
    ctx,
    headRepo,
    user,
    {
      branch: headBranch,
      isForced: false,
      isSignedOff: false,
      message: `${message?.trim() || fallback}${coAuthor(ctx, comment, user)}`,
    },
    fallback,
    (target) => edit(target, comment, headOid, replacement),
  );
  return made;
}

const isStale = () => conflict("the suggestion is for another version of the file");

/** Changes the file, which must be the one that the comment is about. */
async function edit(
  { tree, pack, repository }: EditTarget,
  { code }: CodeCommentContext,
  headOid: string,
  replacement: string,
): Promise<void> {
  const names = readTreePath(code.path);
  const [commented, present] = await Promise.all([
    findFileAt(repository, headOid, code.path),
    tree.find(names),
  ]);
  if (!commented || !present || commented.oid !== present.oid) throw isStale();
  const found = await repository.catalog.findSized(present.oid);
  if (!found || found.sizeBytes > FILE_BYTES_MAX) {
    throw invalid("the file is too large for a suggestion");
  }
  const old = await repository.objects.readAt(found.location);
  const fresh = applySuggestion(old, code.startLine, code.line, replacement);
  if (!fresh) throw isStale();
  const oid = pack.add("blob", fresh);
  if (oid === present.oid) throw conflict("the suggestion changes nothing");
  await tree.put(names, { mode: present.mode, oid });
}

/** The trailer for the author of the comment, where the caller is another user. */
function coAuthor(ctx: Ctx, { poster }: CodeCommentContext, user: User): string {
  if (!poster || poster.id === user.id) return "";
  const { name, email } = toIdentity(ctx, poster);
  return `\n\nCo-authored-by: ${decodeText(name)} <${decodeText(email)}>`;
}
