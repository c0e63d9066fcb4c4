import { type Context, Hono } from "hono";

import type { Milestone } from "../../../db/schema/index.ts";
import { requireNotArchived } from "../../../domain/issues/issue/require-issue-access.ts";
import { listIssuesWithChoices } from "../../../domain/issues/lists/list-choices.ts";
import { createMilestoneOnce } from "../../../domain/issues/milestones/create-milestone.ts";
import { deleteMilestone } from "../../../domain/issues/milestones/delete-milestone.ts";
import { findMilestone } from "../../../domain/issues/milestones/find-milestone.ts";
import {
  countMilestones,
  listMilestones,
} from "../../../domain/issues/milestones/list-milestones.ts";
import { hasMilestoneAccess } from "../../../domain/issues/milestones/milestone-access.ts";
import { updateMilestone } from "../../../domain/issues/milestones/update-milestone.ts";
import { notFound } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { repositoryPath } from "../addresses.ts";
import { AsItIs } from "../as-it-is.tsx";
import { FormState } from "../create/form-state.ts";
import { readForm, receiveForm, requireOwnForm, TEXT_FORM_BYTES_MAX } from "../form.ts";
import { keepText } from "../keep-text.tsx";
import { Form, Notice } from "../layout.tsx";
import { renderComment, renderComments } from "../markup.ts";
import { requireOwn } from "../open-page.ts";
import { orRefuse, type Refusal } from "../or-refuse.ts";
import { Pager, readListPage } from "../pager.tsx";
import { readId } from "../read-id.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import { enterRepositoryPage, type EnteredRepository } from "../repository/enter.ts";
import { renderRepository } from "../repository/frame.tsx";
import { Day } from "../time.tsx";
import { readListQuery } from "./filters.ts";
import { IssueFilters, StateTabs } from "./issue-filters.tsx";
import { IssueRows } from "./issue-rows.tsx";
import { IssuesNav, sharedTab } from "./issues-nav.tsx";
import {
  MilestoneFacts,
  MilestoneFilters,
  MilestoneStates,
  readMilestoneQuery,
} from "./milestone-list.tsx";
import { MilestoneForm, toMilestoneFields, toMilestoneForm } from "./milestone-form.tsx";
import { TEXT_PAGE } from "../text-field.tsx";
import { UserText } from "../user-text.tsx";

const PAGE_SIZE = 20;
/** The pages of a repository's milestones. */
export const milestones = new Hono<WebEnv>();

const pathOf = ({ repo }: EnteredRepository): string => `${repositoryPath(repo)}/milestones`;

async function enter(c: Context<WebEnv>): Promise<EnteredRepository> {
  const page = await enterRepositoryPage(c, { mode: "read" });
  if (!hasMilestoneAccess(page.repo, "read")) throw notFound();
  return page;
}

/** Enters a repository whose milestones the reader may change. */
async function enterToChange(c: Context<WebEnv>): Promise<EnteredRepository> {
  const page = await enterRepositoryPage(c, { mode: "read" }, ["write:issue"]);
  if (!hasMilestoneAccess(page.repo, "read")) throw notFound();
  requireOwn(c, page);
  if (!hasMilestoneAccess(page.repo, "write")) throw notFound();
  requireNotArchived(page.repo);
  return page;
}

/** Whether the reader may change the milestones of a repository. */
const canChange = ({ ctx, repo }: EnteredRepository): boolean =>
  ctx.actor.user !== undefined && repo.row.archivedAt === null && hasMilestoneAccess(repo, "write");

const findNamed = ({ ctx, repo }: EnteredRepository, id = ""): Promise<Milestone> =>
  findMilestone(ctx, repo.row, String(readId(id)));

milestones.get("/:owner/:repo/milestones", async (c) => showMilestones(c, await enter(c)));

milestones.get("/:owner/:repo/milestones/new", async (c) =>
  showForm(c, await enterToChange(c), FormState.fresh(), undefined),
);

milestones.post("/:owner/:repo/milestones/new", async (c) => {
  const form = await receiveForm(c, TEXT_FORM_BYTES_MAX);
  return keepText(c, form, async () => {
    const page = await enterToChange(c);
    await requireOwnForm(c, form);
    return orRefuse(
      c,
      async () => {
        const fields = { ...toMilestoneFields(form), isClosed: false };
        await createMilestoneOnce(page.ctx, page.repo, fields);
        return redirectAfterWrite(c, pathOf(page));
      },
      (refusal) => showForm(c, page, FormState.refused(form, refusal), undefined),
    );
  });
});

