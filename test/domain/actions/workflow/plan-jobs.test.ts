import { describe, expect, it } from "vitest";

import type { Contexts } from "../../../../src/domain/actions/workflow/expressions.ts";
import {
  planJobs,
  type PlannedJob,
  type PlannedJobs,
} from "../../../../src/domain/actions/workflow/plan-jobs.ts";
import { readWorkflow } from "../../../../src/domain/actions/workflow/read-workflow.ts";

const CONTEXTS: Contexts = {
  github: { ref: "refs/heads/main", event: { number: 7 } },
  vars: { VERSIONS: "[18, 20]", POOL: "Large", EMPTY: "[]" },
  inputs: { target: "staging", dry: true },
};

/** Plans a file of jobs. */
async function plan(jobs: string, top = "on: push", contexts = CONTEXTS): Promise<PlannedJobs> {
  const read = await readWorkflow(".gitea/workflows/ci.yml", `${top}\njobs:\n${jobs}`);
  if (read.kind === "faulty") return { faults: read.faults };
  return planJobs(read.workflow, contexts);
}

async function planned(jobs: string, top?: string): Promise<readonly PlannedJob[]> {
  const result = await plan(jobs, top);
  if ("faults" in result) throw new Error(JSON.stringify(result.faults));
  return result.jobs;
}

describe("a job", () => {
  it("has what the file says, and defaults for the rest", async () => {
    const jobs = await planned(
      "  build:\n    runs-on: Ubuntu-Latest\n    steps: [{ run: make }]\n",
    );
    expect(jobs).toEqual([
      {
        jobId: "build",
        name: "build",
        needs: [],
        hasCondition: false,
        labels: ["ubuntu-latest"],
        payload:
          "on: push\njobs:\n  build:\n    name: build\n    runs-on: Ubuntu-Latest\n" +
          "    steps:\n      -\n        run: make\n",
        continuesOnError: false,
        timeoutMinutes: 360,
        permissions: {
          actions: "write",
          contents: "write",
          issues: "write",
          packages: "write",
          "pull-requests": "write",
          statuses: "write",
        },
        failsFast: true,
        maxParallel: null,
      },
    ]);
  });
});
