import type { PropsWithChildren } from "hono/jsx";

import { BRANCH_CHARS_MAX } from "../../../domain/code/branches/branch-name.ts";
import type { CommitOptions } from "../../../domain/code/contents/commit-options.ts";
import { findUpstreamBase } from "../../../domain/repos/repository/find-upstream-base.ts";
import { branchExists } from "../../../domain/code/contents/commit-files.ts";
import { invalidField } from "../../../lib/failure.ts";
import { comparePath, repositoryPath, sourcePath } from "../addresses.ts";
import { CheckField, SelectField } from "../create/fields.tsx";
import type { FormState } from "../create/form-state.ts";
import type { Form as SentForm } from "../form.ts";
import { Fault, Field } from "../layout.tsx";
import { readRedirectTo } from "../redirect-to.ts";
import { type EditorPage, isForked, mayPropose } from "./enter.ts";

/** Characters of the message, as in the API, and of its first line. */
const MESSAGE_CHARS_MAX = 65_000;
const SUMMARY_CHARS_MAX = 500;

/** The value of `commit_choice` for a new branch; any other is the branch itself. */
const NEW_BRANCH = "commit-to-new-branch";

/** The fields of a commit, which show their own refusals. */
export const COMMIT_FIELDS = [
  "commit_summary",
  "commit_message",
  "commit_choice",
  "new_branch_name",
  "commit_email",
];

/** The fields by which the verbs name those of this form. */
const FIELD_NAMES: Readonly<Record<string, string>> = {
  message: "commit_message",
  new_branch: "new_branch_name",
  branch: "new_branch_name",
};

/** Fields by what refusals say that name none. */
const FIELDS_BY_WORDS: readonly (readonly [RegExp, string])[] = [
  [/^branch already exists|^The branch (?:already|with)/, "new_branch_name"],
  [/^user cannot commit|^path is protected|protected|merge queue/, "commit_choice"],
];

/** The field of a commit that a message is about. */
export const commitFieldOf = (message: string): string | undefined =>
  FIELDS_BY_WORDS.find(([pattern]) => pattern.test(message))?.[1];

/** The name in this form of a field that a verb names. */
export const toCommitField = (field: string | undefined): string | undefined =>
  FIELD_NAMES[field ?? ""] ?? field;

/** Whether the form, or what it begins with, asks for a new branch. */
function isNewBranch(page: EditorPage, form: SentForm): boolean {
  if (page.isFirst) return false;
  return isForked(page) || form.text("commit_choice") === NEW_BRANCH;
}

/**
 * How a form asks for its commit.
 *
 * Cost: nothing; for a fork as `findUpstreamBase`.
 *
 * @throws Failure `invalid` for its fields.
 */
export async function readCommit(page: EditorPage, form: SentForm): Promise<CommitOptions> {
  const { ctx, repo, target, branch, emails } = page;
  const summary = form.line("commit_summary", SUMMARY_CHARS_MAX);
  const description = form.text("commit_message").replaceAll("\r\n", "\n").trim();
  if (description.length > MESSAGE_CHARS_MAX) {
    throw invalidField("commit_message", `must have at most ${MESSAGE_CHARS_MAX} characters`);
  }
  if (summary === "" && description !== "") {
    throw invalidField("commit_summary", "must not be empty where there is a description");
  }
  const email = form.text("commit_email") || emails[0];
  if (email === undefined || !emails.includes(email)) {
    throw invalidField("commit_email", "must be an address of yours that is confirmed");
  }
  const newBranch = isNewBranch(page, form)
    ? form.line("new_branch_name", BRANCH_CHARS_MAX)
    : undefined;
  if (newBranch === "") throw invalidField("new_branch_name", "must not be empty");
  if (newBranch === branch && !isForked(page)) throw branchExists(branch);
  return {
    message: description === "" ? summary : `${summary}\n\n${description}`,
    branch,
    newBranch,
    isForced: false,
    author: { email },
    committer: { email },
    isSignedOff: form.isSet("signoff"),
    isChangeRequired: true,
    ...(target && isForked(page) && { base: await findUpstreamBase(ctx, target, repo, branch) }),
  };
}

/**
 * Where a form leads after its commit: a new branch to the form of its pull request.
 *
 * @param path The file or directory to show, below the branch.
 */
