import { eq } from "drizzle-orm";

import { workflowJobs, workflowRuns } from "../../../src/db/schema/index.ts";
import { db } from "../../support/db.ts";
import { defineSamples, NOTHING, type Sample } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const changed = {
  first: ["workflow_job.changed", "commit_status.created", "workflow_run.changed"],
} as const;
const inStep = { extraRound: "the run is brought in step with its jobs" } as const;
const acrossRepositories = {
  extraRound: "the repositories of a page are read after it",
} as const;

/** The run of a world before it begins. */
async function openRun(
  world: World,
  state: "blocked" | "waiting",
  fields: Partial<typeof workflowRuns.$inferInsert> = {},
) {
  const { run, job } = await world.workflowRun();
  const states = { state, reportedState: state, stoppedAt: null };
  await db
    .update(workflowRuns)
    .set({ ...states, ...fields })
    .where(eq(workflowRuns.id, run.id));
  await db.update(workflowJobs).set(states).where(eq(workflowJobs.id, job.id));
  return { path: await world.workflowRunPath() };
}

const onRun: Sample["request"] = async (world) => ({ path: await world.workflowRunPath() });
const onJob: Sample["request"] = async (world) => ({ path: await world.workflowJobPath() });
const inRepository: Sample["request"] = async (world) => {
  await world.workflowRun();
  return { path: await world.repoPath() };
};
const inOrganization: Sample["request"] = async (world) => ({ path: await world.orgPath() });
const own: Sample["request"] = async (world) => {
  await world.workflowRun();
  return { path: {} };
};
const asAdministrator: Sample["request"] = async (world) => {
  await world.workflowRun();
  return { as: await world.admin(), path: {}, query: { limit: "1" } };
};

export const samples = defineSamples({
  getWorkflowRuns: { request: inRepository },
  getOrgWorkflowRuns: { request: inOrganization, ...acrossRepositories },
  getUserWorkflowRuns: { request: own, ...acrossRepositories },
  listAdminWorkflowRuns: { request: asAdministrator, ...acrossRepositories },
  listWorkflowJobs: { request: inRepository },
  getOrgWorkflowJobs: { request: inOrganization, ...acrossRepositories },
  getUserWorkflowJobs: { request: own, ...acrossRepositories },
  listAdminWorkflowJobs: { request: asAdministrator, ...acrossRepositories },
  ListActionTasks: { request: inRepository },
  GetWorkflowRun: { request: onRun },
  listWorkflowRunJobs: { request: onRun },
  getWorkflowJob: { request: onJob },
  downloadActionsRunJobLogs: {
    request: onJob,
    refusal: { status: 404, reason: "no runner has the job" },
  },
  deleteActionRun: { request: onRun, announces: NOTHING },
  cancelWorkflowRun: {
    request: (world) => openRun(world, "waiting"),
    announces: changed,
    ...inStep,
    extraRounds: 3,
  },
  approveWorkflowRun: {
    request: (world) => openRun(world, "blocked", { needsApproval: true }),
    announces: changed,
    ...inStep,
    extraRounds: 3,
  },
  rerunWorkflowRun: { request: onRun, announces: changed, ...inStep, extraRounds: 4 },
  rerunFailedWorkflowRun: { request: onRun, announces: changed, ...inStep, extraRounds: 4 },
  rerunWorkflowJob: { request: onJob, announces: changed, ...inStep, extraRounds: 5 },
});
