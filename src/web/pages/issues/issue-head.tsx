import type { Context } from "hono";

import type { Pull } from "../../../db/schema/index.ts";
import { isIssueWritable } from "../../../domain/issues/issue/find-issue.ts";
import { mayEditIssue } from "../../../domain/issues/issue/require-issue-access.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import { repositoryPath } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { AsItIs } from "../as-it-is.tsx";
import type { Form } from "../form.ts";
import { Field } from "../layout.tsx";
import type { Refusal } from "../or-refuse.ts";
import type { EnteredRepository } from "../repository/enter.ts";
import { FORMER_TITLE } from "./action.ts";
import { ActionForm, type Sending } from "./action-form.tsx";
import { Poster, StateLabel } from "./issue-rows.tsx";
import { TITLE_CHARS_MAX } from "../text-field.tsx";

/** A form of the page that was refused, as it was sent. */
export interface Refused {
  form: Form;
  refusal: Refusal;
}

interface IssueHeadProps {
  c: Context;
  page: EnteredRepository;
  issue: IssueContext;
  sending: Sending;
  refused?: Refused | undefined;
}

/** The title and the state, with the form that changes the title. */
export function IssueHead({ c, page, issue, sending, refused }: IssueHeadProps) {
  const { row, pull } = issue;
  const isRefused = refused?.form.text("action") === "title";
  const mayEdit = mayChange(page, issue);
  if (mayEdit && (isRefused || c.req.query("edit") === "title")) {
    const isStale = isRefused && refused.form.text(FORMER_TITLE) !== row.title;
    return (
      <ActionForm {...sending} action="title" class="row">
        <h2 class="hidden">{row.title}</h2>
        <input type="hidden" name={FORMER_TITLE} value={row.title} />
        <Field
          label="Title"
          name="title"
          value={isRefused ? refused.form.text("title") : row.title}
          fault={isRefused ? refused.refusal.fault : undefined}
          maxlength={TITLE_CHARS_MAX}
          isFirst
        />
        {isStale ? <AsItIs what="The title">{row.title}</AsItIs> : undefined}
        <button type="submit" class="primary">
          Save
        </button>
        <a class="button" href={sending.path}>
          Cancel
        </a>
      </ActionForm>
    );
  }
  return (
    <div class="issue-head">
      <div class="code-bar">
        <h2 class="grow">
          {row.title} <span class="soft">{`#${row.number}`}</span>
        </h2>
        {mayEdit ? (
          <a class="button small" href={`${sending.path}?edit=title`}>
            Edit<span class="hidden"> title</span>
          </a>
        ) : undefined}
        {row.isPull ? undefined : (
          <a class="button small primary" href={`${repositoryPath(issue.repo)}/issues/new`}>
            New issue
          </a>
        )}
      </div>
      <p>
        <StateLabel issue={issue} />{" "}
        <span class="soft">
          {pull ? (
            <Proposal issue={issue} pull={pull} />
          ) : (
            <>
              <Poster issue={issue} /> opened this
            </>
          )}{" "}
          <Ago at={pull?.mergedAt ?? row.createdAt} now={page.ctx.now} />
        </span>
        {row.isLocked ? <span class="label">Locked</span> : undefined}
      </p>
    </div>
  );
}

interface ProposalProps {
  issue: IssueContext;
  pull: Pull;
}

/** What a pull request is to merge, or has merged. */
function Proposal({ issue, pull: { headBranch, baseBranch, mergedAt } }: ProposalProps) {
  const [head, base] = [<code>{headBranch}</code>, <code>{baseBranch}</code>];
  if (mergedAt !== null) {
    return (
      <>
        {head} by <Poster issue={issue} /> was merged into {base}
      </>
    );
  }
  return (
    <>
      <Poster issue={issue} /> {issue.row.isClosed ? "wanted" : "wants"} to merge {head} into {base}
    </>
  );
}

/** Whether the reader may change the text and the state of an issue. */
export const mayChange = ({ ctx }: EnteredRepository, issue: IssueContext): boolean =>
  ctx.actor.user !== undefined && issue.repo.row.archivedAt === null && mayEditIssue(ctx, issue);

/** Whether the reader may comment and react. */
export const mayTakePart = ({ ctx }: EnteredRepository, issue: IssueContext): boolean =>
  ctx.actor.user !== undefined &&
  issue.repo.row.archivedAt === null &&
  (!issue.row.isLocked || isIssueWritable(issue));
