import { z } from "@hono/zod-openapi";

import { invalid } from "../../lib/failure.ts";
import type { WorkflowJobPage } from "../../shapes/actions/workflow-job.ts";
import type { WorkflowRun, WorkflowRunPage } from "../../shapes/actions/workflow-run.ts";
import { answerList } from "../answer.ts";
import { at } from "../call.ts";
import { cursor, nextPage, number, offsetOf, pageQuery, repository, splitName } from "./fields.ts";
import { tool } from "./tool.ts";

/** Bytes of a log in an answer. */
const LOG_BYTES = 30_000;

type Run = z.infer<typeof WorkflowRun>;

const stateOf = ({ status, conclusion }: Pick<Run, "status" | "conclusion">): string =>
  status === "completed" ? conclusion : status;

export const actionTools = [
  tool({
    name: "list_workflow_runs",
    description: "List the runs of workflows, latest first.",
    effect: "read",
    scopes: ["read:repository"],
    input: z.object({
      repository,
      branch: z.string().max(1000).optional(),
      sha: z.string().max(64).optional(),
      cursor,
    }),
    async run({ api }, { repository: fullName, branch, sha, cursor: from }) {
      const { owner, name } = splitName(fullName);
      const page = await api.get<z.infer<typeof WorkflowRunPage>>(
        at`/repos/${owner}/${name}/actions/runs`,
        { branch, head_sha: sha, ...pageQuery(from) },
      );
      return answerList({
        noun: "runs",
        rows: page.body.workflow_runs,
        total: page.body.total_count,
        cursor: nextPage(from, page),
        line: (run) =>
          `${run.id} ${stateOf(run)} ${run.path} ${run.event} ${run.head_branch} ${run.head_sha.slice(0, 10)}: ${run.display_title}`,
        item: (run) => ({ id: run.id, state: stateOf(run), url: run.html_url }),
      });
    },
  }),
  tool({
    name: "get_workflow_run",
    description: "Show the jobs of a run with their steps.",
    effect: "read",
    scopes: ["read:repository"],
    input: z.object({ repository, run: number, cursor }),
    async run({ api }, { repository: fullName, run, cursor: from }) {
      const { owner, name } = splitName(fullName);
      const page = await api.get<z.infer<typeof WorkflowJobPage>>(
        at`/repos/${owner}/${name}/actions/runs/${run}/jobs`,
        pageQuery(from),
      );
      return answerList({
        noun: "jobs",
        rows: page.body.jobs,
        total: page.body.total_count,
        cursor: nextPage(from, page),
        line: (job) =>
          [
            `${job.id} ${stateOf(job)} ${job.name}`,
            ...job.steps.map((step) => `  ${stateOf(step)} ${step.name}`),
          ].join("\n"),
        item: (job) => ({ id: job.id, state: stateOf(job), url: job.html_url }),
      });
    },
  }),
  tool({
    name: "get_job_log",
    description: "Read the end of a job's log; a cursor reads what is before.",
    effect: "read",
    scopes: ["read:repository"],
    input: z.object({ repository, job: number, cursor }),
    async run({ api }, { repository: fullName, job, cursor: before }) {
      const { owner, name } = splitName(fullName);
      const end = before === undefined ? undefined : offsetOf(before);
      if (end === 0) throw invalid("[cursor]: must be that of an answer");
      const range =
        end === undefined
          ? `bytes=-${LOG_BYTES}`
          : `bytes=${Math.max(0, end - LOG_BYTES)}-${end - 1}`;
      const response = await api.file(
        at`/repos/${owner}/${name}/actions/jobs/${job}/logs`,
        {},
        range,
      );
      const part = /^bytes (\d+)-/.exec(response.headers.get("content-range") ?? "");
      const start = Number(part?.[1] ?? 0);
      const text = await response.text();
      return {
        summary: `The log of job ${job}, ${before === undefined ? "its end" : `before byte ${before}`}.`,
        data: [{ label: "log", text }],
        structured: { job, cursor: start > 0 ? String(start) : undefined },
        next: start > 0 ? `For what is before, call again with cursor "${start}".` : undefined,
      };
    },
  }),
  tool({
    name: "rerun_workflow",
    description: "Run the failed jobs of a run again, or all of them.",
    effect: "write",
    scopes: ["write:repository"],
    input: z.object({ repository, run: number, all: z.boolean().optional() }),
    async run({ api }, { repository: fullName, run, all = false }) {
      const { owner, name } = splitName(fullName);
      await api.post(
        all
          ? at`/repos/${owner}/${name}/actions/runs/${run}/rerun`
          : at`/repos/${owner}/${name}/actions/runs/${run}/rerun-failed-jobs`,
        {},
      );
      return { summary: `Run ${run} runs again.`, structured: { run } };
    },
  }),
];
