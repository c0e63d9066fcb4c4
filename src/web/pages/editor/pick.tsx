import { type Context, Hono } from "hono";

import { BRANCH_CHARS_MAX } from "../../../domain/code/branches/branch-name.ts";
import {
  describePick,
  pickCommit,
  type PickKind,
} from "../../../domain/code/contents/pick-commit.ts";
import { findCommit, type Revision } from "../../../domain/code/git/find-revision.ts";
import { parseCommit } from "../../../git/object/commit.ts";
import { notFound } from "../../../lib/failure.ts";
import { requestPath } from "../../../lib/request-path.ts";
import { decodeCommitText } from "../../../shapes/git/commit.ts";
import type { WebEnv } from "../../env.ts";
import { commitPath, repositoryPath } from "../addresses.ts";
import { GeneralFault } from "../create/fields.tsx";
import { FormState } from "../create/form-state.ts";
import { Field, Form } from "../layout.tsx";
import { enterRepositoryPage, READ_CODE } from "../repository/enter.ts";
import { type ChangePage, receiveChange, renderChange, showChange } from "./change-page.tsx";
import { COMMIT_FIELDS, CommitFields, pathAfterCommit, readCommit } from "./commit-fields.tsx";
import { PICK_KIND as KIND, pickPath } from "../editor-path.ts";
import type { EditorPage, EditorPlace } from "./enter.ts";

const FORM_BYTES_MAX = 512 * 1024;

/** The page on which a commit is made again on a branch, or reverted there. */
export const pickForm = new Hono<WebEnv>();

// The form that chooses the branch leads to its address.
pickForm.get("/:owner/:repo/_cherrypick/:id{[0-9a-fA-F]{4,40}}", async (c) => {
  const { repo } = await enterRepositoryPage(c, READ_CODE);
  const branch = c.req.query("branch")?.trim() || repo.row.defaultBranch;
  return c.redirect(pickPath(repo, c.req.param("id"), branch, kindOf(c)), 303);
});

const PATH = "/:owner/:repo/_cherrypick/:id{[0-9a-fA-F]{4,40}}/:path{.+}";
pickForm.get(PATH, (c) => showChange(c, pick(kindOf(c))));
pickForm.post(PATH, (c) => receiveChange(c, pick(kindOf(c))));

const kindOf = (c: Context<WebEnv>): PickKind =>
  c.req.query(KIND) === "revert" ? "revert" : "cherry-pick";

/** The commit that the address names. */
interface Picked {
  readonly commitOid: string;
  readonly subject: string;
  /** The message of the new commit. */
  readonly message: string;
  readonly isMerge: boolean;
}

const pick = (kind: PickKind): ChangePage<Picked> => ({
  bytesMax: FORM_BYTES_MAX,
  isOfWriters: true,
  read: async ({ snapshot, names }, c) => {
    const found = names.length === 0 && (await findCommit(snapshot, c.req.param("id") ?? ""));
    if (!found) throw notFound();
    return readPicked(snapshot, found, kind);
  },
  show: async (c, page, picked, state) => {
    if (!picked) throw notFound();
    return showPick(c, page, picked, kind, state);
  },
  commit: async (page, target, form, picked) => {
    const { ctx, user } = page;
    if (!picked) throw notFound();
    const options = await readCommit(page, form);
    const what = { oid: picked.commitOid, kind };
    await pickCommit(ctx, target, user, what, options);
    return pathAfterCommit(page, form, "");
  },
});

async function readPicked(
  { repository: { graph, objects } }: EditorPlace["snapshot"],
  { node, commitOid }: Revision,
  kind: PickKind,
): Promise<Picked> {
  const commit = parseCommit(await objects.readAt(graph.location(node)));
  const text = decodeCommitText(commit, commit.message).trim();
  return {
    commitOid,
    subject: text.split("\n", 1)[0] ?? "",
    message: describePick(graph, commitOid, text, kind),
    isMerge: graph.parents(node).length > 1,
  };
}

function showPick(
  c: Context<WebEnv>,
  page: EditorPage,
  { commitOid, subject, message, isMerge }: Picked,
  kind: PickKind,
  sent: FormState | undefined,
): Response | Promise<Response> {
  const { repo, branch, formToken } = page;
  const [summary = "", ...rest] = message.split("\n");
  const description = rest.join("\n").trim();
  const state = sent ?? FormState.fresh({ commit_summary: summary, commit_message: description });
  const short = commitOid.slice(0, 10);
  const title = kind === "revert" ? `Revert ${short}` : `Cherry-pick ${short}`;
  const base = `${repositoryPath(repo)}/_cherrypick/${commitOid}`;
  return renderChange(
    c,
    page,
    title,
    { status: state.refusal?.status ?? 200 },
    <section class="card form editing">
      <h2>{title}</h2>
      <p>
        {kind === "revert" ? "Takes back on " : "Makes again on "}
        <strong>{branch}</strong>
        {" what the commit "}
        <a href={commitPath(repo, commitOid)}>{subject || short}</a>
        {isMerge ? " changed: it is a merge, and counts by its first parent." : " changed."}
      </p>
      <GeneralFault state={state} fields={COMMIT_FIELDS} />
      <form action={base} class="filters">
        {kind === "revert" ? <input type="hidden" name={KIND} value="revert" /> : undefined}
        <Field label="Another branch" name="branch" value={branch} maxlength={BRANCH_CHARS_MAX} />
        <button type="submit">Choose</button>
      </form>
      <Form
        action={`${requestPath(c.req.url)}${kind === "revert" ? `?${KIND}=revert` : ""}`}
        formToken={formToken}
      >
        <CommitFields page={page} state={state} summary={summary}>
          <div class="row">
            <button type="submit" class="primary">
              {kind === "revert" ? "Revert" : "Cherry-pick"}
            </button>
            <a class="button" href={commitPath(repo, commitOid)}>
              Cancel
            </a>
          </div>
        </CommitFields>
      </Form>
    </section>,
  );
}
