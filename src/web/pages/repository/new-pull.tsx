import type { Context } from "hono";

import { isAllowed } from "../../../auth/access/permission.ts";
import { isUnitOn } from "../../../auth/access/unit-switches.ts";
import { createPull } from "../../../domain/pulls/pull/create-pull.ts";
import { invalidField } from "../../../lib/failure.ts";
import { type CommitEntry, decodeCommitText } from "../../../shapes/git/commit.ts";
import { isDraftTitle } from "../../../shapes/issues/issue.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { WebEnv } from "../../env.ts";
import { issuePath } from "../addresses.ts";
import { GeneralFault } from "../create/fields.tsx";
import { FormState } from "../create/form-state.ts";
import {
  type Form as SentForm,
  receiveForm,
  requireOwnForm,
  TEXT_FORM_BYTES_MAX,
} from "../form.ts";
import { readMarkdown } from "../read-markdown.ts";
import { TextField, TITLE_CHARS_MAX } from "../text-field.tsx";
import { keepText } from "../keep-text.tsx";
import { Field, Form } from "../layout.tsx";
import { requireOwn } from "../open-page.ts";
import { orRefuse } from "../or-refuse.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import { enterRepositoryPage, type EnteredRepository, READ_PULLS } from "./enter.ts";

/** Two branches that a pull request may be opened between. */
export interface Proposal {
  /** The branch of the page's repository. */
  readonly base: string;
  readonly headRepository: RepositoryContext;
  readonly head: string;
  /** The commits that it brings, the newest first, as far as the page lists them. */
  readonly commits: readonly CommitEntry[];
  readonly commitCount: number;
}

/** A form that opens a pull request, as it was refused; undefined for one that nobody has sent. */
export type RefusedPull = FormState | undefined;

/**
 * Opens a pull request by the form of a comparison.
 *
 * @param proposed The branches; an empty base is the default branch, a head may be `owner:branch`.
 * @param showAgain Shows the comparison with the refused form.
 */
export async function openPullByForm(
  c: Context<WebEnv>,
  proposed: { base: string; head: string },
  showAgain: (state: FormState) => Promise<Response>,
): Promise<Response> {
  const form = await receiveForm(c, TEXT_FORM_BYTES_MAX);
  return keepText(c, form, async () => {
    const page = await enterRepositoryPage(c, READ_PULLS, ["write:repository"]);
    requireOwn(c, page);
    await requireOwnForm(c, form);
    return orRefuse(
      c,
      async () => {
        const { ctx, repo } = page;
        const base = proposed.base || repo.row.defaultBranch;
        const pull = await createPull(ctx, repo, { ...proposed, base, ...readPull(form) });
        return redirectAfterWrite(c, issuePath(pull));
      },
      (refusal) => showAgain(FormState.refused(form, refusal)),
    );
  });
}

/** @throws Failure `invalid` */
function readPull(form: SentForm) {
  const title = form.line("title", TITLE_CHARS_MAX);
  if (title === "") throw invalidField("title", "must not be empty");
  const isDraft = form.isSet("draft") && !isDraftTitle(title);
  return { title: isDraft ? `WIP: ${title}` : title, body: readMarkdown(form, "body", false) };
}

/** Whether a reader may be shown the form at all: what else forbids it, the form says. */
export const mayPropose = ({ ctx, repo }: EnteredRepository): boolean =>
  ctx.actor.user !== undefined &&
  repo.row.archivedAt === null &&
  !repo.row.isMirror &&
  isUnitOn(repo.row, "pulls") &&
  isAllowed(repo, READ_PULLS);

interface NewPullFormProps {
  page: EnteredRepository;
  proposal: Proposal;
  /** The path of the comparison. */
  path: string;
  refused: RefusedPull;
}

/** The form that opens a pull request of what a comparison shows. */
export function NewPullForm({ page, proposal, path, refused }: NewPullFormProps) {
  const state = refused ?? FormState.fresh(textOf(proposal));
  return (
    <section class="card">
      <h2>Open a pull request</h2>
      <Form action={path} formToken={page.formToken}>
        <GeneralFault state={state} fields={["title", "body"]} />
        <Field label="Title" {...state.of("title")} maxlength={TITLE_CHARS_MAX} />
        <TextField
          repo={page.repo}
          label="Text"
          {...state.of("body")}
          hasFiles={page.ctx.config.areAttachmentsOn}
        />
        <label class="check">
          <input type="checkbox" name="draft" value="on" checked={state.isSet("draft", false)} />
          It is a draft
        </label>
        <button type="submit" class="primary">
          Open pull request
        </button>
      </Form>
    </section>
  );
}

/** Title and text at first: those of the only commit, or the name of the branch. */
function textOf({ commits: [only], commitCount, head }: Proposal): Record<string, string> {
  if (!only || commitCount !== 1) return { title: head, body: "" };
  const message = decodeCommitText(only.commit, only.commit.message).trim();
  const [title = "", ...rest] = message.split("\n");
  return { title: title.slice(0, TITLE_CHARS_MAX).toWellFormed(), body: rest.join("\n").trim() };
}
