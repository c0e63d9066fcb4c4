import { type Context, Hono } from "hono";

import { patchFiles } from "../../../domain/code/contents/patch-files.ts";
import { invalidField, notFound } from "../../../lib/failure.ts";
import { requestPath } from "../../../lib/request-path.ts";
import type { WebEnv } from "../../env.ts";
import { GeneralFault } from "../create/fields.tsx";
import { FormState } from "../create/form-state.ts";
import { unchangedPath } from "../editor-path.ts";
import { Fault, fieldAttributes, Form, Hint } from "../layout.tsx";
import { type ChangePage, receiveChange, renderChange, showChange } from "./change-page.tsx";
import { COMMIT_FIELDS, CommitFields, pathAfterCommit, readCommit } from "./commit-fields.tsx";
import type { EditorPage } from "./enter.ts";

/** Maximum bytes of the form: a patch of 1 MiB may take six times as many. */
const FORM_BYTES_MAX = 7 * 1024 * 1024;

/** The page on which a patch is applied. */
export const patchForm = new Hono<WebEnv>();

patchForm.get("/:owner/:repo/_diffpatch/:path{.+}", (c) => showChange(c, appliedPatch));
patchForm.post("/:owner/:repo/_diffpatch/:path{.+}", (c) => receiveChange(c, appliedPatch));

const appliedPatch: ChangePage<void> = {
  bytesMax: FORM_BYTES_MAX,
  read: async ({ names }) => {
    if (names.length > 0) throw notFound();
  },
  // Everything else that is wrong is wrong with the patch.
  fieldOf: (message) =>
    /protected|^branch |^The branch|^user /.test(message) ? undefined : "content",
  show: async (c, page, _found, state) => {
    if (page.isFirst) throw notFound();
    return showPatch(c, page, state ?? FormState.fresh());
  },
  commit: async (page, target, form) => {
    const { ctx, user } = page;
    const text = form.text("content").replaceAll("\r\n", "\n");
    if (text.trim() === "") throw invalidField("content", "must not be empty");
    await patchFiles(ctx, target, user, text, await readCommit(page, form));
    return pathAfterCommit(page, form, "");
  },
};

const HINT = "As git diff or git format-patch write it. It is applied as a whole, or not at all.";

/** The reason for which git refuses a patch, by file. */
const toReason = (fault: string): string =>
  fault.replace(
    /^patch failed: ([^]*?):(\d+): [^]*$/i,
    "The patch does not fit $1: its lines around line $2 are not as the patch expects them. Nothing was changed.",
  );

function showPatch(
  c: Context<WebEnv>,
  page: EditorPage,
  state: FormState,
): Response | Promise<Response> {
  const { repo, branch, formToken } = page;
  const { value, fault } = state.of("content");
  return renderChange(
    c,
    page,
    "Apply a patch",
    { status: state.refusal?.status ?? 200 },
    <section class="card form editing">
      <h2>Apply a patch</h2>
      <GeneralFault state={state} fields={["content", ...COMMIT_FIELDS]} />
      <Form action={requestPath(c.req.url)} formToken={formToken}>
        <div class="field wide code-field">
          <label for="content">Patch</label>
          <textarea
            id="content"
            name="content"
            rows={16}
            spellcheck={false}
            autocapitalize="none"
            wrap="off"
            required
            {...fieldAttributes("content", fault, HINT)}
          >
            {`\n${value}`}
          </textarea>
          <Fault id="content-fault" text={fault && toReason(fault)} />
          <Hint id="content-hint" text={HINT} />
        </div>
        <CommitFields page={page} state={state} summary="apply-patch">
          <div class="row">
            <button type="submit" class="primary">
              Apply and commit
            </button>
            <a class="button" href={unchangedPath(repo, branch)}>
              Cancel
            </a>
          </div>
        </CommitFields>
      </Form>
    </section>,
  );
}
