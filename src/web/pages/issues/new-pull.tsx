import type { Context } from "hono";

import { isAllowed } from "../../../auth/access/permission.ts";
import type { Requirement } from "../../../auth/access/requirement.ts";
import { isUnitOn } from "../../../auth/access/unit-switches.ts";
import { exclusiveScopeOf } from "../../../domain/issues/issue/exclusive-scope.ts";
import { openSnapshot } from "../../../domain/code/git/open-snapshot.ts";
import { findPullTemplate } from "../../../domain/issues/issue/find-templates.ts";
import { attributeOf, fieldNameOf, toFormText } from "../../../domain/issues/issue/issue-form.ts";
import type { IssueTemplate } from "../../../domain/issues/issue/issue-template.ts";
import { createPull } from "../../../domain/pulls/pull/create-pull.ts";
import type { ProposalChoices } from "../../../domain/pulls/pull/find-proposal-choices.ts";
import { conflict, invalidField } from "../../../lib/failure.ts";
import { type CommitEntry, decodeCommitText } from "../../../shapes/git/commit.ts";
import { isDraftTitle } from "../../../shapes/issues/issue.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { htmlUrlOf } from "../../../shapes/urls.ts";
import type { WebEnv } from "../../env.ts";
import { issuePath, repositoryPath } from "../addresses.ts";
import { CopyIcon } from "../copy-button.tsx";
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
import { orRefuse, TEMPLATE_FIELD } from "../or-refuse.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import type { Refused } from "./issue-head.tsx";
import { Properties, readProperties, readUsers, UserChoices } from "./properties.tsx";
import { enterRepositoryPage, type EnteredRepository, READ_PULLS } from "../repository/enter.ts";
import { toShellWord } from "../shell-word.ts";
import { readTeams, TeamChoices } from "./team-choices.tsx";
import { readAnswers, TemplateFields } from "./template-fields.tsx";

/** Two branches that a pull request may be opened between. */
export interface Proposal {
  /** The branch of the page's repository. */
  readonly base: string;
  readonly headRepository: RepositoryContext;
  readonly head: string;
  /** The commits that it brings, the newest first, as far as the page lists them. */
  readonly commits: readonly CommitEntry[];
  readonly commitCount: number;
  readonly template: IssueTemplate | undefined;
  /** The texts of a template that is a form, as `renderFields` returns them. */
  readonly fieldsHtml: ReadonlyMap<string, string> | undefined;
  /** What the reader may choose. */
  readonly choices: ProposalChoices;
}

/**
 * Opens a pull request by the form of a comparison.
 *
 * @param proposed The branches; an empty base is the default branch, a head may be `owner:branch`.
 * @param showAgain Shows the comparison with the refused form.
 */
export async function openPullByForm(
  c: Context<WebEnv>,
  proposed: { base: string; head: string },
  showAgain: (refused: Refused) => Promise<Response>,
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
        const body = await readBody(page, form);
        const pull = await createPull(ctx, repo, { ...proposed, base, ...readPull(form), body });
        return redirectAfterWrite(c, issuePath(pull));
      },
      (refusal) => showAgain({ form, refusal }),
      fieldOf,
    );
  });
}

/** The fields that a refusal is about which names none. */
function fieldOf(message: string): string | undefined {
  if (/assignee/i.test(message)) return "other";
  return /review/i.test(message) ? "other-reviewer" : undefined;
}

/** @throws Failure `invalid` */
function readPull(form: SentForm) {
  const title = form.line("title", TITLE_CHARS_MAX);
  if (title === "") throw invalidField("title", "must not be empty");
  const isDraft = form.isSet("draft") && !isDraftTitle(title);
  return {
    title: isDraft ? `WIP: ${title}` : title,
    ...readProperties(form),
    reviewers: {
      users: readUsers(form, "reviewer-", "other-reviewer"),
      teams: readTeams(form),
    },
    allowMaintainerEdit: form.isSet("allow_maintainer_edit"),
  };
}

/**
 * The text of a form, or the answers to a template.
 *
 * @throws Failure `invalid` for a text or an answer; `conflict` if there is another template now.
 */
async function readBody({ ctx, repo }: EnteredRepository, form: SentForm): Promise<string> {
  const path = form.text("template");
  if (path === "") return readMarkdown(form, "body", false);
  const template = await findPullTemplate(await openSnapshot(ctx, repo), repo);
  if (template?.path !== path || !template.fields) {
    throw conflict("the template has changed meanwhile");
  }
  return toFormText(template.fields, readAnswers(template.fields, form));
}

/** The answers to a template that is there no more, as a text. */
const joinAnswers = (form: SentForm): string =>
  form
    .namesWith(TEMPLATE_FIELD)
    .map((name) => form.text(name))
    .join("\n\n");

const WRITE_CODE: Requirement = { unit: "code", mode: "write" };

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
  /** The form, if it was refused. */
  refused: Refused | undefined;
}

