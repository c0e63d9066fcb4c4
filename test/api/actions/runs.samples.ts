import { eq } from "drizzle-orm";

import { workflowRuns } from "../../../src/db/schema/index.ts";
import { db } from "../../support/db.ts";
import { defineSamples, NOTHING, type Sample } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const changed = { first: ["workflow_job.changed", "workflow_run.changed"] } as const;

/** The run of a world once it waits for an approval, or for a runner. */
async function openRun(world: World, fields: Partial<typeof workflowRuns.$inferInsert>) {
  const { run } = await world.workflowRun();
  await db.update(workflowRuns).set(fields).where(eq(workflowRuns.id, run.id));
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
  getOrgWorkflowRuns: { request: inOrganization },
  getUserWorkflowRuns: { request: own },
  listAdminWorkflowRuns: { request: asAdministrator },
  listWorkflowJobs: { request: inRepository },
  getOrgWorkflowJobs: { request: inOrganization },
  getUserWorkflowJobs: { request: own },
  listAdminWorkflowJobs: { request: asAdministrator },
  ListActionTasks: { request: inRepository },
  GetWorkflowRun: { request: onRun },
  listWorkflowRunJobs: { request: onRun },
  getWorkflowJob: { request: onJob },
  downloadActionsRunJobLogs: {
    request: onJob,
    refusal: { status: 404, reason: "no runner has the job" },
  },
  deleteActionRun: { request: onRun, announces: NOTHING },
  cancelWorkflowRun: { request: onRun, announces: NOTHING },
  approveWorkflowRun: {
    request: (world) => openRun(world, { needsApproval: true }),
    announces: NOTHING,
  },
  rerunWorkflowRun: { request: onRun, announces: changed },
  rerunFailedWorkflowRun: { request: onRun, announces: changed },
  rerunWorkflowJob: { request: onJob, announces: changed },
});
