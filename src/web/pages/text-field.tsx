import type { Child } from "hono/jsx";

import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { repositoryPath } from "./addresses.ts";
import { Icon } from "./icon.tsx";
import { Fault, fieldAttributes } from "./layout.tsx";

interface TextFieldProps {
  /** The repository whose issues, users and files the text may refer to. */
  repo: RepositoryContext;
  label: string;
  name: string;
  /** Where a page has several fields of a name. */
  id?: string;
  value: string;
  fault?: string | undefined;
  /** Between the label and the field. */
  hint?: Child;
  placeholder?: string;
  isRequired?: boolean;
  isFirst?: boolean;
  /** Whether the text may have files: that of an issue or a comment, where they are enabled. */
  hasFiles?: boolean;
  charsMax?: number;
  /** Whether links of the text lead to pages of the wiki. */
  isOfWiki?: boolean;
}

/** Maximum characters of a title, as pages take it. */
export const TITLE_CHARS_MAX = 255;

/** Maximum characters of a text, as in the API. */
export const TEXT_CHARS_MAX = 262_144;

/** The options of a page with a `TextField`. */
export const TEXT_PAGE = { scripts: ["text.ts"], loadsParts: true, hasUserText: true } as const;

/** The name of the field that names the field of a text to preview. */
export const PREVIEW_FIELD = "preview";

/** The buttons of the tool bar: `text` or an icon shows what the script `text.ts` does. */
const TOOLS = [
  { format: "heading", label: "Heading", text: "H" },
  { format: "bold", label: "Bold", text: "B", key: "B" },
  { format: "italic", label: "Italic", text: "I", key: "I" },
  { format: "quote", label: "Quote" },
  { format: "code", label: "Code" },
  { format: "link", label: "Link", icon: "chain", key: "K" },
  { format: "list", label: "List" },
  { format: "numbers", label: "Numbered list" },
  { format: "tasks", label: "Task list" },
] as const satisfies readonly Tool[];

interface Tool {
  readonly format: string;
  readonly label: string;
  readonly text?: string;
  /** By default the one named like the format. */
  readonly icon?: string;
  /** The key that does the same with Ctrl. */
  readonly key?: string;
}

/**
 * A field for a text in Markdown, with its preview: without scripts in a tab of its own, so that
 * the form stays as it is.
 */
export function TextField(props: TextFieldProps) {
  const { repo, label, name, id = name, value, fault, hint } = props;
  return (
    <div class="field wide text-field">
      <label for={id}>{label}</label>
      {hint === undefined ? undefined : (
        <div class="hint" id={`${id}-hint`}>
          {hint}
        </div>
      )}
      <div class="text-head">
        <div class="text-tabs" aria-label={`Views of ${label}`}>
          <button type="button" class="scripted" data-view="write">
            Write
          </button>
          {/* The first button of a form is sent by Enter in a line: it must not be the preview. */}
          <button type="submit" class="hidden" tabindex={-1} aria-hidden="true">
            Send
          </button>
          <button
            type="submit"
            name={PREVIEW_FIELD}
            value={name}
            formaction={`${repositoryPath(repo)}/markup${(props.isOfWiki ?? false) ? "?mode=wiki" : ""}`}
            formtarget="_blank"
            formnovalidate
            data-view="preview"
          >
            Preview
          </button>
        </div>
        <div
          class="tools scripted"
          role="toolbar"
          aria-label={`Format ${label}`}
          aria-controls={id}
        >
          {TOOLS.map((tool) => (
            <ToolButton {...tool} />
          ))}
        </div>
      </div>
      <textarea
        id={id}
        name={name}
        rows={8}
        maxlength={props.charsMax ?? TEXT_CHARS_MAX}
        placeholder={props.placeholder}
        required={props.isRequired ?? false}
        {...fieldAttributes(id, fault, hint)}
        autofocus={(props.isFirst ?? false) || fault !== undefined}
        data-suggestions={`${repositoryPath(repo)}/issues/suggestions`}
      >
        {/* A browser leaves out a line break at the beginning. */}
        {`\n${value}`}
      </textarea>
      <Fault id={`${id}-fault`} text={fault} />
      {(props.hasFiles ?? false) ? <FileField id={id} repo={repo} /> : undefined}
    </div>
  );
}

/**
 * A field for files. The script uploads each that is chosen, dropped or pasted; without scripts the
 * button uploads one, in a tab that shows the link to put into the text.
 */
function FileField({ id, repo }: { id: string; repo: RepositoryContext }) {
  return (
    <div class="text-files">
      <label for={`${id}-file`}>
        Attach files<span class="scripted soft">, or drop or paste them into the text</span>
      </label>
      <input id={`${id}-file`} name={`${id}-file`} type="file" />
      <button
        type="submit"
        class="unscripted"
        formaction={`${repositoryPath(repo)}/issues/attachments`}
        formenctype="multipart/form-data"
        formtarget="_blank"
        formnovalidate
      >
        Upload
      </button>
      <p class="hint upload-state" role="status"></p>
    </div>
  );
}

function ToolButton({ format, label, text, icon = format, key }: Tool) {
  return (
    <button
      type="button"
      data-format={format}
      aria-label={label}
      title={key === undefined ? label : `${label} (Ctrl+${key})`}
      aria-keyshortcuts={key === undefined ? undefined : `Control+${key}`}
    >
      {text ?? <Icon name={icon} />}
    </button>
  );
}