/** The form that opens a pull request of what a comparison shows. */
export function NewPullForm({ page, proposal, path, refused }: NewPullFormProps) {
  const { openNumber, choices, assignees, reviewers } = proposal.choices;
  const { repo } = page;
  const taken =
    openNumber === undefined ? undefined : (
      <p class="notice">
        {"A pull request of these branches is open: "}
        <a href={`${repositoryPath(repo)}/pulls/${openNumber}`}>{`#${openNumber}`}</a>
        {". Commits that are pushed to the branch are added to it."}
      </p>
    );
  // A form that was refused keeps what was typed.
  if (taken && !refused) return taken;
  const state = refused
    ? FormState.refused(refused.form, refused.refusal)
    : FormState.fresh(fieldsOf(proposal));
  const { template, fieldsHtml } = proposal;
  // What was typed into another form stays a text.
  const isSame = !refused || refused.form.text("template") === template?.path;
  const fields = isSame ? template?.fields : undefined;
  const isFork = proposal.headRepository.row.id !== repo.row.id;
  const mayLetEdit = isFork && isAllowed(proposal.headRepository, WRITE_CODE);
  return (
    <section class="card">
      <h2>Open a pull request</h2>
      {taken}
      <Form action={path} formToken={page.formToken}>
        <GeneralFault
          state={state}
          fields={["title", "body", "other", "other-reviewer"].concat(
            fields?.map(fieldNameOf) ?? [],
          )}
        />
        <div class={choices || reviewers ? "split end" : undefined}>
          <div>
            <Field label="Title" {...state.of("title")} maxlength={TITLE_CHARS_MAX} />
            {template && fields && fieldsHtml ? (
              <>
                <input type="hidden" name="template" value={template.path} />
                <TemplateFields
                  repo={page.repo}
                  hasFiles={page.ctx.config.areAttachmentsOn}
                  fields={fields}
                  state={state}
                  initialOf={(field) => attributeOf(field, "value")}
                  html={fieldsHtml}
                />
              </>
            ) : (
              <TextField
                repo={page.repo}
                label="Text"
                {...state.of("body")}
                value={state.of("body").value || (refused ? joinAnswers(refused.form) : "")}
                hasFiles={page.ctx.config.areAttachmentsOn}
              />
            )}
            <label class="check">
              <input
                type="checkbox"
                name="draft"
                value="on"
                checked={state.isSet("draft", false)}
              />
              It is a draft
            </label>
            {mayLetEdit ? (
              <label class="check">
                <input
                  type="checkbox"
                  name="allow_maintainer_edit"
                  value="on"
                  checked={state.isSet(
                    "allow_maintainer_edit",
                    repo.row.pullSettings.defaultAllowMaintainerEdit,
                  )}
                />
                {`Those who may write to ${repo.owner.name}/${repo.row.name} may push to the branch`}
              </label>
            ) : undefined}
            <button type="submit" class="primary">
              Open pull request
            </button>
          </div>
          {choices || reviewers ? (
            <div class="side">
              {reviewers ? (
                <UserChoices
                  title="Reviewers"
                  users={reviewers.users}
                  beginning="reviewer-"
                  other="other-reviewer"
                  state={state}
                >
                  <TeamChoices
                    teams={reviewers.teams}
                    hasMore={reviewers.hasMoreTeams}
                    isChosen={(name) => state.isSet(name, false)}
                  />
                </UserChoices>
              ) : undefined}
              {choices ? (
                <Properties choices={choices} assignees={assignees} state={state} />
              ) : undefined}
            </div>
          ) : undefined}
        </div>
      </Form>
    </section>
  );
}

/** The fields at first: those of the template, with the words of the commits in front. */
function fieldsOf(proposal: Proposal): Record<string, string> {
  const { template, choices } = proposal;
  const { title, body } = textOf(proposal);
  const labelFields = (choices.choices?.labels ?? [])
    .filter(({ name }) => template?.labels.includes(name))
    .map((label) => {
      const scope = exclusiveScopeOf(label);
      return scope === undefined
        ? ([`label-${label.id}`, "on"] as const)
        : ([`scope-${scope}`, String(label.id)] as const);
    });
  return {
    title: template?.title || title,
    body: [body, template?.content ?? ""].filter((text) => text !== "").join("\n\n"),
    ...Object.fromEntries(labelFields),
    ...Object.fromEntries(template?.assignees.map((name) => [`user-${name}`, "on"]) ?? []),
  };
}

/** The words of the commits: of the only one its message, or else the name of the branch. */
function textOf({
  commits: [only],
  commitCount,
  head,
}: Proposal): Record<"title" | "body", string> {
  if (!only || commitCount !== 1) return { title: head, body: "" };
  const message = decodeCommitText(only.commit, only.commit.message).trim();
  const [title = "", ...rest] = message.split("\n");
  return { title: title.slice(0, TITLE_CHARS_MAX).toWellFormed(), body: rest.join("\n").trim() };
}

/** How a reader who may not push to the repository proposes a change without a fork. */
export function WithoutFork({ page: { ctx, repo } }: { page: EnteredRepository }) {
  const { defaultBranch } = repo.row;
  const commands = [
    `git clone ${htmlUrlOf(repo, ctx)}.git`,
    `cd ${repo.row.name}`,
    "git switch -c my-change",
    "# change files, then",
    "git commit -a",
    `git push origin HEAD:${toShellWord(`refs/for/${defaultBranch}/my-change`)}`,
  ].join("\n");
  return (
    <details>
      <summary>Propose a change without a fork</summary>
      <p>
        {"The last command opens a pull request; after further commits, it updates that. "}
        <CopyIcon text={commands} subject="the commands" />
      </p>
      <pre class="secret">{commands}</pre>
    </details>
  );
}
