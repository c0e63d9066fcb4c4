import { type Context, Hono } from "hono";
import { raw } from "hono/html";

import { diffTexts } from "../../../domain/code/commits/list-file-diffs.ts";
import { applyFiles, type FileOperation } from "../../../domain/code/contents/change-files.ts";
import { hasRefs, readSnapshot } from "../../../domain/code/git/open-snapshot.ts";
import { resolveName } from "../../../domain/code/git/find-revision.ts";
import { splitPath } from "../../../domain/code/contents/find-entry.ts";
import {
  type EditableFile,
  EDITED_BYTES_MAX,
  readEditableFile,
} from "../../../domain/code/contents/read-editable-file.ts";
import type { TextForm } from "../../../domain/code/contents/text-form.ts";
import { applyDefinition } from "../../../domain/code/editorconfig/apply-definition.ts";
import { findDefinition } from "../../../domain/code/editorconfig/find-definition.ts";
import { branchRef } from "../../../domain/code/branches/find-branch.ts";
import { hashObject } from "../../../git/object/hash-object.ts";
import { MODE_FILE } from "../../../git/object/tree.ts";
import { conflict, Failure, invalidField, notFound, tooLarge } from "../../../lib/failure.ts";
import { requestPath } from "../../../lib/request-path.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { WebEnv } from "../../env.ts";
import { AsItIs } from "../as-it-is.tsx";
import { GeneralFault } from "../create/fields.tsx";
import { FormState } from "../create/form-state.ts";
import type { Form as SentForm } from "../form.ts";
import { formatBytes } from "../format-bytes.ts";
import { Fault, Field, Form, Notice } from "../layout.tsx";
import { showDiffs } from "../repository/diff.tsx";
import { DIFF_STYLES } from "../repository/diff-view.ts";
import { renderDocument } from "../repository/render-document.ts";
import { UserText } from "../user-text.tsx";
import { type ChangePage, receiveChange, renderChange, showChange } from "./change-page.tsx";
import { COMMIT_FIELDS, CommitFields, pathAfterCommit, readCommit } from "./commit-fields.tsx";
import { editorPath, unchangedPath } from "../editor-path.ts";
import type { EditorPage, EditorPlace } from "./enter.ts";

/** A text of 1 MiB, each line break of which takes six bytes, and the other fields. */
const FORM_BYTES_MAX = 7 * 1024 * 1024;

const PATH_CHARS_MAX = 4096;

type Definition = Readonly<Record<string, string>>;

/** What the address of the page names, and how its directory is edited. */
interface FoundFile {
  /** Undefined for a new file, and for one that is not there any more. */
  readonly file: EditableFile | undefined;
  /** The EditorConfig properties of the path of the form. */
  readonly definition: Definition;
}

/** The pages on which a file is written. */
export const fileEditor = new Hono<WebEnv>();

fileEditor.get("/:owner/:repo/_new/:path{.+}", (c) => showChange(c, newFile));
fileEditor.post("/:owner/:repo/_new/:path{.+}", (c) => receiveChange(c, newFile));
fileEditor.get("/:owner/:repo/_edit/:path{.+}", (c) => showChange(c, editedFile));
fileEditor.post("/:owner/:repo/_edit/:path{.+}", (c) => receiveChange(c, editedFile));

const shared = {
  bytesMax: FORM_BYTES_MAX,
  fieldOf: (message: string) =>
    /^(?:path contains|a \w+(?: \w+)? exists where|repository file already)/.test(message)
      ? "tree_path"
      : undefined,
} as const;

const newFile: ChangePage<FoundFile> = {
  ...shared,
  read: async (place, c) => ({
    file: undefined,
    definition: await readDefinition(place, [...place.names, c.req.query("filename") ?? "a"]),
  }),
  show: (c, page, found, state) =>
    showEditor(c, page, {
      found,
      state:
        state ??
        FormState.fresh({
          tree_path: (page.path === "" ? "" : `${page.path}/`) + (c.req.query("filename") ?? ""),
          return_uri: c.req.query("return_uri") ?? "",
        }),
      isNew: true,
    }),
  commit: (page, target, form) => commitFile(page, target, form, undefined),
};

