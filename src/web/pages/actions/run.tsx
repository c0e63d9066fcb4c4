import type { Context } from "hono";

import {
  approveRun,
  cancelRun,
  deleteRun,
  rerun,
} from "../../../domain/actions/runs/change-run.ts";
import { findRun } from "../../../domain/actions/runs/find-run.ts";
import { isFinal } from "../../../shapes/actions/work-status.ts";
import { readRun, type ShownJob, type ShownRun } from "../../../domain/actions/runs/read-run.ts";
import { notFound } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { sourcePath } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { ConfirmMenu } from "../confirm-menu.tsx";
import { readForm } from "../form.ts";
import { HelpLink } from "../help-link.tsx";
import { Form, Notice } from "../layout.tsx";
import { orRefuse, type Refusal } from "../or-refuse.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import type { EnteredRepository } from "../repository/enter.ts";
import { renderRepository } from "../repository/frame.tsx";
import { Artifacts } from "./artifacts.tsx";
import {
  actionsPath,
  canChangeRuns,
  enterActions,
  enterToChangeRuns,
  jobPath,
  readRunNumber,
  runPath,
} from "./enter.ts";
import { toJobColumns } from "./job-columns.ts";
import { Origin, Starter } from "./runs.tsx";
import { durationOf, STATE_WORDS, StateMark } from "./work-state.tsx";

const LIVE_SCRIPT = "run.ts";

/** Shows a run: what started it, why it can't run, its jobs by what they need. */
export async function showRun(c: Context<WebEnv>): Promise<Response> {
  const page = await enterActions(c);
  return sendRun(c, page, await readShown(c, page));
}

const readShown = (c: Context<WebEnv>, { ctx, repo }: EnteredRepository): Promise<ShownRun> =>
  readRun(ctx, repo.row, readRunNumber(c.req.param("run")));

async function sendRun(
  c: Context<WebEnv>,
  page: EnteredRepository,
  shown: ShownRun,
  refusal?: Refusal,
): Promise<Response> {
  const { ctx, repo } = page;
  const { run, actor, jobs } = shown;
  const duration = durationOf(run, ctx.now);
  return renderRepository(
    c,
    page,
    {
      tab: "actions",
      title: `${run.title} - ${run.name} #${run.number}`,
      status: refusal?.status ?? 200,
      ...(isFinal(run.state) ? {} : { scripts: [LIVE_SCRIPT], loadsParts: true }),
    },
    <>
      {refusal ? <Notice kind="error">{refusal.text}</Notice> : undefined}
      <div class="code-bar">
        <h2 class="grow">
          {run.title} <span class="soft">{`#${run.number}`}</span>
        </h2>
        {canChangeRuns(page) ? <RunTools page={page} shown={shown} /> : undefined}
      </div>
      <div id="run" data-live={isFinal(run.state) ? undefined : ""}>
        <p>
          <StateMark state={run.state} /> <strong>{STATE_WORDS[run.state]}</strong>
          {duration === "" ? undefined : ` ${isFinal(run.state) ? "in" : "for"} ${duration}`}
          {run.attempt > 1 ? `, attempt ${run.attempt}` : undefined}.{" "}
          <a href={`${actionsPath(repo)}?workflow=${encodeURIComponent(run.file)}`}>{run.name}</a>
          {": "}
          <Origin repo={repo} run={run} />
          <Starter run={run} actor={actor} /> <Ago at={run.createdAt} now={ctx.now} />
        </p>
        <Faults page={page} run={run} />
        <Hold repo={repo} shown={shown} />
        {jobs.length > 0 ? <JobGraph page={page} shown={shown} /> : undefined}
        <Artifacts page={page} shown={shown} />
      </div>
      <HelpLink document="actions" />
    </>,
  );
}

