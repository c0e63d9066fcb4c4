import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { LineSide } from "../repository/diff-rows.ts";
import { TextField } from "../text-field.tsx";
import { ActionForm, type Sending } from "./action-form.tsx";

/** Lines of a file that a comment is about. */
export interface CodePlace {
  path: string;
  side: LineSide;
  /** The last line; 0 for the file as a whole. */
  line: number;
  startLine: number;
}

interface CodeFormProps {
  repo: RepositoryContext;
  /** As of `TextField`. */
  hasFiles: boolean;
  sending: Sending;
  now: number;
  /** Undefined for an answer. */
  place: CodePlace | undefined;
  /** The comment that begins the conversation, of an answer. */
  repliedId: number | undefined;
  /** The head that the page shows. */
  headOid: string;
  hasPending: boolean;
  body: string;
  fault?: string | undefined;
  /** Where the page stands without the form. */
  cancelHref: string;
  /** Where the same form begins with a suggestion for the lines; undefined where there is none. */
  suggestHref?: string | undefined;
}

/** Lines in words: "Line 12", "Lines 3 to 5 of the old file"; nothing for a whole file. */
export function namePlace({ side, line, startLine }: Omit<CodePlace, "path">): string {
  if (line === 0) return "";
  const lines = startLine === line ? `Line ${line}` : `Lines ${startLine} to ${line}`;
  return side === "L" ? `${lines} of the old file` : lines;
}

/** The form for a comment on code, or for an answer to one. */
export function CodeForm(props: CodeFormProps) {
  const { repo, sending, now, place, repliedId, headOid, hasPending, body, fault, suggestHref } =
    props;
  const line = place?.line ?? 0;
  return (
    <ActionForm {...sending} action="code-comment" class="code-form" id="code-form">
      <input type="hidden" name="opened_at" value={now} />
      <input type="hidden" name="head" value={headOid} />
      <input type="hidden" name="replied" value={repliedId ?? 0} />
      <input type="hidden" name="path" value={place?.path ?? ""} />
      <input type="hidden" name="side" value={place?.side ?? "R"} />
      <input type="hidden" name="line" value={line} />
      <label class="row lines" hidden={line === 0}>
        Lines
        <input type="number" name="start_line" max={line} value={place?.startLine ?? 0} />
        <span>{`to ${line}${place?.side === "L" ? " of the old file" : ""}`}</span>
      </label>
      <TextField
        repo={repo}
        label="Comment"
        name="body"
        id="code-body"
        value={body}
        fault={fault}
        hasFiles={props.hasFiles}
        isRequired
        isFirst
      />
      <div class="row">
        {hasPending ? undefined : (
          <button type="submit" name="when" value="now">
            Comment now
          </button>
        )}
        <button type="submit" name="when" value="review" class="primary">
          {hasPending ? "Add to review" : "Start a review"}
        </button>
        {suggestHref === undefined ? undefined : (
          <a class="button" href={suggestHref} data-suggest>
            Suggest a change
          </a>
        )}
        <a class="button" href={props.cancelHref} data-cancel>
          Cancel
        </a>
      </div>
    </ActionForm>
  );
}