const editedFile: ChangePage<FoundFile> = {
  ...shared,
  read: async (place, c) => {
    const { snapshot, revision, names } = place;
    const file = await readEditableFile(snapshot.repository, revision, names);
    // A form of a file that somebody else has deleted meanwhile is shown again.
    if (!file && c.req.method === "GET") throw notFound();
    return { file, definition: await readDefinition(place, names) };
  },
  show: (c, page, found, state) => {
    if (page.isFirst) throw notFound();
    const { file } = found ?? {};
    const fresh = {
      tree_path: page.path,
      content: file?.text ?? "",
      sha: file?.oid ?? "",
      line_end: file?.form.lineEnd ?? "lf",
      mark: file?.form.hasMark ? "on" : "",
      return_uri: c.req.query("return_uri") ?? "",
    };
    return showEditor(c, page, { found, state: state ?? FormState.fresh(fresh), isNew: false });
  },
  commit: (page, target, form, found) => commitFile(page, target, form, found?.file),
};

async function readDefinition(
  { snapshot: { repository }, revision }: EditorPlace,
  names: readonly string[],
): Promise<Definition> {
  const root = await repository.graph.loadRoot(revision.node);
  return (root && (await findDefinition(repository, root, names))) ?? {};
}

/** The path that a form gives to its file: one with spaces around it stays as it is. */
const readPath = ({ path }: EditorPage, form: SentForm): string =>
  form.text("tree_path") === path ? path : form.line("tree_path", PATH_CHARS_MAX);

const readTextForm = (form: SentForm): TextForm => ({
  lineEnd: form.text("line_end") === "crlf" ? "crlf" : "lf",
  hasMark: form.text("mark") !== "",
});

/**
 * The content that a form gives to its file, as the EditorConfig of its path asks for it.
 *
 * @throws Failure `too_large`.
 */
async function readContent(page: EditorPage, form: SentForm): Promise<Uint8Array> {
  const { ctx, repo, branch, isFirst } = page;
  const names = splitPath(readPath(page, form));
  const definition = isFirst
    ? {}
    : await readSnapshot(ctx, repo, async (snapshot) => {
        const revision = resolveName(snapshot, branchRef(branch));
        return revision ? readDefinition({ snapshot, revision, names }, names) : {};
      });
  const content = applyDefinition(form.text("content"), definition, readTextForm(form));
  if (content.length > EDITED_BYTES_MAX) {
    throw tooLarge(`The file has more than ${formatBytes(EDITED_BYTES_MAX)}: upload it.`);
  }
  return content;
}

/**
 * Commits the file of a form.
 *
 * @param file The edited file as it is now.
 * @throws Failure `conflict` if it is not the one of the form any more.
 */
async function commitFile(
  page: EditorPage,
  target: RepositoryContext,
  form: SentForm,
  file: EditableFile | undefined,
): Promise<string> {
  const { ctx, user } = page;
  const path = readPath(page, form);
  if (path === "") throw invalidField("tree_path", "must not be empty");
  const sha = form.text("sha");
  const isText = form.isSet("content");
  const content = isText ? await readContent(page, form) : undefined;
  try {
    if (sha !== "" && sha !== file?.oid) throw conflict(file ? CHANGED : DELETED);
    await applyFiles(ctx, target, user, [toOperation(page, path, sha, content)], {
      ...(await readCommit(page, form)),
    });
  } catch (error) {
    // A form that is sent twice finds what the first one has done.
    if (!(error instanceof Failure) || !(await isDone(page, target, form, path, content)))
      throw error;
  }
  return pathAfterCommit(page, form, path);
}

const CHANGED = "Somebody else has changed the file meanwhile: it is shown below your text.";
const DELETED =
  "Somebody else has deleted or moved the file meanwhile. If you commit again, it is created anew.";

function toOperation(
  page: EditorPage,
  path: string,
  sha: string,
  content: Uint8Array | undefined,
): FileOperation {
  if (sha === "") return { kind: "create", path, content };
  const kind = content ? "update" : "rename";
  return { kind, path, fromPath: page.path, content, sha };
}

