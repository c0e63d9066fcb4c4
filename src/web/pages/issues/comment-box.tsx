import type { Child } from "hono/jsx";

import type { Attachment, User } from "../../../db/schema/index.ts";
import { ATTACHMENT_NAME_MAX } from "../../../domain/issues/attachments/attachment-name.ts";
import type { ReactionCount } from "../../../domain/issues/reactions/count-reactions.ts";
import type { ConversationEntry } from "../../../domain/issues/timeline/open-conversation.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { accountPath } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { Avatar } from "../avatar.tsx";
import { formatBytes } from "../format-bytes.ts";
import { Icon } from "../icon.tsx";
import { Field } from "../layout.tsx";
import { ActionForm, type Sending } from "./action-form.tsx";
import { EditForm } from "./edit-form.tsx";
import { Text } from "./entry.tsx";
import type { Refused } from "./issue-head.tsx";
import { Reactions } from "./reactions.tsx";

/** A text that somebody wrote in a conversation: the issue itself, a comment, a review. */
export interface Written {
  /** The anchor. */
  id: string;
  author: User | undefined;
  /** The author's name on the server that it came from, or "". */
  originalAuthor: string;
  createdAt: number;
  /** What was done, after the author's name. */
  verb: string;
  body: string;
  html: string;
  /** Increases with each edit. */
  contentVersion: number;
  attachments: readonly Attachment[];
  reactions: readonly ReactionCount[];
  /** The id of a comment; undefined for the issue itself. */
  commentId: number | undefined;
  /** The entry of a review. */
  review?: ConversationEntry;
}

/** What tells a text, its files and its reactions from others. */
export const versionOf = ({
  contentVersion,
  attachments,
  reactions,
}: Pick<Written, "contentVersion" | "attachments" | "reactions">): string =>
  [
    contentVersion,
    ...attachments.map(({ id, name }) => `${id} ${name}`),
    ...reactions.map(({ content, count, isOwn }) => `${content} ${count} ${isOwn}`),
  ].join();

interface CommentBoxProps {
  repo: RepositoryContext;
  /** Whether texts may have files. */
  hasFiles: boolean;
  written: Written;
  now: number;
  sending: Sending;
  isEditing: boolean;
  mayEdit: boolean;
  mayQuote: boolean;
  mayReact: boolean;
  /** Its edit, if that was refused. */
  refused: Refused | undefined;
  /** Differs where the page shows something else, but for the time that has passed. */
  version: string;
  /** What stands below the text. */
  below?: Child;
}

/** A text of a conversation with its author, files and reactions. */
export function CommentBox(props: CommentBoxProps) {
  const { written, now, sending, isEditing, mayEdit, mayQuote, mayReact, below, version } = props;
  const { id, author, originalAuthor, reactions, commentId, contentVersion } = written;
  return (
    <li class="comment" id={id} tabindex={-1} data-entry={version}>
      {author && originalAuthor === "" ? <Avatar account={author} size={32} /> : undefined}
      <article
        class="box grow"
        aria-label={`Text of ${originalAuthor || (author?.name ?? "Ghost")}`}
      >
        <header class="box-head">
          <span class="grow">
            {originalAuthor !== "" ? (
              originalAuthor
            ) : author ? (
              <a href={accountPath(author)}>
                <strong>{author.name}</strong>
              </a>
            ) : (
              "Ghost"
            )}{" "}
            {written.verb}{" "}
            <a class="soft" href={`#${id}`}>
              <Ago at={written.createdAt} now={now} />
            </a>
            {contentVersion === 0 ? undefined : (
              <>
                {" "}
                <a
                  class="soft"
                  href={`${sending.path}/history${commentId === undefined ? "" : `?comment=${commentId}`}`}
                >
                  edited
                </a>
              </>
            )}
          </span>
          {mayQuote ? (
            <a href={quoteAddress(sending, written)} data-quote>
              Quote
            </a>
          ) : undefined}
          {mayEdit && !isEditing ? <OwnMenu {...props} /> : undefined}
        </header>
        {isEditing ? (
          <EditForm
            {...written}
            repo={props.repo}
            hasFiles={props.hasFiles}
            sending={sending}
            cancelHref={addressOf(sending, commentId, {})}
            refused={props.refused}
          />
        ) : below !== undefined && written.html.trim() === "" ? undefined : (
          <Text html={written.html} empty="No description." />
        )}
        <Files {...written} sending={sending} isEditing={isEditing} />
        {below}
        {isEditing ? undefined : (
          <Reactions
            reactions={reactions}
            sending={mayReact ? sending : undefined}
            {...(commentId !== undefined && { commentId })}
          />
        )}
      </article>
    </li>
  );
}

