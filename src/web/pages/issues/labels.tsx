import { type Context, Hono } from "hono";
import type { Child } from "hono/jsx";

import type { Label, User } from "../../../db/schema/index.ts";
import { LABEL_TEMPLATES, templateLabels } from "../../../domain/code/templates/label-templates.ts";
import { requireNotArchived } from "../../../domain/issues/issue/require-issue-access.ts";
import { createLabelOnce, type LabelFields } from "../../../domain/repos/labels/create-label.ts";
import { createTemplateLabels } from "../../../domain/repos/labels/create-template-labels.ts";
import { deleteLabel } from "../../../domain/repos/labels/delete-label.ts";
import { findLabel } from "../../../domain/repos/labels/find-label.ts";
import {
  isLabelWriter,
  type LabelOwner,
  requireLabelRead,
} from "../../../domain/repos/labels/label-owner.ts";
import { type LabelOrder, listLabels } from "../../../domain/repos/labels/list-labels.ts";
import { updateLabel } from "../../../domain/repos/labels/update-label.ts";
import type { Listed } from "../../../domain/slice.ts";
import { notFound } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { enterOrganizationPage } from "../account/enter.ts";
import { repositoryPath } from "../addresses.ts";
import { Count } from "../count.tsx";
import { FormState } from "../create/form-state.ts";
import { type Form as SentForm, readForm, receiveForm, requireOwnForm } from "../form.ts";
import { keepText } from "../keep-text.tsx";
import { Form, Notice } from "../layout.tsx";
import { type Page, requireOwn } from "../open-page.ts";
import { orRefuse, type Refusal } from "../or-refuse.ts";
import { renderOrganizationSettings } from "../organization-settings/page.tsx";
import { Pager, readListPage } from "../pager.tsx";
import { readId } from "../read-id.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import type { PageOptions } from "../render-page.tsx";
import { enterRepositoryPage } from "../repository/enter.ts";
import { renderRepository } from "../repository/frame.tsx";
import { IssuesNav, sharedTab } from "./issues-nav.tsx";
import { LabelChip } from "./label.tsx";
import { LABEL_SCRIPT, LabelForm, toLabelFields, toLabelForm } from "./label-form.tsx";

const PAGE_SIZE = 100;

/** The orders of labels, by the names that addresses of Gitea have. */
const ORDERS = {
  alphabetically: { label: "Name", order: undefined },
  reversealphabetically: { label: "Name, reversed", order: "reversealphabetically" },
  mostissues: { label: "Most issues", order: "mostissues" },
  leastissues: { label: "Fewest issues", order: "leastissues" },
} as const satisfies Record<string, { label: string; order: LabelOrder | undefined }>;

/** The labels of a repository or an organization, with their reader. */
interface LabelsPage extends Page {
  readonly owner: LabelOwner;
  /** Of the list. */
  readonly path: string;
  readonly canChange: boolean;
  /** Sends a page below the tabs of the owner. */
  readonly send: (title: string, body: Child, options?: Partial<PageOptions>) => Promise<Response>;
}

/** Enters the owner of a page's path, to read its labels, or else to change them. */
type Enter = (c: Context<WebEnv>, mode: "read" | "write") => Promise<LabelsPage>;

const enterRepositoryLabels: Enter = async (c, mode) => {
  const scopes = mode === "write" ? (["write:issue"] as const) : [];
  const page = await enterRepositoryPage(c, { mode: "read" }, scopes);
  const { ctx, repo } = page;
  requireLabelRead(repo);
  if (mode === "write") {
    requireOwn(c, page);
    if (!isLabelWriter(repo)) throw notFound();
    requireNotArchived(repo);
  }
  const names = `${repo.owner.name}/${repo.row.name}`;
  return {
    ...page,
    owner: { repo },
    path: `${repositoryPath(repo)}/labels`,
    canChange: ctx.actor.user !== undefined && isLabelWriter(repo) && repo.row.archivedAt === null,
    send: async (title, body, options) =>
      renderRepository(
        c,
        page,
        { ...options, tab: sharedTab(repo), title: `${title} - ${names}` },
        body,
      ),
  };
};

const enterOrganizationLabels: Enter = async (c) => {
  const page = await enterOrganizationPage(c);
  requireOwn(c, page);
  const { account, membership } = page;
  if (!membership.isOwner) throw notFound();
  return {
    ...page,
    owner: { org: account },
    path: organizationLabelsPath(account),
    canChange: true,
    send: (title, body, options) =>
      renderOrganizationSettings(
        c,
        page,
        { title, link: "/labels", isHeaded: true, body },
        { ...options },
      ),
  };
};

const organizationLabelsPath = ({ name }: User): string => `/org/${name}/settings/labels`;

/** The pages of labels, of repositories and of organizations. */
export const labels = new Hono<WebEnv>();
addPages("/:owner/:repo/labels", enterRepositoryLabels);
addPages("/org/:org/settings/labels", enterOrganizationLabels);