/** Whether the branch of a form has the file already as the form gives it. */
async function isDone(
  page: EditorPage,
  target: RepositoryContext,
  form: SentForm,
  path: string,
  content: Uint8Array | undefined,
): Promise<boolean> {
  const isNew = form.text("commit_choice") === "commit-to-new-branch" || target !== page.repo;
  const branch = isNew ? form.text("new_branch_name").trim() : page.branch;
  const oid = content ? hashObject("blob", content) : form.text("sha");
  return readSnapshot(page.ctx, target, async (snapshot) => {
    const revision = hasRefs(snapshot.state) && resolveName(snapshot, branchRef(branch));
    if (!revision || (path === page.path && oid === form.text("sha"))) return false;
    const { repository } = snapshot;
    const there = await readEditableFile(repository, revision, splitPath(path));
    const left = form.text("sha") !== "" && path !== page.path;
    const old = left
      ? await readEditableFile(repository, revision, splitPath(page.path))
      : undefined;
    return there?.oid === oid && !old;
  });
}

interface EditorProps {
  found: FoundFile | undefined;
  state: FormState;
  isNew: boolean;
}

/** Why a file has no text to edit. */
const OBSTACLES = {
  symlink: "It is a symbolic link, which can't be edited here.",
  submodule: "It is a submodule: its commit can't be changed here.",
  lfs: "Its content is stored with Git LFS, and can't be edited here: git would store what you write instead of it.",
  binary: "It is no text in UTF-8, and can't be edited here.",
  large: `It is larger than ${formatBytes(EDITED_BYTES_MAX)}, and can't be edited here.`,
} as const;

async function showEditor(
  c: Context<WebEnv>,
  page: EditorPage,
  { found, state, isNew }: EditorProps,
): Promise<Response> {
  const { repo, branch, path, formToken } = page;
  const { file, definition = {} } = found ?? {};
  const title = isNew ? "New file" : `Edit ${path}`;
  const { obstacle } = file ?? {};
  const action = requestPath(c.req.url);
  const cancel = unchangedPath(repo, branch, path);
  const isStale = !isNew && state.isStale("sha", file?.oid ?? "");
  const result = obstacle ? undefined : await renderResult(page, state, file);
  const hidden = {
    sha: file?.oid ?? "",
    line_end: state.of("line_end").value,
    mark: state.of("mark").value,
    return_uri: state.of("return_uri").value,
  };
  return renderChange(
    c,
    page,
    title,
    {
      status: state.refusal?.status ?? 200,
      ...(obstacle ? {} : { scripts: ["editor.ts"], loadsParts: true, hasUserText: true }),
    },
    <section class="card form editing">
      <h2>{title}</h2>
      <GeneralFault state={state} fields={["tree_path", "content", ...COMMIT_FIELDS]} />
      {obstacle ? <Obstacle page={page} obstacle={obstacle} /> : undefined}
      {obstacle === "symlink" || obstacle === "submodule" ? undefined : (
        <Form action={action} formToken={formToken}>
          {Object.entries(hidden).map(([name, value]) => (
            <input type="hidden" name={name} value={value} />
          ))}
          <Field
            label="Path"
            {...state.of("tree_path")}
            hint="Slashes lead into directories, which are made if they are missing."
            maxlength={PATH_CHARS_MAX}
            isFirst={isNew}
          />
          {obstacle ? undefined : (
            <>
              {file?.isMixed ? (
                <Notice kind="error">
                  {`Some lines of the file end in another way than others. All will end with ${file.form.lineEnd === "crlf" ? "CRLF" : "LF"}.`}
                </Notice>
              ) : undefined}
              <Content state={state} definition={definition} />
              {isStale && file ? (
                <AsItIs what="The file">
                  <pre class="message theirs">{file.text}</pre>
                </AsItIs>
              ) : undefined}
              <div id="editor-result" class="editor-result" tabindex={-1} aria-live="polite">
                {result}
              </div>
            </>
          )}
          <CommitFields page={page} state={state} summary={isNew ? "Add …" : `Update ${path}`}>
            <div class="row">
              <button type="submit" class="primary">
                Commit
              </button>
              {obstacle ? undefined : (
                <>
                  <button type="submit" name="action" value="diff" data-result>
                    Show changes
                  </button>
                  <button type="submit" name="action" value="preview" data-result>
                    Preview
                  </button>
                </>
              )}
              <a class="button" href={cancel}>
                Cancel
              </a>
            </div>
          </CommitFields>
        </Form>
      )}
    </section>,
  );
}

