import { type Context, Hono } from "hono";

import { isUnitOn } from "../../../auth/access/unit-switches.ts";
import type { User } from "../../../db/schema/index.ts";
import { changeStates } from "../../../domain/issues/issue/change-issues.ts";
import { isIssueWritable, unitOf } from "../../../domain/issues/issue/find-issue.ts";
import type { PersonRole } from "../../../domain/issues/lists/issue-query.ts";
import { searchIssues } from "../../../domain/issues/lists/search-issues.ts";
import { listOwnMilestones } from "../../../domain/issues/milestones/list-milestones.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import type { WebEnv } from "../../env.ts";
import { repositoryPath } from "../addresses.ts";
import { readForm } from "../form.ts";
import { openOwnPage, type OwnPage } from "../open-page.ts";
import { orRefuse } from "../or-refuse.ts";
import { Pager, readListPage } from "../pager.tsx";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import { ownPath } from "../redirect-to.ts";
import { renderPage } from "../render-page.tsx";
import { readListQuery, withParameters } from "./filters.ts";
import { IssueFilters, StateTabs } from "./issue-filters.tsx";
import type { Refused } from "./issue-head.tsx";
import { IssueRows } from "./issue-rows.tsx";
import {
  MilestoneFacts,
  MilestoneFilters,
  MilestoneStates,
  readMilestoneQuery,
} from "./milestone-list.tsx";
import {
  isSelectedIn,
  readSelected,
  readStateChange,
  SELECTION_FORM,
  SelectionForm,
  selectName,
} from "./selection.tsx";

const PAGE_SIZE = 20;

/** The lists of what is in all repositories, for who is signed in. */
export const ownLists = new Hono<WebEnv>();

for (const kind of ["issues", "pulls"] as const) {
  ownLists.get(`/${kind}`, async (c) => showOwn(c, await openOwnPage(c), kind));

  // Changes what is selected, and leads back to the same list.
  ownLists.post(`/${kind}`, async (c) => {
    const page = await openOwnPage(c);
    const form = await readForm(c);
    return orRefuse(
      c,
      async () => {
        await changeStates(page.ctx, readSelected(form), readStateChange(form));
        return redirectAfterWrite(c, ownPath(c.req.url) + new URL(c.req.url).search);
      },
      (refusal) => showOwn(c, page, kind, { form, refusal }),
    );
  });
}

/** Cost: one round trip of the database, beside that of the reader. */
ownLists.get("/milestones", async (c) => {
  const page = await openOwnPage(c);
  const { ctx, user } = page;
  const query = readMilestoneQuery(c);
  const list = readListPage(c, PAGE_SIZE);
  const filter = { isClosed: query.state === "closed", name: query.name };
  const found = await listOwnMilestones(ctx, user, filter, list, query.order);
  return renderPage(
    c,
    page,
    { title: "Milestones" },
    <>
      <h1>Milestones</h1>
      <div class="code-bar">
        <MilestoneStates url={c.req.url} state={query.state} counts={found.counts} />
      </div>
      <MilestoneFilters path="/milestones" query={query} />
      {found.total === 0 ? (
        <p>{`There are no ${query.state} milestones in your repositories.`}</p>
      ) : undefined}
      <ul class="box commits">
        {found.items.map(({ milestone, repoName }) => {
          const path = repositoryPath({ owner: user, row: { name: repoName } });
          return (
            <li>
              <div class="grow">
                <h2>
                  <a href={`${path}/milestone/${milestone.id}`}>{milestone.title}</a>
                </h2>
                <a class="soft" href={path}>{`${user.name}/${repoName}`}</a>
                <MilestoneFacts milestone={milestone} now={ctx.now} />
              </div>
            </li>
          );
        })}
      </ul>
      <Pager url={c.req.url} page={list} total={found.total} />
    </>,
  );
});

/** What a list has to do with its reader, by the names that addresses of Gitea have. */
interface Relation {
  label: string;
  /** Undefined for what is in the reader's own repositories. */
  role: PersonRole | undefined;
}

const RELATIONS: Readonly<Record<string, Relation>> = {
  your_repositories: { label: "In your repositories", role: undefined },
  assigned: { label: "Assigned to you", role: "assignee" },
  created_by: { label: "Opened by you", role: "poster" },
  mentioned: { label: "Mentioning you", role: "mentioned" },
};

const KINDS = {
  issues: { title: "Issues", relations: RELATIONS },
  pulls: {
    title: "Pull requests",
    relations: {
      ...RELATIONS,
      review_requested: { label: "Your review requested", role: "review_requested" },
      reviewed_by: { label: "Reviewed by you", role: "reviewed" },
    },
  },
} as const satisfies Record<string, { title: string; relations: Record<string, Relation> }>;
type Kind = keyof typeof KINDS;

const USUAL = "your_repositories";

/** Cost: one round trip of the database, beside that of the reader. */
async function showOwn(
  c: Context<WebEnv>,
  page: OwnPage,
  kind: Kind,
  refused?: Refused,
): Promise<Response> {
  const { ctx, user } = page;
  const relations: Readonly<Record<string, Relation>> = KINDS[kind].relations;
  const requested = c.req.query("type") ?? "";
  const type = Object.hasOwn(relations, requested) ? requested : USUAL;
  const query = readListQuery(c, kind === "pulls", user.name, "recentupdate");
  const list = readListPage(c, PAGE_SIZE);
  const { items, total } = await searchIssues(ctx, toSearch(user, relations[type], query), list);
  const { title } = KINDS[kind];
  return renderPage(
    c,
    page,
    { title, scripts: ["select.ts"], status: refused?.refusal.status ?? 200 },
    <>
      <h1>{title}</h1>
      <nav aria-label="What they have to do with you">
        <ul class="tabs">
          {Object.entries(relations).map(([name, { label }]) => (
            <li>
              <a
                href={withParameters(c.req.url, { type: name === USUAL ? "" : name })}
                aria-current={name === type ? "page" : undefined}
              >
                {label}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="code-bar">
        <StateTabs url={c.req.url} query={query} counts={{ [query.state]: total }} />
      </div>
      <IssueFilters
        query={query}
        choices={undefined}
        me={user}
        kind={kind}
        type={type === USUAL ? undefined : type}
      />
      {total === 0 ? <p>Nothing was found.</p> : undefined}
      {items.some(maySelect) || refused ? (
        <SelectionForm
          path={ownPath(c.req.url) + new URL(c.req.url).search}
          formToken={page.formToken}
          refused={refused}
        />
      ) : undefined}
      <IssueRows
        issues={items}
        now={ctx.now}
        showsRepository
        selection={{
          form: SELECTION_FORM,
          nameOf: (issue) => (maySelect(issue) ? selectName(issue.row.id) : undefined),
          isSelected: isSelectedIn(refused),
        }}
      />
      <Pager url={c.req.url} page={list} total={total} />
    </>,
  );
}

/** Whether the reader may close or reopen an issue among others. */
const maySelect = (issue: IssueContext): boolean =>
  issue.repo.row.archivedAt === null &&
  isIssueWritable(issue) &&
  isUnitOn(issue.repo.row, unitOf(issue.row));

/** A search among what a reader has to do with. */
function toSearch(
  { name }: User,
  relation: Relation | undefined,
  { filter }: ReturnType<typeof readListQuery>,
) {
  const role = relation?.role;
  const people = [...(filter?.people ?? []), ...(role ? [{ role, name }] : [])];
  return {
    filter: filter && { ...filter, people },
    scope: { owner: role ? undefined : name, team: undefined },
    priorityRepoId: undefined,
  };
}