milestones.get("/:owner/:repo/milestones/:id/edit", async (c) => {
  const page = await enterToChange(c);
  const milestone = await findNamed(page, c.req.param("id"));
  return showForm(c, page, FormState.fresh(toMilestoneForm(milestone)), milestone);
});

milestones.post("/:owner/:repo/milestones/:id/edit", async (c) => {
  const form = await receiveForm(c, TEXT_FORM_BYTES_MAX);
  return keepText(c, form, async () => {
    const page = await enterToChange(c);
    await requireOwnForm(c, form);
    const { ctx, repo } = page;
    const milestone = await findNamed(page, c.req.param("id"));
    return orRefuse(
      c,
      async () => {
        const edit = { ...toMilestoneFields(form), isClosed: undefined };
        await updateMilestone(ctx, repo, milestone, edit, readId(form.text("seen_at")));
        return redirectAfterWrite(c, `${repositoryPath(repo)}/milestone/${milestone.id}`);
      },
      (refusal) => showForm(c, page, FormState.refused(form, refusal), milestone),
    );
  });
});

milestones.post("/:owner/:repo/milestones/:id/:action{open|close}", (c) =>
  change(c, c.req.param("id"), async ({ ctx, repo }, milestone) => {
    const isClosed = c.req.param("action") === "close";
    const edit = { title: undefined, description: undefined, deadlineAt: undefined, isClosed };
    await updateMilestone(ctx, repo, milestone, edit);
  }),
);

milestones.post("/:owner/:repo/milestones/delete", (c) =>
  change(c, undefined, ({ ctx, repo }, milestone) => deleteMilestone(ctx, repo, milestone)),
);

/**
 * Changes a milestone; a refusal is shown with the list that has the form.
 *
 * @param id The milestone; undefined for the one that the form names.
 */
async function change(
  c: Context<WebEnv>,
  id: string | undefined,
  work: (page: EnteredRepository, milestone: Milestone) => Promise<void>,
): Promise<Response> {
  const page = await enterToChange(c);
  const form = await readForm(c);
  const milestone = await findNamed(page, id ?? form.text("id"));
  return orRefuse(
    c,
    async () => {
      await work(page, milestone);
      return redirectAfterWrite(c, pathOf(page));
    },
    (refusal) => showMilestones(c, page, refusal),
  );
}

function showForm(
  c: Context<WebEnv>,
  page: EnteredRepository,
  state: FormState,
  milestone: Milestone | undefined,
): Response | Promise<Response> {
  const { repo, formToken } = page;
  const title = milestone ? "Edit milestone" : "New milestone";
  const path = pathOf(page);
  return renderRepository(
    c,
    page,
    {
      tab: sharedTab(repo),
      title: `${title} - ${repo.owner.name}/${repo.row.name}`,
      status: state.refusal?.status ?? 200,
      ...TEXT_PAGE,
    },
    <section class="card form">
      <h2>{title}</h2>
      <MilestoneForm
        repo={repo}
        action={milestone ? `${path}/${milestone.id}/edit` : `${path}/new`}
        formToken={formToken}
        state={state}
        milestone={milestone}
      />
      {milestone && state.isStale("seen_at", String(milestone.updatedAt)) ? (
        <Current milestone={milestone} />
      ) : undefined}
    </section>,
  );
}

/** The milestone as it is, beside an edit of what it was. */
function Current({ milestone: { title, description, deadlineAt } }: { milestone: Milestone }) {
  return (
    <AsItIs what="The milestone">
      <p>
        <strong>{title}</strong>
        {deadlineAt === null ? undefined : (
          <>
            {", due on "}
            <Day at={deadlineAt} />
          </>
        )}
      </p>
      <p class="message">{description}</p>
    </AsItIs>
  );
}

