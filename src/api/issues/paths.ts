import { PathId } from "../path-id.ts";
import { RepoPath } from "../repos/paths.ts";

export const IssuePath = RepoPath.extend({
  index: PathId.openapi({ description: "Number of the issue or pull request" }),
});

export const CommentPath = RepoPath.extend({
  id: PathId.openapi({ description: "Id of the comment" }),
});

export const IssueCommentPath = IssuePath.extend(CommentPath.shape);

const attachmentId = { attachment_id: PathId.openapi({ description: "Id of the file" }) };

export const IssueAttachmentPath = IssuePath.extend(attachmentId);
export const CommentAttachmentPath = CommentPath.extend(attachmentId);