/** The address of the form for a comment, with a text quoted in it. */
const quoteAddress = ({ path }: Sending, { id }: Written): string => {
  const [, entry = ""] = /^issuecomment-(\d+)$/.exec(id) ?? [];
  const named = new URLSearchParams(entry === "" ? { quote: id } : { entry, quote: id });
  return `${path}?${named.toString()}#new-comment`;
};

/** The address of a text: a comment may be on a later page of the conversation. */
function addressOf(
  { path }: Sending,
  commentId: number | undefined,
  query: Record<string, string>,
): string {
  if (commentId === undefined) return `${path}?${new URLSearchParams(query).toString()}`;
  const named = new URLSearchParams({ entry: String(commentId), ...query });
  return `${path}?${named.toString()}#issuecomment-${commentId}`;
}

function OwnMenu({ written: { commentId }, sending }: CommentBoxProps) {
  return (
    <>
      <a href={addressOf(sending, commentId, { edit: String(commentId ?? "body") })}>Edit</a>
      {commentId === undefined ? undefined : (
        <details class="menu">
          <summary>Delete</summary>
          <div class="menu-body">
            <p>The comment and its files are gone for good.</p>
            <ActionForm {...sending} action="delete-comment">
              <input type="hidden" name="comment" value={commentId} />
              <button type="submit" class="danger">
                Delete comment
              </button>
            </ActionForm>
          </div>
        </details>
      )}
    </>
  );
}

interface FilesProps extends Pick<Written, "attachments" | "commentId"> {
  sending: Sending;
  isEditing: boolean;
}

/** The files of a text, with forms that change them while it is edited. */
export function Files({ attachments, commentId, sending, isEditing }: FilesProps) {
  if (attachments.length === 0) return <></>;
  return (
    <ul class="inside assets">
      {attachments.map(({ id, uuid, name, sizeBytes }) => (
        <li class="row">
          <span>
            <Icon name="file" />
            <a href={`/attachments/${uuid}`}>{name}</a>{" "}
            <span class="soft">{formatBytes(sizeBytes)}</span>
          </span>
          {isEditing ? (
            <FileMenu id={id} name={name} commentId={commentId} sending={sending} />
          ) : undefined}
        </li>
      ))}
    </ul>
  );
}

interface FileMenuProps {
  id: number;
  name: string;
  commentId: number | undefined;
  sending: Sending;
}

function FileMenu({ id, name, commentId, sending }: FileMenuProps) {
  const subject = (
    <>
      <input type="hidden" name="file" value={id} />
      <input type="hidden" name="comment" value={commentId ?? ""} />
    </>
  );
  return (
    <details class="menu end">
      <summary>{`Change ${name}`}</summary>
      <div class="menu-body">
        <ActionForm {...sending} action="rename-file">
          {subject}
          <Field
            label="Name"
            name="name"
            id={`file-${id}`}
            value={name}
            maxlength={ATTACHMENT_NAME_MAX}
          />
          <button type="submit">Rename</button>
        </ActionForm>
        <ActionForm {...sending} action="delete-file">
          {subject}
          <button type="submit" class="danger">
            Delete file
          </button>
        </ActionForm>
      </div>
    </details>
  );
}