function addPages(path: string, enter: Enter): void {
  labels.get(path, async (c) => showLabels(c, await enter(c, "read")));

  labels.get(`${path}/new`, async (c) =>
    showForm(await enter(c, "write"), FormState.fresh(), undefined),
  );

  labels.post(`${path}/new`, (c) =>
    save(c, enter, undefined, ({ ctx, owner }, fields) => createLabelOnce(ctx, owner, fields)),
  );

  labels.get(`${path}/:id/edit`, async (c) => {
    const page = await enter(c, "write");
    const label = await findNamed(page, c.req.param("id") ?? "");
    return showForm(page, FormState.fresh(toLabelForm(label)), label);
  });

  labels.post(`${path}/:id/edit`, (c) => {
    const id = c.req.param("id") ?? "";
    return save(c, enter, id, async ({ ctx, owner }, fields) => {
      await updateLabel(ctx, owner, readId(id), fields);
    });
  });

  labels.post(`${path}/delete`, (c) =>
    change(c, enter, ({ ctx, owner }, form) => deleteLabel(ctx, owner, readId(form.text("id")))),
  );

  labels.post(`${path}/initialize`, (c) =>
    change(c, enter, ({ ctx, owner }, form) =>
      createTemplateLabels(ctx, owner, form.text("template_name")),
    ),
  );
}

/**
 * Stores the label that a form describes; a refusal is shown with the form.
 *
 * @param id The label that the form edits; undefined for a new one.
 */
async function save(
  c: Context<WebEnv>,
  enter: Enter,
  id: string | undefined,
  store: (page: LabelsPage, fields: LabelFields) => Promise<void>,
): Promise<Response> {
  const form = await receiveForm(c);
  return keepText(c, form, async () => {
    const page = await enter(c, "write");
    await requireOwnForm(c, form);
    return orRefuse(
      c,
      async () => {
        await store(page, toLabelFields(form));
        return redirectAfterWrite(c, page.path);
      },
      async (refusal) =>
        showForm(
          page,
          FormState.refused(form, refusal),
          id === undefined ? undefined : await findNamed(page, id),
        ),
      // Of the fields for a color, the one that is typed.
      (message) => (message.startsWith("invalid color") ? "hex" : undefined),
    );
  });
}

/** Does what a form of the list asks for; a refusal is shown with the list. */
async function change(
  c: Context<WebEnv>,
  enter: Enter,
  work: (page: LabelsPage, form: SentForm) => Promise<void>,
): Promise<Response> {
  const page = await enter(c, "write");
  const form = await readForm(c);
  return orRefuse(
    c,
    async () => {
      await work(page, form);
      return redirectAfterWrite(c, page.path);
    },
    (refusal) => showLabels(c, page, refusal),
  );
}

const findNamed = ({ ctx, owner }: LabelsPage, id: string): Promise<Label> =>
  findLabel(ctx, owner, String(readId(id)));

function showForm(page: LabelsPage, state: FormState, label: Label | undefined): Promise<Response> {
  return page.send(
    label ? `Edit ${label.name}` : "New label",
    <section class="card form">
      <h2>{label ? "Edit label" : "New label"}</h2>
      <LabelForm
        action={label ? `${page.path}/${label.id}/edit` : `${page.path}/new`}
        formToken={page.formToken}
        state={state}
        label={label}
      />
    </section>,
    { scripts: [LABEL_SCRIPT], status: state.refusal?.status ?? 200 },
  );
}

async function showLabels(
  c: Context<WebEnv>,
  page: LabelsPage,
  refusal?: Refusal,
): Promise<Response> {
  const { ctx, owner, path, canChange } = page;
  const list = readListPage(c, PAGE_SIZE);
  const requested = c.req.query("sort") ?? "";
  const sort = Object.hasOwn(ORDERS, requested) ? (requested as keyof typeof ORDERS) : undefined;
  const { order } = ORDERS[sort ?? "alphabetically"];
  const hidesArchived = c.req.query("archived") === "hidden";
  const [own, shared] = await Promise.all([
    listLabels(ctx, owner, order, list, { hidesArchived }),
    listShared(page, order, list, { hidesArchived }),
  ]);
  const isUsual = sort === undefined && !hidesArchived;
  return page.send(
    "Labels",
    <>
      {refusal ? <Notice kind="error">{refusal.text}</Notice> : undefined}
      <div class="code-bar">
        {"repo" in owner ? <IssuesNav repo={owner.repo} current="labels" /> : undefined}
        <h2 class="grow">
          <Count of={own.total} />
          {` label${own.total === 1 ? "" : "s"}`}
        </h2>
        {canChange ? (
          <a class="button primary" href={`${path}/new`}>
            New label
          </a>
        ) : undefined}
      </div>
      {own.total > 0 || !isUsual ? (
        <Order path={path} sort={sort} hidesArchived={hidesArchived} />
      ) : undefined}
      {own.total > 0 ? (
        <LabelList page={page} items={own.items} />
      ) : (
        <p>There are no labels here.</p>
      )}
      {shared && shared.total > 0 ? <SharedLabels page={page} shared={shared} /> : undefined}
      <Pager url={c.req.url} page={list} total={Math.max(own.total, shared?.total ?? 0)} />
      {canChange ? <LabelSets page={page} isOpen={own.total === 0} /> : undefined}
    </>,
    { status: refusal?.status ?? 200 },
  );
}

