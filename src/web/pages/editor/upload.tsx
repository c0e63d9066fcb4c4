import { type Context, Hono } from "hono";

import { applyFiles, type FileOperation } from "../../../domain/code/contents/change-files.ts";
import { invalidField, tooLarge } from "../../../lib/failure.ts";
import { requestPath } from "../../../lib/request-path.ts";
import type { WebEnv } from "../../env.ts";
import { GeneralFault } from "../create/fields.tsx";
import { FormState } from "../create/form-state.ts";
import { unchangedPath } from "../editor-path.ts";
import { requireOwnForm } from "../form.ts";
import { type ChosenFiles, receiveFormWithFiles } from "../form-with-files.ts";
import { formatBytes } from "../format-bytes.ts";
import { keepText } from "../keep-text.tsx";
import { Fault, Field, Form } from "../layout.tsx";
import { orRefuse } from "../or-refuse.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import {
  makeFork,
  placeOfPath,
  renderChange,
  requireTarget,
  showChange,
  toOwnFields,
} from "./change-page.tsx";
import {
  COMMIT_FIELDS,
  commitFieldOf,
  CommitFields,
  pathAfterCommit,
  readCommit,
} from "./commit-fields.tsx";
import { type EditorPage, enterEditor } from "./enter.ts";

/** Maximum files of one form, as operations of the API. */
const FILES_MAX = 2000;
/** Maximum bytes of the other fields. */
const FIELDS_BYTES_MAX = 512 * 1024;

/** The page on which files are uploaded. */
export const fileUpload = new Hono<WebEnv>();

fileUpload.get("/:owner/:repo/_upload/:path{.+}", (c) =>
  showChange(c, {
    bytesMax: FIELDS_BYTES_MAX,
    read: async () => {},
    show: async (_c, page) => showUpload(c, page, FormState.fresh({ tree_path: page.path })),
    commit: async () => "",
  }),
);

fileUpload.post("/:owner/:repo/_upload/:path{.+}", async (c) => {
  const { form, files } = await receiveFormWithFiles(c, FIELDS_BYTES_MAX);
  return keepText(c, form, async () => {
    const enter = () => enterEditor(c, placeOfPath(c), async () => {});
    const { page } = await enter();
    await requireOwnForm(c, form);
    if (form.text("action") === "fork") return makeFork(c, page, form);
    const { ctx, user } = page;
    // Browsers show an answer once they have sent all.
    if (!page.target) await files.skip();
    const target = requireTarget(page);
    return orRefuse(
      c,
      async () => {
        const read = await readFiles(files, ctx.config.contentsBodyMaxBytes);
        const directory = form.line("tree_path", PATH_CHARS_MAX).replaceAll(/^\/+|\/+$/g, "");
        const operations = read.map((file) => toOperation(directory, file));
        await applyFiles(ctx, target, user, operations, await readCommit(page, form));
        return redirectAfterWrite(c, pathAfterCommit(page, form, directory));
      },
      async (refusal) => {
        await files.skip();
        const now = await enter();
        return showUpload(c, now.page, FormState.refused(form, toOwnFields(refusal)));
      },
      (message) => (/path/.test(message) ? "tree_path" : commitFieldOf(message)),
    );
  });
});

const PATH_CHARS_MAX = 4096;

interface UploadedFile {
  /** As the browser names it: in a directory with its path. */
  readonly name: string;
  readonly content: Uint8Array;
}

/**
 * Reads the files of a form into memory.
 *
 * @param bytesMax Maximum bytes of all of them.
 * @throws Failure `invalid` without files, and for too many of them; `too_large`.
 */
async function readFiles(files: ChosenFiles, bytesMax: number): Promise<UploadedFile[]> {
  const read: UploadedFile[] = [];
  let bytes = 0;
  for (let file = await files.next(); file; file = await files.next()) {
    if (read.length === FILES_MAX) {
      throw invalidField("files", `must be at most ${FILES_MAX} in one commit`);
    }
    const pieces: Uint8Array[] = [];
    for await (const piece of file.pieces) {
      bytes += piece.length;
      if (bytes > bytesMax) {
        throw tooLarge(
          `The files have more than ${formatBytes(bytesMax)} together: push them with git.`,
        );
      }
      // A view would keep the whole chunk that it is of.
      pieces.push(piece.slice());
    }
    read.push({ name: file.name, content: join(pieces) });
  }
  if (read.length === 0) throw invalidField("files", "must be chosen");
  return read;
}

function join(pieces: readonly Uint8Array[]): Uint8Array {
  const [first = new Uint8Array(0), ...rest] = pieces;
  if (rest.length === 0) return first;
  const joined = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}

const toOperation = (directory: string, { name, content }: UploadedFile): FileOperation => ({
  kind: "upload",
  path: directory === "" ? name : `${directory}/${name}`,
  content,
});

function showUpload(
  c: Context<WebEnv>,
  page: EditorPage,
  state: FormState,
): Response | Promise<Response> {
  const { ctx, repo, branch, path, formToken } = page;
  const { fault } = state.of("files");
  return renderChange(
    c,
    page,
    "Upload files",
    { status: state.refusal?.status ?? 200, scripts: ["upload.ts"], loadsParts: true },
    <section class="card form editing">
      <h2>Upload files</h2>
      <GeneralFault state={state} fields={["tree_path", "files", ...COMMIT_FIELDS]} />
      <Form
        action={requestPath(c.req.url)}
        formToken={formToken}
        enctype="multipart/form-data"
        class="upload"
      >
        <Field
          label="Directory"
          {...state.of("tree_path")}
          hint="It is made if it is missing. Empty is the root."
          maxlength={PATH_CHARS_MAX}
          isOptional
        />
        <div class="field wide">
          <label for="files">Files</label>
          <input id="files" name="files" type="file" multiple aria-describedby="files-hint" />
          <label for="directory">A directory with all that is in it</label>
          <input id="directory" name="files" type="file" multiple {...{ webkitdirectory: true }} />
          <Fault id="files-fault" text={fault} />
          <p class="hint" id="files-hint">
            {`At most ${FILES_MAX} files with ${formatBytes(ctx.config.contentsBodyMaxBytes)} together. A file that is there already is replaced.`}
          </p>
          <p class="drop scripted">Or drop files and directories here.</p>
          <ul class="chosen scripted" aria-label="Chosen files"></ul>
          <p class="hint upload-state" role="status"></p>
        </div>
        <CommitFields page={page} state={state} summary="Update …">
          <div class="row">
            <button type="submit" class="primary">
              Commit the files
            </button>
            <a class="button" href={unchangedPath(repo, branch, path)}>
              Cancel
            </a>
          </div>
        </CommitFields>
      </Form>
    </section>,
  );
}
