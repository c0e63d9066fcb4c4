import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { AsItIs } from "../as-it-is.tsx";
import { TextField } from "../text-field.tsx";
import { ActionForm, type Sending } from "./action-form.tsx";
import type { Refused } from "./issue-head.tsx";

interface EditFormProps {
  repo: RepositoryContext;
  /** As of `TextField`. */
  hasFiles: boolean;
  /** The anchor of the text. */
  id: string;
  body: string;
  /** Increases with each edit. */
  contentVersion: number;
  /** The id of a comment; undefined for the issue itself. */
  commentId: number | undefined;
  sending: Sending;
  /** Where the page stands without the form. */
  cancelHref: string;
  /** The edit, if it was refused. */
  refused: Refused | undefined;
}

/** The form that changes a text of a conversation. */
export function EditForm(props: EditFormProps) {
  const { repo, hasFiles, id, body, contentVersion, commentId, sending, cancelHref, refused } =
    props;
  const isStale = refused && refused.form.text("content_version") !== String(contentVersion);
  return (
    <ActionForm
      {...sending}
      action={commentId === undefined ? "edit-body" : "edit-comment"}
      class="inside"
    >
      {commentId === undefined ? undefined : (
        <input type="hidden" name="comment" value={commentId} />
      )}
      <input type="hidden" name="content_version" value={contentVersion} />
      <TextField
        repo={repo}
        hasFiles={hasFiles}
        label="Text"
        name="body"
        id={`edit-${id}`}
        value={refused?.form.text("body") ?? body}
        fault={refused?.refusal.fault}
        isRequired={commentId !== undefined}
        isFirst
      />
      {isStale ? (
        <AsItIs what="The text">
          <p class="message">{body}</p>
        </AsItIs>
      ) : undefined}
      <div class="row">
        <button type="submit" class="primary">
          Save
        </button>
        <a class="button" href={cancelHref}>
          Cancel
        </a>
      </div>
    </ActionForm>
  );
}