interface OrderProps {
  path: string;
  sort: keyof typeof ORDERS | undefined;
  hidesArchived: boolean;
}

function Order({ path, sort, hidesArchived }: OrderProps) {
  return (
    <form class="filters" action={path}>
      <span class="pair">
        <label for="sort">Order</label>
        <select id="sort" name="sort">
          {Object.entries(ORDERS).map(([name, { label }]) => (
            <option value={name} selected={name === sort}>
              {label}
            </option>
          ))}
        </select>
      </span>
      <label class="check">
        <input type="checkbox" name="archived" value="hidden" checked={hidesArchived} />
        Hide archived
      </label>
      <button type="submit">Show</button>
    </form>
  );
}

/** The labels that a repository shares with the others of its organization, if it has one. */
async function listShared(
  { ctx, owner }: LabelsPage,
  order: LabelOrder | undefined,
  list: ReturnType<typeof readListPage>,
  options: { hidesArchived: boolean },
): Promise<Listed<Label> | undefined> {
  if (!("repo" in owner) || owner.repo.owner.kind !== "organization") return undefined;
  return listLabels(ctx, { org: owner.repo.owner }, order, list, options);
}

function SharedLabels({ page, shared }: { page: LabelsPage; shared: Listed<Label> }) {
  const { owner } = page;
  if (!("repo" in owner)) return <></>;
  return (
    <>
      <h2>{`Labels of ${owner.repo.owner.name}`}</h2>
      <p class="soft">All repositories of this organization have them.</p>
      <LabelList page={{ ...page, canChange: false }} items={shared.items} />
    </>
  );
}

function LabelList({ page, items }: { page: LabelsPage; items: readonly Label[] }) {
  const { owner, path, canChange } = page;
  return (
    <ul class="box commits">
      {items.map((label) => (
        <li>
          <div class="grow">
            {"repo" in owner ? (
              <LabelChip
                label={label}
                href={`${repositoryPath(owner.repo)}/${sharedTab(owner.repo)}?label=${encodeURIComponent(label.name)}`}
              />
            ) : (
              <LabelChip label={label} />
            )}{" "}
            {label.isExclusive ? <span class="label">Exclusive</span> : undefined}{" "}
            {label.archivedAt === null ? undefined : <span class="label">Archived</span>}
            {label.description === "" ? undefined : <div class="soft">{label.description}</div>}
          </div>
          <span class="soft">
            <Count of={label.openIssueCount} />
            {" open"}
          </span>
          {canChange ? (
            <>
              <a class="button small" href={`${path}/${label.id}/edit`}>
                Edit<span class="hidden">{` ${label.name}`}</span>
              </a>
              <DeleteMenu page={page} label={label} />
            </>
          ) : undefined}
        </li>
      ))}
    </ul>
  );
}

/** A menu with the form that deletes a label, so that one click deletes nothing. */
function DeleteMenu({ page, label }: { page: LabelsPage; label: Label }) {
  return (
    <details class="menu end">
      <summary class="button small">
        Delete<span class="hidden">{` ${label.name}`}</span>
      </summary>
      <div class="menu-body">
        <p>It goes off all issues and pull requests, and out of their timelines.</p>
        <Form action={`${page.path}/delete`} formToken={page.formToken}>
          <input type="hidden" name="id" value={String(label.id)} />
          <button type="submit" class="danger">{`Delete ${label.name}`}</button>
        </Form>
      </div>
    </details>
  );
}

/** Sets of labels, of which the owner gets those that it lacks. */
function LabelSets({ page, isOpen }: { page: LabelsPage; isOpen: boolean }) {
  return (
    <details open={isOpen}>
      <summary>Add a set of labels</summary>
      <p class="soft">Labels whose names are there already stay as they are.</p>
      {LABEL_TEMPLATES.map((name) => (
        <section class="box">
          <h3 class="box-head">{name}</h3>
          <div class="inside">
            <p class="topics">
              {templateLabels(name).map((label) => (
                <LabelChip label={{ ...label, isExclusive: label.exclusive, archivedAt: null }} />
              ))}
            </p>
            <Form action={`${page.path}/initialize`} formToken={page.formToken}>
              <input type="hidden" name="template_name" value={name} />
              <button type="submit">
                Add these labels<span class="hidden">{` of ${name}`}</span>
              </button>
            </Form>
          </div>
        </section>
      ))}
    </details>
  );
}
