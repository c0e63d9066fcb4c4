import { type Context, Hono } from "hono";

import { isUnitOn } from "../../../auth/access/unit-switches.ts";
import { createIssue, type NewIssue } from "../../../domain/issues/issue/create-issue.ts";
import { findIssueForms, type IssueForms } from "../../../domain/issues/issue/find-templates.ts";
import { attributeOf, toFormText } from "../../../domain/issues/issue/issue-form.ts";
import type { IssueTemplate } from "../../../domain/issues/issue/issue-template.ts";
import { mayWriteIssues } from "../../../domain/issues/issue/require-issue-access.ts";
import { findIssueChoices } from "../../../domain/issues/lists/list-choices.ts";
import { listAssignees } from "../../../domain/repos/collaborators/list-collaborators.ts";
import { invalid, invalidField, notFound } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { issuePath, repositoryPath } from "../addresses.ts";
import { GeneralFault } from "../create/fields.tsx";
import { FormState } from "../create/form-state.ts";
import {
  type Form as SentForm,
  receiveForm,
  requireOwnForm,
  TEXT_FORM_BYTES_MAX,
} from "../form.ts";
import { keepText } from "../keep-text.tsx";
import { Field, Form } from "../layout.tsx";
import { requireCookie, requireOwn } from "../open-page.ts";
import { orRefuse } from "../or-refuse.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import { enterRepositoryPage, type EnteredRepository, READ_ISSUES } from "../repository/enter.ts";
import { renderRepository } from "../repository/frame.tsx";
import { readMarkdown } from "../read-markdown.ts";
import { Properties, readProperties } from "./properties.tsx";
import { readAnswers, renderFields, TemplateFields } from "./template-fields.tsx";
import { TEXT_PAGE, TextField, TITLE_CHARS_MAX } from "../text-field.tsx";

/** The pages on which an issue is opened. */
export const newIssues = new Hono<WebEnv>();

/** Users whom a writer may choose. */
const SOME = { size: 100, offset: 0 };

async function enter(c: Context<WebEnv>): Promise<EnteredRepository> {
  requireCookie(c);
  const page = await enterRepositoryPage(c, READ_ISSUES, ["write:issue"]);
  requireOwn(c, page);
  if (!isUnitOn(page.repo.row, "issues")) throw notFound();
  return page;
}

/** The query of a page, for a link to another one that is about the same issue. */
const queryOf = (c: Context): string => new URL(c.req.url).search;

newIssues.get("/:owner/:repo/issues/new/choose", async (c) => {
  const page = await enter(c);
  const forms = await findIssueForms(page.ctx, page.repo);
  const path = `${repositoryPath(page.repo)}/issues/new`;
  if (forms.templates.length === 0 && forms.config.links.length === 0) {
    return c.redirect(path + queryOf(c), 303);
  }
  return renderChoice(c, page, forms);
});

newIssues.get("/:owner/:repo/issues/new", async (c) => {
  const page = await enter(c);
  const forms = await findIssueForms(page.ctx, page.repo);
  const template = forms.templates.find(({ path }) => path === c.req.query("template"));
  if (!template && forms.isTemplateNeeded) {
    return c.redirect(`${repositoryPath(page.repo)}/issues/new/choose${queryOf(c)}`, 303);
  }
  const fields = new Map<string, string>([
    ["title", (c.req.query("title") ?? template?.title ?? "").slice(0, TITLE_CHARS_MAX)],
    ["body", c.req.query("body") ?? template?.content ?? ""],
    ["milestone", c.req.query("milestone") ?? ""],
    ...(template?.assignees.map((name) => [`user-${name}`, "on"] as const) ?? []),
  ]);
  return renderNew(c, page, template, FormState.fresh(Object.fromEntries(fields)));
});

newIssues.post("/:owner/:repo/issues/new", async (c) => {
  const form = await receiveForm(c, TEXT_FORM_BYTES_MAX);
  return keepText(c, form, async () => {
    const page = await enter(c);
    await requireOwnForm(c, form);
    const { ctx, repo } = page;
    const forms = await findIssueForms(ctx, repo);
    const template = forms.templates.find(({ path }) => path === form.text("template"));
    return orRefuse(
      c,
      async () => {
        if (!template && forms.isTemplateNeeded) {
          throw invalid("An issue of this repository needs one of its templates.");
        }
        const issue = await createIssue(ctx, repo, await readIssue(form, template));
        return redirectAfterWrite(c, issuePath(issue));
      },
      (refusal) => renderNew(c, page, template, FormState.refused(form, refusal)),
      (message) => (/assignee/i.test(message) ? "other" : undefined),
    );
  });
});

