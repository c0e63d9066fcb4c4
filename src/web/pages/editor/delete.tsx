import { type Context, Hono } from "hono";

import { applyFiles } from "../../../domain/code/contents/change-files.ts";
import { findRemainingDirectory } from "../../../domain/code/contents/find-remaining-directory.ts";
import {
  type EditableFile,
  readEditableFile,
} from "../../../domain/code/contents/read-editable-file.ts";
import { conflict, notFound } from "../../../lib/failure.ts";
import { requestPath } from "../../../lib/request-path.ts";
import type { WebEnv } from "../../env.ts";
import { sourcePath } from "../addresses.ts";
import { GeneralFault } from "../create/fields.tsx";
import { FormState } from "../create/form-state.ts";
import { formatBytes } from "../format-bytes.ts";
import { Form } from "../layout.tsx";
import { type ChangePage, receiveChange, renderChange, showChange } from "./change-page.tsx";
import { COMMIT_FIELDS, CommitFields, pathAfterCommit, readCommit } from "./commit-fields.tsx";
import type { EditorPage } from "./enter.ts";

const FORM_BYTES_MAX = 512 * 1024;

/** The page on which a file is deleted. */
export const fileDeletion = new Hono<WebEnv>();

fileDeletion.get("/:owner/:repo/_delete/:path{.+}", (c) => showChange(c, deletedFile));
fileDeletion.post("/:owner/:repo/_delete/:path{.+}", (c) => receiveChange(c, deletedFile));

/** The file that the address names, and where a page leads that has deleted it. */
interface FoundFile {
  /** Undefined for one that is not there any more. */
  readonly file: EditableFile | undefined;
  /** The path of the deepest directory that is left then. */
  readonly above: string;
}

const deletedFile: ChangePage<FoundFile> = {
  bytesMax: FORM_BYTES_MAX,
  read: async ({ snapshot: { repository }, revision, names }, c) => {
    const file = await readEditableFile(repository, revision, names);
    if (c.req.method === "GET") {
      if (!file) throw notFound();
      return { ...NONE, file };
    }
    const above = await findRemainingDirectory(repository, revision, names);
    return { file, above: above.join("/") };
  },
  show: async (c, page, found, state) => {
    if (page.isFirst) throw notFound();
    return showDeletion(c, page, found?.file, state ?? FormState.fresh());
  },
  commit: async (page, target, form, { file, above } = NONE) => {
    const { ctx, user, path } = page;
    // A form that is sent twice finds nothing any more.
    if (file) {
      const sha = form.text("sha");
      if (sha !== file.oid) {
        throw conflict(
          "Somebody else has changed the file meanwhile: look at it before you delete it.",
        );
      }
      const options = await readCommit(page, form);
      await applyFiles(ctx, target, user, [{ kind: "delete", path, sha }], options);
    }
    return pathAfterCommit(page, form, above);
  },
};

const NONE: FoundFile = { file: undefined, above: "" };

function showDeletion(
  c: Context<WebEnv>,
  page: EditorPage,
  file: EditableFile | undefined,
  state: FormState,
): Response | Promise<Response> {
  const { repo, branch, path, formToken } = page;
  const shown = sourcePath(repo, "src", { kind: "branch", name: branch }, path);
  return renderChange(
    c,
    page,
    `Delete ${path}`,
    { status: state.refusal?.status ?? 200 },
    <section class="card form editing">
      <h2>{`Delete ${path}`}</h2>
      <GeneralFault state={state} fields={COMMIT_FIELDS} />
      {file ? (
        <p>
          {`The commit removes this file of ${formatBytes(file.sizeBytes)} from the branch; the history keeps it. `}
          <a href={shown}>Look at it.</a>
        </p>
      ) : (
        <p>The file is not there any more.</p>
      )}
      <Form action={requestPath(c.req.url)} formToken={formToken}>
        <input type="hidden" name="sha" value={file?.oid ?? ""} />
        <CommitFields page={page} state={state} summary={`Delete ${path}`}>
          <div class="row">
            <button type="submit" class="danger">
              Delete the file
            </button>
            <a class="button" href={shown}>
              Cancel
            </a>
          </div>
        </CommitFields>
      </Form>
    </section>,
  );
}