async function showMilestones(
  c: Context<WebEnv>,
  page: EnteredRepository,
  refusal?: Refusal,
): Promise<Response> {
  const { ctx, repo } = page;
  const list = readListPage(c, PAGE_SIZE);
  const query = readMilestoneQuery(c);
  const { state, order } = query;
  const filter = { isClosed: state === "closed", name: query.name };
  const [{ items, total }, counts] = await Promise.all([
    listMilestones(ctx, repo.row, filter, list, order),
    countMilestones(ctx, repo.row, filter),
  ]);
  const descriptions = await renderComments(
    ctx,
    repo,
    items.map(({ description }) => description),
  );
  return renderRepository(
    c,
    page,
    {
      tab: sharedTab(repo),
      title: `Milestones - ${repo.owner.name}/${repo.row.name}`,
      hasUserText: true,
      status: refusal?.status ?? 200,
    },
    <>
      {refusal ? <Notice kind="error">{refusal.text}</Notice> : undefined}
      <h2 class="hidden">Milestones</h2>
      <div class="code-bar">
        <IssuesNav repo={repo} current="milestones" />
        <MilestoneStates url={c.req.url} state={state} counts={counts} />
        {canChange(page) ? (
          <a class="button primary" href={`${pathOf(page)}/new`}>
            New milestone
          </a>
        ) : undefined}
      </div>
      <MilestoneFilters path={pathOf(page)} query={query} />
      {total === 0 ? <p>{`There are no ${state} milestones here.`}</p> : undefined}
      <ul class="box commits">
        {items.map((milestone, at) => (
          <li>
            <div class="grow">
              <h3>
                <a href={`${repositoryPath(repo)}/milestone/${milestone.id}`}>{milestone.title}</a>
              </h3>
              <MilestoneFacts milestone={milestone} now={ctx.now} />
              <Description html={descriptions[at] ?? ""} />
            </div>
            {canChange(page) ? <Changes page={page} milestone={milestone} /> : undefined}
          </li>
        ))}
      </ul>
      <Pager url={c.req.url} page={list} total={total} />
    </>,
  );
}

function Description({ html }: { html: string }) {
  return html.trim() === "" ? <></> : <UserText html={html} />;
}

/** The forms by which a milestone changes. */
function Changes({ page, milestone }: { page: EnteredRepository; milestone: Milestone }) {
  const { formToken } = page;
  const { id, title, isClosed } = milestone;
  const path = pathOf(page);
  return (
    <div class="toggles">
      <a class="button small" href={`${path}/${id}/edit`}>
        Edit<span class="hidden">{` ${title}`}</span>
      </a>
      <Form
        action={`${path}/${id}/${isClosed ? "open" : "close"}`}
        formToken={formToken}
        class="inline"
      >
        <button type="submit" class="small">
          {isClosed ? "Reopen" : "Close"}
          <span class="hidden">{` ${title}`}</span>
        </button>
      </Form>
      <details class="menu end">
        <summary class="button small">
          Delete<span class="hidden">{` ${title}`}</span>
        </summary>
        <div class="menu-body">
          <p>Its issues and pull requests stay, without a milestone.</p>
          <Form action={`${path}/delete`} formToken={formToken}>
            <input type="hidden" name="id" value={String(id)} />
            <button type="submit" class="danger">{`Delete ${title}`}</button>
          </Form>
        </div>
      </details>
    </div>
  );
}

milestones.get("/:owner/:repo/milestone/:id", async (c) => {
  const page = await enter(c);
  const { ctx, repo } = page;
  const id = readId(c.req.param("id"));
  const list = readListPage(c, PAGE_SIZE);
  const query = readListQuery(c, undefined, ctx.actor.user?.name);
  const filter = query.filter && { ...query.filter, milestoneId: id };
  // In parallel, to save a round trip: a milestone of another repository has no issues here.
  const [milestone, { items, total, choices }] = await Promise.all([
    findMilestone(ctx, repo.row, String(id)),
    listIssuesWithChoices(ctx, repo, filter, list),
  ]);
  const description = await renderComment(ctx, repo, milestone.description);
  return renderRepository(
    c,
    page,
    {
      tab: sharedTab(repo),
      title: `${milestone.title} - ${repo.owner.name}/${repo.row.name}`,
      hasUserText: true,
    },
    <>
      <section class="card">
        <div class="code-bar">
          <h2 class="grow">{milestone.title}</h2>
          {canChange(page) ? <Changes page={page} milestone={milestone} /> : undefined}
        </div>
        <MilestoneFacts milestone={milestone} now={ctx.now} />
        <Description html={description} />
      </section>
      <div class="code-bar">
        <StateTabs
          url={c.req.url}
          query={query}
          counts={{ open: milestone.openIssueCount, closed: milestone.closedIssueCount }}
        />
        <IssuesNav repo={repo} />
      </div>
      <IssueFilters
        query={query}
        choices={{ ...choices, milestones: [] }}
        me={ctx.actor.user}
        kind="issues"
      />
      {total === 0 ? <p>No issue or pull request of this milestone was found.</p> : undefined}
      <IssueRows issues={items} now={ctx.now} />
      <Pager url={c.req.url} page={list} total={total} />
    </>,
  );
});
