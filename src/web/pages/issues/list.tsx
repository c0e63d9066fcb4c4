import { type Context, Hono } from "hono";

import { isAllowed } from "../../../auth/access/permission.ts";
import { isUnitOn } from "../../../auth/access/unit-switches.ts";
import {
  findFilterNames,
  listIssuesWithChoices,
} from "../../../domain/issues/lists/list-choices.ts";
import { changeIssues } from "../../../domain/issues/issue/change-issues.ts";
import { listAssignees } from "../../../domain/repos/collaborators/list-collaborators.ts";
import { findPushedBranches } from "../../../domain/pulls/pull/find-pushed-branches.ts";
import { notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { WebEnv } from "../../env.ts";
import { repositoryPath } from "../addresses.ts";
import { receiveForm, requireOwnForm } from "../form.ts";
import { requireOwn } from "../open-page.ts";
import { orRefuse } from "../or-refuse.ts";
import { Pager, readListPage } from "../pager.tsx";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import { ownPath } from "../redirect-to.ts";
import {
  enterRepositoryPage,
  type EnteredRepository,
  READ_ISSUES,
  READ_PULLS,
} from "../repository/enter.ts";
import { renderRepository } from "../repository/frame.tsx";
import { PushedBranches } from "../repository/pushed-branches.tsx";
import { readListQuery, withParameters } from "./filters.ts";
import { IssueFilters, StateTabs } from "./issue-filters.tsx";
import type { Refused } from "./issue-head.tsx";
import { IssueRows } from "./issue-rows.tsx";
import { IssuesNav } from "./issues-nav.tsx";
import {
  isSelectedIn,
  readChange,
  readSelected,
  SELECTION_FORM,
  SelectionForm,
  selectName,
} from "./selection.tsx";

const PAGE_SIZE = 20;
/** Users whom a writer may assign to what is selected. */
const SOME = { size: 100, offset: 0 };

/** The lists of a repository's issues and of its pull requests. */
export const issueLists = new Hono<WebEnv>();

issueLists.get("/:owner/:repo/issues", async (c) => {
  const page = await enterRepositoryPage(c, { mode: "read" });
  const { repo } = page;
  const tracker = findTrackerUrl(repo);
  if (tracker !== undefined) return c.redirect(tracker, 303);
  if (!isAllowed(repo, READ_ISSUES) || !isUnitOn(repo.row, "issues")) throw notFound();
  return showList(c, page, "issues");
});

issueLists.get("/:owner/:repo/pulls", async (c) => {
  const page = await enterRepositoryPage(c, READ_PULLS);
  if (!isUnitOn(page.repo.row, "pulls")) throw notFound();
  return showList(c, page, "pulls");
});

for (const kind of ["issues", "pulls"] as const) {
  // Changes what is selected, and leads back to the same list.
  issueLists.post(`/:owner/:repo/${kind}`, async (c) => {
    const form = await receiveForm(c);
    const page = await enterRepositoryPage(c, { unit: kind, mode: "read" }, ["write:issue"]);
    requireOwn(c, page);
    await requireOwnForm(c, form);
    const { ctx, repo } = page;
    if (!isUnitOn(repo.row, kind)) throw notFound();
    return orRefuse(
      c,
      async () => {
        const named = { isPull: kind === "pulls", numbers: readSelected(form) };
        await changeIssues(ctx, repo, named, readChange(form));
        return redirectAfterWrite(c, ownPath(c.req.url) + new URL(c.req.url).search);
      },
      (refusal) => showList(c, page, kind, { form, refusal }),
    );
  });
}

/** The address of the external tracker of a repository, for those who may see it. */
function findTrackerUrl(repo: RepositoryContext): string | undefined {
  const { external } = repo.row.issueSettings;
  if (!external || !isUnitOn(repo.row, "ext_issues")) return undefined;
  return isAllowed(repo, { unit: "ext_issues", mode: "read" }) ? external.url : undefined;
}

const KINDS = {
  issues: { title: "Issues", one: "issue", many: "issues" },
  pulls: { title: "Pull requests", one: "pull request", many: "pull requests" },
} as const;
type Kind = keyof typeof KINDS;

async function showList(
  c: Context<WebEnv>,
  page: EnteredRepository,
  kind: Kind,
  refused?: Refused,
): Promise<Response> {
  const { ctx, repo } = page;
  const named = await findNamedQuery(c, page);
  if (named !== undefined) return c.redirect(named, 303);
  const query = readListQuery(c, kind === "pulls", ctx.actor.user?.name);
  const list = readListPage(c, PAGE_SIZE);
  const { row } = repo;
  const isWriter =
    ctx.actor.user !== undefined &&
    row.archivedAt === null &&
    isAllowed(repo, { unit: kind, mode: "write" });
  const [{ items, total, choices }, assignees, pushed] = await Promise.all([
    listIssuesWithChoices(ctx, repo, query.filter, list),
    isWriter ? listAssignees(ctx, repo, SOME) : undefined,
    kind === "pulls" ? findPushedBranches(ctx, repo) : [],
  ]);
  const counts =
    kind === "pulls"
      ? { open: row.openPullCount, closed: row.closedPullCount }
      : { open: row.openIssueCount, closed: row.closedIssueCount };
  const { title, one, many } = KINDS[kind];
  return renderRepository(
    c,
    page,
    {
      tab: kind,
      title: `${title} - ${repo.owner.name}/${row.name}`,
      status: refused?.refusal.status ?? 200,
      scripts: isWriter ? ["select.ts"] : [],
    },
    <>
      <h2 class="hidden">{title}</h2>
      <PushedBranches page={page} pushed={pushed} />
      <div class="code-bar">
        <StateTabs url={c.req.url} query={query} counts={counts} />
        <IssuesNav repo={repo} />
        {kind === "issues" ? (
          <a class="button primary small" href={`${repositoryPath(repo)}/issues/new`}>
            New issue
          </a>
        ) : row.isEmpty ? undefined : (
          <a class="button primary small" href={`${repositoryPath(repo)}/compare`}>
            New pull request
          </a>
        )}
      </div>
      <IssueFilters query={query} choices={choices} me={ctx.actor.user} kind={kind} />
      {total === 0 ? (
        <p>
          {`No ${query.state === "all" ? "" : `${query.state} `}${one} was found. `}
          {query.state === "all" ? undefined : (
            <a href={withParameters(c.req.url, { state: "all" })}>{`All ${many}`}</a>
          )}
        </p>
      ) : undefined}
      {assignees && items.length > 0 ? (
        <SelectionForm
          path={ownPath(c.req.url) + new URL(c.req.url).search}
          formToken={page.formToken}
          choices={choices}
          assignees={assignees.items}
          refused={refused}
        />
      ) : undefined}
      <IssueRows
        issues={items}
        now={ctx.now}
        selection={
          assignees && {
            form: SELECTION_FORM,
            nameOf: ({ row: { number } }) => selectName(number),
            isSelected: isSelectedIn(refused),
          }
        }
      />
      <Pager url={c.req.url} page={list} total={total} />
    </>,
  );
}

/** Labels that an address may name by id. */
const IDS_MAX = 32;

/**
 * The query in names of one that names labels and a milestone by id, as addresses of Gitea do:
 * `labels=5,-7` with and without a label, `labels=0` without any; `milestone=-1` without one.
 *
 * Cost: one round trip for such an address.
 *
 * @returns Undefined for an address without ids.
 */
async function findNamedQuery(
  c: Context<WebEnv>,
  { ctx, repo }: EnteredRepository,
): Promise<string | undefined> {
  const list = c.req.query("labels");
  const milestoneText = c.req.query("milestone") ?? "";
  const milestone = /^-?\d{1,15}$/.test(milestoneText) ? Number(milestoneText) : undefined;
  if (list === undefined && milestone === undefined) return undefined;
  const ids = (list ?? "")
    .split(",", IDS_MAX)
    .filter((text) => /^-?\d{1,15}$/.test(text))
    .map(Number);
  const names = await findFilterNames(ctx, repo, {
    labels: ids.map((id) => Math.abs(id)),
    milestone: Math.max(milestone ?? 0, 0),
  });
  // A milestone's title may be a number.
  if (list === undefined && milestone !== undefined && milestone > 0 && !names.milestone) {
    return undefined;
  }
  const labels = ids.flatMap((id) => (id > 0 ? (names.labels.get(id) ?? []) : []));
  const excluded = ids.flatMap((id) => (id < 0 ? (names.labels.get(-id) ?? []) : []));
  const terms = [
    c.req.query("q") ?? "",
    ...(ids.includes(0) ? ["no:label"] : []),
    ...excluded.map((name) => `-label:"${name}"`),
    ...(milestone === -1 ? ["no:milestone"] : []),
  ];
  return withParameters(c.req.url, {
    labels: "",
    label: labels,
    milestone: milestone === undefined ? milestoneText : (names.milestone ?? ""),
    q: terms.filter((term) => term !== "").join(" "),
  });
}