export function pathAfterCommit(page: EditorPage, form: SentForm, path: string): string {
  const { repo, target, branch } = page;
  if (isNewBranch(page, form)) {
    const name = form.text("new_branch_name").trim();
    if (mayPropose(page)) {
      const head =
        target && isForked(page) ? `${target.owner.name}/${target.row.name}:${name}` : name;
      return comparePath(repo, branch, head);
    }
    return sourcePath(target ?? repo, "src", { kind: "branch", name }, path);
  }
  return (
    readRedirectTo(form.text("return_uri")) ??
    (path === ""
      ? repositoryPath(repo)
      : sourcePath(repo, "src", { kind: "branch", name: branch }, path))
  );
}

interface CommitFieldsProps {
  page: EditorPage;
  state: FormState;
  /** The first line of the message, if it is left empty. */
  summary: string;
}

/** How a change is committed: its message, its branch and its author; with the buttons below. */
export function CommitFields(props: PropsWithChildren<CommitFieldsProps>) {
  const { page, state, summary, children } = props;
  const description = state.of("commit_message");
  return (
    <fieldset class="commit">
      <legend>Commit</legend>
      <Field
        label="Summary"
        {...state.of("commit_summary")}
        hint={`“${summary}”, if you leave it empty.`}
        maxlength={SUMMARY_CHARS_MAX}
        isOptional
      />
      <div class="field wide">
        <label for="commit_message">Description</label>
        <textarea
          id="commit_message"
          name="commit_message"
          rows={3}
          maxlength={MESSAGE_CHARS_MAX}
          aria-describedby={description.fault === undefined ? undefined : "commit_message-fault"}
        >
          {`\n${description.value}`}
        </textarea>
        <Fault id="commit_message-fault" text={description.fault} />
      </div>
      <BranchChoice page={page} state={state} />
      {page.emails.length > 1 ? (
        <SelectField
          state={state}
          label="Author's address"
          name="commit_email"
          options={page.emails.map((email) => [email, email])}
          hint="Everybody who can read the repository sees it."
        />
      ) : undefined}
      <CheckField
        state={state}
        label="Add a line Signed-off-by, with this address"
        name="signoff"
      />
      {children}
    </fieldset>
  );
}

/** The branch itself, or a new one of which a pull request is opened. */
function BranchChoice({ page, state }: Pick<CommitFieldsProps, "page" | "state">) {
  const { branch, target, newBranchReason, isFirst, repo } = page;
  if (isFirst) return <p>{`It is the first commit, and begins the branch ${branch}.`}</p>;
  if (target && isForked(page)) {
    return (
      <>
        <p>
          {"You may not write to this repository. The commit goes to a new branch of your fork "}
          <a href={repositoryPath(target)}>{`${target.owner.name}/${target.row.name}`}</a>
          {`, which begins at ${branch} of ${repo.owner.name}/${repo.row.name}.`}
        </p>
        <NewBranch page={page} state={state} />
      </>
    );
  }
  const { value, fault } = state.of("commit_choice");
  const isNew = value === NEW_BRANCH || newBranchReason !== undefined || fault !== undefined;
  return (
    <fieldset class="inner">
      <legend>Branch</legend>
      <Fault id="commit_choice-fault" text={fault} />
      <label class="check">
        <input
          type="radio"
          name="commit_choice"
          value="direct"
          checked={!isNew}
          disabled={newBranchReason !== undefined}
          aria-describedby={newBranchReason === undefined ? undefined : "commit_choice-reason"}
        />
        <span>
          Commit to <strong>{branch}</strong>
        </span>
      </label>
      {newBranchReason === undefined ? undefined : (
        <p class="hint" id="commit_choice-reason">
          {newBranchReason}
        </p>
      )}
      <label class="check">
        <input type="radio" name="commit_choice" value={NEW_BRANCH} checked={isNew} />
        <span>
          {mayPropose(page)
            ? "Commit to a new branch, and open a pull request"
            : "Commit to a new branch"}
        </span>
      </label>
      <NewBranch page={page} state={state} />
    </fieldset>
  );
}

function NewBranch({ page, state }: Pick<CommitFieldsProps, "page" | "state">) {
  const { name, fault } = state.of("new_branch_name");
  return (
    <Field
      label="New branch"
      name={name}
      fault={fault}
      value={state.valueOf(name, page.freeName)}
      maxlength={BRANCH_CHARS_MAX}
      isOptional={!isForked(page)}
    />
  );
}
