import type { Context } from "hono";

import { WORK_STATES, type WorkflowRow } from "../../../db/schema/index.ts";
import { type ListedRun, listRuns } from "../../../domain/actions/runs/list-runs.ts";
import { listWorkflows, setWorkflowDisabled } from "../../../domain/actions/runs/workflows.ts";
import { statesOf } from "../../../shapes/actions/work-status.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { WebEnv } from "../../env.ts";
import { accountPath, commitPath, repositoryPath, sourcePath } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { Count } from "../count.tsx";
import { readForm } from "../form.ts";
import { HelpLink } from "../help-link.tsx";
import { Form } from "../layout.tsx";
import { Pager, readListPage } from "../pager.tsx";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import type { EnteredRepository } from "../repository/enter.ts";
import { renderRepository } from "../repository/frame.tsx";
import { actionsPath, canChangeRuns, enterActions, enterToChangeRuns, runPath } from "./enter.ts";
import { durationOf, STATE_WORDS, StateMark } from "./work-state.tsx";

const PAGE_SIZE = 30;
/** As many as a commit's files that are read. */
const WORKFLOWS_MAX = 100;
/** Characters of a parameter. */
const NAME_CHARS_MAX = 255;

/** The states that a list has, by the words of the API. */
const STATUSES: readonly (readonly [word: string, label: string])[] = [
  ["waiting", STATE_WORDS.blocked],
  ["queued", STATE_WORDS.waiting],
  ["in_progress", STATE_WORDS.running],
  ...WORK_STATES.slice(3).map((state) => [state, STATE_WORDS[state]] as const),
];

const FILTERS = ["workflow", "status", "event", "branch", "actor"] as const;
type Filters = Readonly<Record<(typeof FILTERS)[number], string>>;

/** Shows the runs of a repository, newest first, beside its workflows. */
export async function showRuns(c: Context<WebEnv>): Promise<Response> {
  const page = await enterActions(c);
  const { ctx, repo } = page;
  const list = readListPage(c, PAGE_SIZE);
  const filters = Object.fromEntries(
    FILTERS.map((name) => [name, (c.req.query(name) ?? "").slice(0, NAME_CHARS_MAX)]),
  ) as Filters;
  const given = (text: string) => (text === "" ? undefined : text);
  const [{ items, total }, { items: workflows }] = await Promise.all([
    listRuns(
      ctx,
      {
        of: { repoId: repo.row.id },
        file: given(filters.workflow),
        states: statesOf(filters.status),
        event: given(filters.event),
        branch: given(filters.branch),
        actor: given(filters.actor)?.toLowerCase(),
      },
      list,
    ),
    listWorkflows(ctx, repo.row, { size: WORKFLOWS_MAX, offset: 0 }),
  ]);
  const current = workflows.find(({ file }) => file === filters.workflow);
  return renderRepository(
    c,
    page,
    { tab: "actions", title: `Actions - ${repo.owner.name}/${repo.row.name}` },
    <div class="settings">
      <Workflows page={page} workflows={workflows} current={filters.workflow} />
      <div>
        <div class="code-bar">
          <h2 class="grow">
            {current?.name ?? "All workflows"}{" "}
            <span class="label">
              <Count of={total} />
            </span>
          </h2>
          {current ? <WorkflowTools page={page} workflow={current} /> : undefined}
        </div>
        {current?.isDisabled ? <p>No event starts this workflow: it is disabled.</p> : undefined}
        <FilterForm path={actionsPath(repo)} filters={filters} workflows={workflows} />
        {total > 0 ? (
          <RunList repo={repo} items={items} now={ctx.now} />
        ) : (
          <Nothing hasWorkflows={workflows.length > 0} isWhole={isWhole(filters)} />
        )}
        <Pager url={c.req.url} page={list} total={total} />
        <HelpLink document="actions" />
      </div>
    </div>,
  );
}

const isWhole = (filters: Filters): boolean => FILTERS.every((name) => filters[name] === "");

function Nothing({ hasWorkflows, isWhole: isAll }: { hasWorkflows: boolean; isWhole: boolean }) {
  if (!isAll) return <p>No run is like that.</p>;
  return hasWorkflows ? (
    <p>Nothing has started a workflow yet.</p>
  ) : (
    <p>
      There are no workflows yet. A file such as <code>.gitea/workflows/ci.yml</code> on the default
      branch says what runs, and when. <a href="/docs/actions">How to write the first one</a>
    </p>
  );
}

interface WorkflowsProps {
  page: EnteredRepository;
  workflows: readonly WorkflowRow[];
  /** The file that the list is about; "" for all. */
  current: string;
}

