import type { Context } from "hono";
import { raw } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";

import { isFinal } from "../../../shapes/actions/work-status.ts";
import {
  readJob,
  type ShownJobOfRun,
  type ShownTask,
} from "../../../domain/actions/runs/read-run.ts";
import type { StoredLogRow } from "../../../domain/actions/tasks/log-rows.ts";
import { readLog } from "../../../domain/actions/tasks/read-log.ts";
import { answerLog } from "../../../entrance/answer-log.ts";
import { notFound } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { Ago } from "../ago.tsx";
import { HelpLink } from "../help-link.tsx";
import { Form } from "../layout.tsx";
import { readSearchText } from "../read-search-text.ts";
import type { EnteredRepository } from "../repository/enter.ts";
import { renderRepository } from "../repository/frame.tsx";
import { canChangeRuns, enterActions, jobPath, readRunNumber, runPath } from "./enter.ts";
import { renderRows } from "./log-rows.ts";
import { type LogSection, toSections } from "./log-sections.ts";
import { durationOf, STATE_WORDS, StateMark } from "./work-state.tsx";

/** Rows of a page, and bytes of the log that are read for it. */
const ROWS_MAX = 2000;
const BYTES_MAX = 2 * 1024 * 1024;
/** Rows that a search looks at, and those that it shows. */
const SEARCHED_MAX = 20_000;
const SEARCHED_BYTES_MAX = 8 * 1024 * 1024;
const FOUND_MAX = 500;

/** A job with the attempt that the address names, or the last one. */
interface JobPage extends ShownJobOfRun {
  readonly page: EnteredRepository;
  /** Undefined before a runner has the job. */
  readonly task: ShownTask | undefined;
}

async function enterJob(c: Context<WebEnv>): Promise<JobPage> {
  const page = await enterActions(c);
  const [number, position] = [readRunNumber(c.req.param("run")), readRunNumber(c.req.param("job"))];
  const shown = await readJob(page.ctx, page.repo.row, number, position);
  const named = c.req.query("attempt");
  const isWaiting = shown.job.state === "blocked" || shown.job.state === "waiting";
  const task =
    named === undefined
      ? shown.tasks.find(({ id }) => !isWaiting && id === shown.job.taskId)
      : shown.tasks.find(({ attempt }) => attempt === readRunNumber(named));
  if (named !== undefined && !task) throw notFound();
  return { ...shown, page, task };
}

/** What the address of a job's page asks for besides the job. */
interface LogQuery {
  readonly attempt: string | undefined;
  readonly step: number | undefined;
  /** A row of the step from 0, or of the log for a search. */
  readonly from: number | undefined;
  readonly hasTimes: boolean;
  readonly text: string;
}

function readLogQuery(c: Context<WebEnv>): LogQuery {
  const numberOf = (name: string): number | undefined => {
    const text = c.req.query(name) ?? "";
    return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
  };
  return {
    attempt: c.req.query("attempt"),
    step: numberOf("step"),
    from: numberOf("from"),
    hasTimes: c.req.query("times") === "on",
    text: readSearchText(c),
  };
}