/** @throws Failure `invalid` for a field that the issue can't have. */
async function readIssue(form: SentForm, template: IssueTemplate | undefined): Promise<NewIssue> {
  const title = form.line("title", TITLE_CHARS_MAX);
  if (title === "") throw invalidField("title", "must not be empty");
  const openedAt = Number(form.text("opened_at"));
  return {
    title,
    body: template?.fields
      ? await toFormText(template.fields, readAnswers(template.fields, form))
      : readMarkdown(form, "body", false),
    ref: template?.ref ?? "",
    templateLabels: template?.labels ?? [],
    unlessSince: Number.isSafeInteger(openedAt) ? openedAt : undefined,
    ...readProperties(form),
  };
}

const titleOf = ({ repo }: EnteredRepository): string =>
  `New issue - ${repo.owner.name}/${repo.row.name}`;

function renderChoice(
  c: Context<WebEnv>,
  page: EnteredRepository,
  { templates, config, isTemplateNeeded, invalidCount }: IssueForms,
): Response | Promise<Response> {
  const path = `${repositoryPath(page.repo)}/issues/new`;
  const linkTo = (template: string | undefined): string => {
    const { searchParams } = new URL(c.req.url);
    searchParams.delete("template");
    if (template !== undefined) searchParams.set("template", template);
    return `${path}?${searchParams.toString()}`;
  };
  return renderRepository(
    c,
    page,
    { tab: "issues", title: titleOf(page) },
    <section>
      <h2>What is it about?</h2>
      <ul class="box commits">
        {templates.map(({ path: file, name, about }) => (
          <li>
            <div class="grow">
              <a class="title" href={linkTo(file)}>
                {name}
              </a>
              <div class="soft">{about}</div>
            </div>
          </li>
        ))}
        {config.links.map(({ name, url, about }) => (
          <li>
            <div class="grow">
              <a class="title" href={url} rel="noopener nofollow">
                {name}
              </a>
              <div class="soft">{about}</div>
            </div>
          </li>
        ))}
      </ul>
      {isTemplateNeeded ? undefined : (
        <p>
          <a href={linkTo(undefined)}>Open an issue without a template</a>
        </p>
      )}
      {invalidCount === 0 ? undefined : (
        <p class="soft">{`${invalidCount} of the templates can't be read.`}</p>
      )}
    </section>,
  );
}

async function renderNew(
  c: Context<WebEnv>,
  page: EnteredRepository,
  template: IssueTemplate | undefined,
  state: FormState,
): Promise<Response> {
  const { ctx, repo, formToken } = page;
  const isWriter = mayWriteIssues(repo);
  const [choices, assignees] = isWriter
    ? await Promise.all([findIssueChoices(ctx, repo), listAssignees(ctx, repo, SOME)])
    : [undefined, undefined];
  const path = `${repositoryPath(repo)}/issues/new`;
  return renderRepository(
    c,
    page,
    {
      tab: "issues",
      title: titleOf(page),
      status: state.refusal?.status ?? 200,
      ...TEXT_PAGE,
    },
    <Form action={path} formToken={formToken}>
      <h2>{template ? template.name : "New issue"}</h2>
      {template ? (
        <p class="soft">
          {template.about} <a href={`${path}/choose`}>Choose another template</a>
        </p>
      ) : undefined}
      <GeneralFault state={state} fields={fieldNames(template)} />
      <input type="hidden" name="opened_at" value={state.of("opened_at").value || ctx.now} />
      {template ? <input type="hidden" name="template" value={template.path} /> : undefined}
      <div class="split end">
        <div>
          <Field label="Title" {...state.of("title")} maxlength={TITLE_CHARS_MAX} isFirst />
          {template?.fields ? (
            <TemplateFields
              repo={repo}
              hasFiles={ctx.config.areAttachmentsOn}
              fields={template.fields}
              state={state}
              initialOf={(field) => c.req.query(`field:${field.id}`) || attributeOf(field, "value")}
              html={await renderFields(ctx, repo, template.fields)}
            />
          ) : (
            <TextField
              repo={repo}
              label="Text"
              {...state.of("body")}
              hasFiles={ctx.config.areAttachmentsOn}
            />
          )}
          <button type="submit" class="primary">
            Open issue
          </button>
        </div>
        {choices && assignees ? (
          <div class="side">
            <Properties choices={choices} assignees={assignees.items} state={state} />
          </div>
        ) : undefined}
      </div>
    </Form>,
  );
}

/** The fields that show a refusal of their own. */
const fieldNames = (template: IssueTemplate | undefined): string[] => [
  "title",
  "body",
  "other",
  ...(template?.fields?.map(({ id }) => `form-field-${id}`) ?? []),
];