function Workflows({ page, workflows, current }: WorkflowsProps) {
  const path = actionsPath(page.repo);
  return (
    <nav aria-label="Workflows">
      <ul class="side-nav">
        <li>
          <a href={path} aria-current={current === "" ? "page" : undefined}>
            All workflows
          </a>
        </li>
        {workflows.map(({ file, name, isDisabled, events }) => (
          <li>
            <a
              href={`${path}?workflow=${encodeURIComponent(file)}`}
              aria-current={file === current ? "page" : undefined}
            >
              {name}
              {isDisabled ? <span class="label">Disabled</span> : undefined}
              {events.length === 0 ? <span class="label">Can't be read</span> : undefined}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** The file of a workflow; for writers, its switch and the way to start it by hand. */
function WorkflowTools({ page, workflow }: { page: EnteredRepository; workflow: WorkflowRow }) {
  const { repo, formToken } = page;
  const { file, path, isDisabled, events } = workflow;
  const query = `?workflow=${encodeURIComponent(file)}`;
  return (
    <div class="toggles">
      <a
        class="button"
        href={sourcePath(repo, "src", { kind: "branch", name: repo.row.defaultBranch }, path)}
      >
        {file}
      </a>
      {canChangeRuns(page) ? (
        <>
          <Form
            action={`${actionsPath(repo)}/${isDisabled ? "enable" : "disable"}${query}`}
            formToken={formToken}
          >
            <button type="submit">{isDisabled ? "Enable" : "Disable"}</button>
          </Form>
          {events.includes("workflow_dispatch") && !isDisabled ? (
            <a class="button primary" href={`${actionsPath(repo)}/run${query}`}>
              Run workflow
            </a>
          ) : undefined}
        </>
      ) : undefined}
    </div>
  );
}

interface FilterFormProps {
  path: string;
  filters: Filters;
  workflows: readonly WorkflowRow[];
}

function FilterForm({ path, filters, workflows }: FilterFormProps) {
  const events = new Set(workflows.flatMap((workflow) => workflow.events));
  if (filters.event !== "") events.add(filters.event);
  return (
    <form class="filters" action={path} role="search" aria-label="Filter">
      {filters.workflow === "" ? undefined : (
        <input type="hidden" name="workflow" value={filters.workflow} />
      )}
      <select name="status" aria-label="State">
        <option value="">Any state</option>
        {STATUSES.map(([word, label]) => (
          <option value={word} selected={word === filters.status}>
            {label}
          </option>
        ))}
      </select>
      <select name="event" aria-label="Event">
        <option value="">Any event</option>
        {[...events].toSorted().map((event) => (
          <option value={event} selected={event === filters.event}>
            {event}
          </option>
        ))}
      </select>
      <span class="pair">
        <label for="branch">Branch</label>
        <input id="branch" name="branch" value={filters.branch} spellcheck={false} />
      </span>
      <span class="pair">
        <label for="actor">Started by</label>
        <input id="actor" name="actor" value={filters.actor} spellcheck={false} />
      </span>
      <button type="submit">Show</button>
      {isWhole(filters) ? undefined : <a href={path}>Show all</a>}
    </form>
  );
}

interface RunListProps {
  repo: RepositoryContext;
  items: readonly ListedRun[];
  now: number;
}

function RunList({ repo, items, now }: RunListProps) {
  return (
    <ol class="box commits">
      {items.map(({ run, actor }) => {
        const duration = durationOf(run, now);
        return (
          <li>
            <StateMark state={run.state} />
            <div class="grow">
              <a href={runPath(repo, run)}>
                <strong>{run.title}</strong>
              </a>
              <div class="soft">
                {`${run.name} #${run.number}: `}
                <Origin repo={repo} run={run} />
                <Starter run={run} actor={actor} />
              </div>
            </div>
            {run.needsApproval ? <span class="label">Needs approval</span> : undefined}
            <span class="soft">
              <Ago at={run.createdAt} now={now} />
              {duration === "" ? undefined : `, ${duration}`}
            </span>
          </li>
        );
      })}
    </ol>
  );
}

interface OriginProps {
  repo: RepositoryContext;
  run: ListedRun["run"];
}

/** What started a run: its event, the pull request or the branch, and the commit. */
export function Origin({ repo, run }: OriginProps) {
  const { event, pullNumber, headBranch, headOid, ref } = run;
  const kind = ref.startsWith("refs/tags/") ? "tag" : "branch";
  return (
    <>
      {`${event} `}
      {pullNumber === null ? undefined : (
        <>
          <a href={`${repositoryPath(repo)}/pulls/${pullNumber}`}>{`#${pullNumber}`}</a>{" "}
        </>
      )}
      {headBranch === "" ? undefined : run.isFromFork ? (
        <span class="label">{headBranch}</span>
      ) : (
        <a class="label" href={sourcePath(repo, "src", { kind, name: headBranch })}>
          {headBranch}
        </a>
      )}{" "}
      <a class="oid" href={commitPath(repo, headOid)}>
        {headOid.slice(0, 10)}
      </a>
    </>
  );
}

/** Who started a run. */
export function Starter({ run, actor }: Pick<ListedRun, "run" | "actor">) {
  if (actor) {
    return (
      <>
        {" by "}
        <a href={accountPath(actor)}>{actor.name}</a>
      </>
    );
  }
  return <>{run.actorId === 0 ? "" : " by Ghost"}</>;
}

/** Switches a workflow off, or on again. */
export async function switchWorkflow(c: Context<WebEnv>, isDisabled: boolean): Promise<Response> {
  const { ctx, repo } = await enterToChangeRuns(c);
  await readForm(c);
  const { file } = await setWorkflowDisabled(ctx, repo, c.req.query("workflow") ?? "", isDisabled);
  const query = `?workflow=${encodeURIComponent(file)}`;
  return redirectAfterWrite(c, `${actionsPath(repo)}${query}`);
}