/** Why the file is not edited, and what can be done with it. */
function Obstacle({ page, obstacle }: { page: EditorPage; obstacle: keyof typeof OBSTACLES }) {
  const { repo, branch, path } = page;
  const above = path.slice(0, Math.max(0, path.lastIndexOf("/")));
  const isFile = obstacle !== "symlink" && obstacle !== "submodule";
  return (
    <p>
      {`${OBSTACLES[obstacle]} `}
      {isFile ? (
        <>
          {"You can rename it below, "}
          <a href={editorPath(repo, "_upload", branch, above)}>upload a file of its name</a>
          {", or "}
        </>
      ) : (
        "You can "
      )}
      <a href={editorPath(repo, "_delete", branch, path)}>delete it</a>.
    </p>
  );
}

/** The properties of EditorConfig that the script of the field honors. */
const FIELD_PROPERTIES = ["indent_style", "indent_size", "tab_width"] as const;

function Content({ state, definition }: { state: FormState; definition: Definition }) {
  const { value, fault } = state.of("content");
  const data = FIELD_PROPERTIES.map((name) => [
    `data-${name.replaceAll("_", "-")}`,
    definition[name],
  ]);
  const kept = ["trim_trailing_whitespace", "insert_final_newline", "end_of_line"].filter(
    (name) => definition[name] !== undefined && definition[name] !== "false",
  );
  return (
    <div class="field wide code-field">
      <label for="content">Content</label>
      <textarea
        id="content"
        name="content"
        rows={20}
        spellcheck={false}
        autocapitalize="none"
        wrap="off"
        aria-invalid={fault === undefined ? undefined : "true"}
        aria-describedby="content-hint"
        {...Object.fromEntries(data)}
      >
        {/* A browser leaves out a line break at the beginning. */}
        {`\n${value}`}
      </textarea>
      <Fault id="content-fault" text={fault} />
      <p class="hint" id="content-hint">
        <span class="scripted">Tab indents: Escape, then Tab, leaves the field. </span>
        {kept.length === 0
          ? undefined
          : `The .editorconfig of the repository is honored: ${kept.join(", ")}.`}
      </p>
    </div>
  );
}

/** What the form would commit, as one of its buttons asks. */
async function renderResult(page: EditorPage, state: FormState, file: EditableFile | undefined) {
  const { ctx, repo, branch } = page;
  const action = state.of("action").value;
  const path = readPath(page, state.form);
  if (state.refusal || path === "") return undefined;
  if (action === "preview") {
    const text = state.of("content").value.replaceAll("\r\n", "\n");
    const shown = { path, text } as Parameters<typeof renderDocument>[3];
    const html = await renderDocument(ctx, repo, { kind: "branch", name: branch }, shown);
    return html === undefined ? (
      <p class="soft">This file is shown as its text: it is no document.</p>
    ) : (
      <article class="box">
        <h3 class="box-head">{path}</h3>
        <UserText html={html} />
      </article>
    );
  }
  return action === "diff" ? renderDiff(page, state, file, path) : undefined;
}

async function renderDiff(
  page: EditorPage,
  state: FormState,
  file: EditableFile | undefined,
  path: string,
) {
  const { ctx } = page;
  const fresh = await readContent(page, state.form);
  const old = file?.content ?? new Uint8Array(0);
  const change = {
    kind: file ? ("modified" as const) : ("added" as const),
    path,
    oldPath: file && path !== page.path ? page.path : undefined,
    oldMode: file && MODE_FILE,
    newMode: MODE_FILE,
    oid: hashObject("blob", fresh),
  };
  const diff = await diffTexts(change, { old, fresh }, ctx.git.budget);
  const [shown] = await showDiffs(ctx, [diff], {
    style: DIFF_STYLES[0],
    query: { whitespace: "show-all", from: undefined, only: path, expanded: [] },
    hrefWith: () => "",
    isOfDraft: true,
  });
  const { added = 0, removed = 0 } = diff.stat ?? {};
  return (
    <section class="box diff-file" aria-label={`Changes of ${path}`}>
      <h3 class="box-head">
        {change.oldPath === undefined ? path : `${change.oldPath} → ${path}`}
        <span class="soft">{` ${added} added, ${removed} removed`}</span>
      </h3>
      {diff.hunks.length === 0 ? (
        <p class="inside soft">The content is the same.</p>
      ) : (
        <table class="diff">
          <tbody>{raw(shown?.html ?? "")}</tbody>
        </table>
      )}
      {diff.isCut ? <p class="inside soft">The rest is too long to be shown.</p> : undefined}
    </section>
  );
}