/** Why the workflow file can't be run, each with its line. */
function Faults({ page: { repo }, run }: { page: EnteredRepository; run: ShownRun["run"] }) {
  if (run.faults.length === 0) return <></>;
  const file = sourcePath(repo, "src", { kind: "commit", name: run.headOid }, run.path);
  return (
    <section class="box" aria-labelledby="faults">
      <h3 class="box-head" id="faults">
        This workflow can't be run
      </h3>
      <ul class="commits">
        {run.faults.map(({ message, line, column }) => (
          <li>
            <StateMark state="failure" />
            <span class="grow">{message}</span>
            <a href={line === undefined ? file : `${file}#L${line}`}>
              {run.path}
              {line === undefined ? undefined : `:${line}`}
              {column === undefined ? undefined : `:${column}`}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What the whole run waits for. */
function Hold({
  repo,
  shown: { run, holder },
}: {
  repo: EnteredRepository["repo"];
  shown: ShownRun;
}) {
  if (run.needsApproval) {
    return (
      <p class="notice">
        It waits for an approval, since its code comes from somebody who may not write here. Who may
        write reads the changes first, and approves it.
      </p>
    );
  }
  if (!holder) return <></>;
  return (
    <p class="notice">
      It waits for <a href={runPath(repo, holder)}>{`${holder.title} #${holder.number}`}</a>, which
      is of the same group: <code>{run.concurrencyGroup}</code>
    </p>
  );
}

/** The jobs in columns: each stands right of those that it needs. */
function JobGraph({ page, shown }: { page: EnteredRepository; shown: ShownRun }) {
  const { ctx, repo } = page;
  const { run, jobs } = shown;
  return (
    <section aria-labelledby="jobs">
      <h3 id="jobs">Jobs</h3>
      <div class="scroll" tabindex={0} role="region" aria-label="Jobs by what they need">
        <ol class="job-graph">
          {toJobColumns(jobs).map((column) => (
            <li>
              <ul class="box commits">
                {column.map((job) => (
                  <li>
                    <StateMark state={job.state} />
                    <div class="grow">
                      <a href={jobPath(repo, run, job)}>{job.name}</a>{" "}
                      <span class="soft">{durationOf(job, ctx.now)}</span>
                      {job.needs.length === 0 ? undefined : (
                        <div class="soft">{`Needs ${job.needs.join(", ")}`}</div>
                      )}
                      <Waiting job={job} shown={shown} />
                    </div>
                  </li>
                ))}
              </ul>
            </li>
          ))}
        </ol>
      </div>
    </section>
  );
}

/** What a job waits for, where that is not what it needs. */
function Waiting({ job, shown }: { job: ShownJob; shown: ShownRun }) {
  const reason = waitOf(job, shown);
  return reason === undefined ? <></> : <div class="soft">{reason}</div>;
}

function waitOf(job: ShownJob, { jobs, runnerLabels, run, holder }: ShownRun): string | undefined {
  if (job.state === "blocked") {
    if (run.needsApproval || holder) return undefined;
    const isReady = jobs.every((other) => !job.needs.includes(other.jobId) || isFinal(other.state));
    if (!isReady) return undefined;
    return job.concurrencyGroup === ""
      ? "Waits for others of its matrix"
      : `Waits for its group: ${job.concurrencyGroup}`;
  }
  if (job.state !== "waiting") return undefined;
  const labels = job.labels.map((label) => label.toLowerCase());
  const isServed = runnerLabels.some((own) => labels.every((label) => own.includes(label)));
  if (isServed) return "Waits for a runner that is free";
  if (runnerLabels.length === 0) return "No runner is online";
  return `No runner that is online has ${labels.length === 1 ? "the label" : "all labels"}: ${job.labels.join(", ")}`;
}

/** What writers do with a run. */
function RunTools({ page, shown: { run, jobs } }: { page: EnteredRepository; shown: ShownRun }) {
  const { repo, formToken } = page;
  const path = runPath(repo, run);
  const isDone = isFinal(run.state);
  const hasFailed = jobs.some(({ state }) => state === "failure" || state === "cancelled");
  const tools = [
    ...(run.needsApproval && !isDone ? [["approve", "Approve"]] : []),
    ...(isDone ? [] : [["cancel", "Cancel"]]),
    ...(isDone && jobs.length > 0 ? [["rerun", "Run all again"]] : []),
    ...(isDone && hasFailed ? [["rerun-failed", "Run failed again"]] : []),
  ] as const;
  return (
    <div class="toggles">
      {tools.map(([action, label]) => (
        <Form action={`${path}/${action ?? ""}`} formToken={formToken}>
          <button type="submit" class={action === "approve" ? "primary" : undefined}>
            {label}
          </button>
        </Form>
      ))}
      {isDone ? (
        <ConfirmMenu
          label="Delete"
          subject={`run ${run.number}`}
          action={`${path}/delete`}
          formToken={formToken}
          button={`Delete run ${run.number}`}
        >
          <p>Its jobs, their logs and its artifacts are deleted for good.</p>
        </ConfirmMenu>
      ) : undefined}
    </div>
  );
}

/** What the forms of a run do, by the last part of their path. */
const ACTIONS = {
  cancel: cancelRun,
  approve: approveRun,
  rerun: (...of) => rerun(...of, "all"),
  "rerun-failed": (...of) => rerun(...of, "failed"),
} as const satisfies Record<
  string,
  (
    ctx: EnteredRepository["ctx"],
    repo: EnteredRepository["repo"],
    run: Awaited<ReturnType<typeof findRun>>,
  ) => Promise<void>
>;

export const RUN_ACTIONS = [...Object.keys(ACTIONS), "delete"];

/** Does what a form of a run asks for; a refusal is shown with the run. */
export async function changeRun(c: Context<WebEnv>): Promise<Response> {
  const page = await enterToChangeRuns(c);
  await readForm(c);
  const { ctx, repo } = page;
  const run = await findRun(ctx, repo.row, { number: readRunNumber(c.req.param("run")) });
  return orRefuse(
    c,
    async () => {
      const action = c.req.param("action") ?? "";
      if (action === "delete") {
        await deleteRun(ctx, repo, run);
        return redirectAfterWrite(c, actionsPath(repo));
      }
      await ACTIONS[action as keyof typeof ACTIONS](ctx, repo, run);
      return redirectAfterWrite(c, runPath(repo, run));
    },
    async (refusal) => sendRun(c, page, await readShown(c, page), refusal),
  );
}

/** Runs a job again that has ended, and those that need it. */
export async function rerunJob(c: Context<WebEnv>): Promise<Response> {
  const page = await enterToChangeRuns(c);
  await readForm(c);
  const { ctx, repo } = page;
  const run = await findRun(ctx, repo.row, { number: readRunNumber(c.req.param("run")) });
  const shown = await readShown(c, page);
  const job = shown.jobs.find(({ position }) => position === readRunNumber(c.req.param("job")));
  if (!job) throw notFound();
  return orRefuse(
    c,
    async () => {
      await rerun(ctx, repo, run, { jobId: job.id });
      return redirectAfterWrite(c, runPath(repo, run));
    },
    (refusal) => sendRun(c, page, shown, refusal),
  );
}