/** The query of another view of the same log. */
function toQuery(
  { attempt, hasTimes }: LogQuery,
  changes: Readonly<Record<string, string | number>> = {},
): string {
  const parameters = new URLSearchParams({
    ...(attempt !== undefined && { attempt }),
    ...(hasTimes && { times: "on" }),
  });
  for (const [name, value] of Object.entries(changes)) {
    if (value === "") parameters.delete(name);
    else parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}

/** Shows a job: its steps with their logs. */
export async function showJob(c: Context<WebEnv>): Promise<Response> {
  const shown = await enterJob(c);
  const { page, run, job, jobs, task } = shown;
  const { repo } = page;
  const query = readLogQuery(c);
  const path = jobPath(repo, run, job);
  const logs = `${path}/logs${toQuery(query, { attempt: task?.attempt ?? "" })}`;
  return renderRepository(
    c,
    page,
    {
      tab: "actions",
      title: `${job.name} - ${run.title} #${run.number}`,
      scripts: ["run.ts"],
      loadsParts: true,
    },
    <div class="settings">
      <nav aria-label="Jobs">
        <ul class="side-nav">
          <li>
            <a href={runPath(repo, run)}>{`${run.name} #${run.number}`}</a>
          </li>
          {jobs.map((each) => (
            <li>
              <a
                href={jobPath(repo, run, each)}
                aria-current={each.id === job.id ? "page" : undefined}
              >
                <StateMark state={each.state} />
                {each.name}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div
        id="job"
        data-live={task || isFinal(job.state) ? undefined : ""}
        data-logs={task && !isFinal(task.state) ? logs : undefined}
      >
        <div class="code-bar">
          <h2 class="grow">{job.name}</h2>
          <JobTools shown={shown} query={query} path={path} />
        </div>
        <p id="job-state">
          <JobState shown={shown} />
        </p>
        {task ? (
          await logOf(shown, task, query)
        ) : isFinal(job.state) ? (
          <p>It has not run.</p>
        ) : (
          <p>
            It has no log before a runner has it. <a href={runPath(repo, run)}>What it waits for</a>
          </p>
        )}
        <HelpLink document="actions" />
      </div>
    </div>,
  );
}

function JobState({ shown: { page, job, task } }: { shown: JobPage }) {
  const { now } = page.ctx;
  const work = task ?? job;
  const duration = durationOf(work, now);
  return (
    <>
      <StateMark state={work.state} /> <strong>{STATE_WORDS[work.state]}</strong>
      {duration === "" ? undefined : ` ${isFinal(work.state) ? "in" : "for"} ${duration}`}
      {task ? (
        <>
          {`, by the runner ${task.runnerName}, `}
          <Ago at={task.startedAt} now={now} />
        </>
      ) : undefined}
    </>
  );
}

interface JobToolsProps {
  shown: JobPage;
  query: LogQuery;
  path: string;
}

function JobTools({ shown: { page, run, tasks, task }, query, path }: JobToolsProps) {
  return (
    <div class="toggles">
      {tasks.some((each) => each !== task) ? (
        <details class="menu end">
          <summary class="button small">
            {task ? `Attempt ${task.attempt}` : "Earlier attempts"}
          </summary>
          <ul class="menu-body">
            {tasks.map(({ attempt, state }) => (
              <li>
                <a
                  href={`${path}${toQuery(query, { attempt })}`}
                  aria-current={attempt === task?.attempt ? "page" : undefined}
                >
                  {`${attempt}: ${STATE_WORDS[state]}`}
                </a>
              </li>
            ))}
          </ul>
        </details>
      ) : undefined}
      {task && task.logDeletedAt === null && task.logRows > 0 ? (
        <>
          <a
            class="button small"
            href={`${path}${toQuery(query, {
              times: query.hasTimes ? "" : "on",
              ...(query.step !== undefined && { step: query.step }),
              ...(query.from !== undefined && { from: query.from }),
            })}`}
          >
            {query.hasTimes ? "Hide times" : "Show times"}
          </a>
          <a class="button small" href={`${path}/logs${toQuery(query, { times: "" })}`}>
            Download the log
          </a>
        </>
      ) : undefined}
      {canChangeRuns(page) && isFinal(run.state) ? (
        <Form action={`${path}/rerun`} formToken={page.formToken}>
          <button type="submit" class="small">
            Run again
          </button>
        </Form>
      ) : undefined}
    </div>
  );
}

/** The log of an attempt: what a search finds, or its sections. */
async function logOf(shown: JobPage, task: ShownTask, query: LogQuery) {
  if (task.logDeletedAt !== null) return <p>The log has been deleted: it was too old.</p>;
  const path = jobPath(shown.page.repo, shown.run, shown.job);
  return (
    <>
      <form class="filters" action={path} role="search" aria-label="Log">
        {query.attempt === undefined ? undefined : (
          <input type="hidden" name="attempt" value={query.attempt} />
        )}
        <input
          type="search"
          name="q"
          value={query.text}
          aria-label="Search the log"
          placeholder="Search the log"
        />
        <button type="submit">Search</button>
        {query.text === "" ? undefined : <a href={`${path}${toQuery(query)}`}>All steps</a>}
      </form>
      {query.text === "" ? await sectionsOf(shown, task, query) : await foundOf(shown, task, query)}
    </>
  );
}

/** Rows that were read, from a row of the log on. */
interface ReadRows {
  readonly first: number;
  readonly rows: readonly StoredLogRow[];
}

/** The section whose rows are shown alone, since the log has too many for one page. */
function chooseSection(
  sections: readonly LogSection[],
  task: ShownTask,
  { step }: LogQuery,
): LogSection | undefined {
  if (step !== undefined) return sections.find(({ index }) => index === step);
  if (task.logRows <= ROWS_MAX) return undefined;
  const filled = sections.filter(({ rowCount }) => rowCount > 0);
  return (
    filled.find(({ state }) => state === "failure") ??
    filled.find(({ state }) => state === "running") ??
    filled.at(-1)
  );
}

async function sectionsOf({ page }: JobPage, task: ShownTask, query: LogQuery) {
  const sections = toSections(task);
  const chosen = chooseSection(sections, task, query);
  const range = chosen ? rangeOf(chosen, query) : { fromRow: 0, rowCount: task.logRows };
  const read: ReadRows = {
    first: range.fromRow,
    rows: await readLog(page.ctx, task, {
      ...range,
      rowCount: Math.min(range.rowCount, ROWS_MAX),
      bytesMax: BYTES_MAX,
    }),
  };
  const shown = await Promise.all(
    sections.map((section) =>
      sectionOf(section, read, query, {
        now: page.ctx.now,
        isOpen: section === chosen || section.state === "failure" || section.state === "running",
      }),
    ),
  );
  return <div class="log-steps">{shown}</div>;
}

/** The rows of a section that are shown: from `from` on, and the last ones of one that runs. */
function rangeOf({ firstRow, rowCount, state }: LogSection, { from }: LogQuery) {
  const usual = state === "running" ? Math.max(0, rowCount - ROWS_MAX) : 0;
  const start = Math.min(from ?? usual, rowCount);
  return { fromRow: firstRow + start, rowCount: rowCount - start };
}

async function sectionOf(
  section: LogSection,
  read: ReadRows,
  query: LogQuery,
  { now, isOpen }: { readonly now: number; readonly isOpen: boolean },
) {
  const { index, firstRow, rowCount } = section;
  const start = Math.max(firstRow, read.first);
  const end = Math.min(firstRow + rowCount, read.first + read.rows.length);
  const rows = start < end ? read.rows.slice(start - read.first, end - read.first) : [];
  // In the section, from 0.
  const [from, next] = rows.length > 0 ? [start - firstRow, end - firstRow] : [0, 0];
  const hrefOf = (row: number): string => toQuery(query, { step: index, from: row });
  return (
    <details
      class="log-step"
      open={isOpen}
      data-step={index}
      data-next={next === rowCount ? next : undefined}
      data-state={section.state}
    >
      <summary>
        <SectionSummary section={section} now={now} />
      </summary>
      {from > 0 ? (
        <p>
          <a href={hrefOf(Math.max(0, from - ROWS_MAX))}>{`Earlier rows, up to ${from}`}</a>
        </p>
      ) : undefined}
      <div
        class="scroll"
        tabindex={0}
        role="region"
        aria-label={`Log of ${section.name}`}
        hidden={rows.length === 0}
      >
        <div class="code log">
          {raw(
            await renderRows(rows, {
              section: index,
              number: from + 1,
              hasTimes: query.hasTimes,
            }),
          )}
        </div>
      </div>
      {next < rowCount ? (
        <p class="more">
          <a href={hrefOf(next)}>
            {next === 0
              ? `Show its ${rowCount} rows`
              : `More rows, from ${next + 1} of ${rowCount}`}
          </a>
        </p>
      ) : undefined}
      {rowCount === 0 ? <p class="soft">There is nothing in it.</p> : undefined}
    </details>
  );
}

function SectionSummary({ section, now }: { section: LogSection; now: number }) {
  return (
    <>
      <StateMark state={section.state} />
      <span class="grow">{section.name}</span> <span class="soft">{durationOf(section, now)}</span>
    </>
  );
}

/** The rows of a log that have a text, each with its address. */
async function foundOf({ page, ...shown }: JobPage, task: ShownTask, query: LogQuery) {
  const sections = toSections(task);
  const fromRow = query.from ?? 0;
  const rows = await readLog(page.ctx, task, {
    fromRow,
    rowCount: SEARCHED_MAX,
    bytesMax: SEARCHED_BYTES_MAX,
  });
  const words = query.text.toLowerCase();
  const matching = rows.flatMap(({ text, time }, at) =>
    text.toLowerCase().includes(words) ? [{ text, time, row: fromRow + at }] : [],
  );
  const found = matching.slice(0, FOUND_MAX);
  const last = matching.length > FOUND_MAX ? found.at(-1)?.row : undefined;
  const next = last === undefined ? fromRow + rows.length : last + 1;
  const path = jobPath(page.repo, shown.run, shown.job);
  const items = await Promise.all(
    found.map(async ({ row, ...stored }) => {
      const section = sections.findLast(
        ({ firstRow, rowCount }) => row >= firstRow && row < firstRow + rowCount,
      );
      if (!section) return undefined;
      const inSection = row - section.firstRow;
      const from = Math.floor(inSection / ROWS_MAX) * ROWS_MAX;
      const address = toQuery(query, { step: section.index, from });
      return (
        <li>
          <a href={`${path}${address}#${section.index}-${inSection + 1}`}>
            {`${section.name}, row ${inSection + 1}`}
          </a>
          <div class="scroll">
            <div class="code log">{stored.text.slice(0, 1000)}</div>
          </div>
        </li>
      );
    }),
  );
  return (
    <>
      <p>{found.length === 0 ? "No row has this text." : `Rows with this text: ${found.length}`}</p>
      <ol class="box found">{items}</ol>
      {next < task.logRows ? (
        <p>
          <a href={`${path}${toQuery(query, { q: query.text, from: next })}`}>
            {`Search on, from row ${next + 1} of ${task.logRows}`}
          </a>
        </p>
      ) : undefined}
    </>
  );
}

/** Sends the log of a job as a file; or with `step` some rows of a section, for the script. */
export async function answerLogs(c: Context<WebEnv>): Promise<Response> {
  const shown = await enterJob(c);
  const { page, run, job, task } = shown;
  if (!task || task.logDeletedAt !== null) throw notFound();
  const query = readLogQuery(c);
  if (query.step === undefined) {
    const name = `${run.file.replace(/\.ya?ml$/, "")}-${job.name}-${task.id}`;
    return answerLog(page.ctx, task, name, c.req.raw);
  }
  const sections = toSections(task);
  const asked = sections.find(({ index }) => index === query.step);
  if (!asked) throw notFound();
  const { fromRow, rowCount } = rangeOf(asked, query);
  const rows = await readLog(page.ctx, task, {
    fromRow,
    rowCount: Math.min(rowCount, ROWS_MAX),
    bytesMax: BYTES_MAX,
  });
  const start = fromRow - asked.firstRow;
  const { now } = page.ctx;
  c.header("Cache-Control", "no-store");
  return c.json({
    isDone: isFinal(task.state),
    state: await toHtml(<JobState shown={shown} />),
    html: await renderRows(rows, {
      section: asked.index,
      number: start + 1,
      hasTimes: query.hasTimes,
    }),
    next: start + rows.length,
    sections: await Promise.all(
      sections.map(async (section) => ({
        index: section.index,
        state: section.state,
        rowCount: section.rowCount,
        summary: await toHtml(<SectionSummary section={section} now={now} />),
      })),
    ),
  });
}

const toHtml = async (element: HtmlEscapedString | Promise<HtmlEscapedString>): Promise<string> =>
  String(await element);
