import { defineSamples, NOTHING } from "../../support/samples/sample.ts";

/** Each time makes a run of its own. */
const STARTED = {
  first: ["workflow_job.changed", "workflow_run.changed"],
  again: ["workflow_job.changed", "workflow_run.changed"],
} as const;

export const samples = defineSamples({
  ActionsListRepositoryWorkflows: {
    request: async (world) => {
      const { owner, repo } = await world.workflowPath();
      return { path: { owner, repo } };
    },
  },
  ActionsGetWorkflow: { request: async (world) => ({ path: await world.workflowPath() }) },
  ActionsDisableWorkflow: {
    request: async (world) => ({ path: await world.workflowPath() }),
    announces: NOTHING,
  },
  ActionsEnableWorkflow: {
    request: async (world) => ({ path: await world.workflowPath() }),
    announces: NOTHING,
  },
  ActionsDispatchWorkflow: {
    request: async (world) => ({ path: await world.workflowPath(), json: { ref: "main" } }),
    announces: STARTED,
    extraRound: "the run is brought in step with its jobs",
    extraRounds: 8,
  },
});
