import { defineSamples, NOTHING } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  ActionsListRepositoryWorkflows: {
    request: async (world) => {
      await world.workflowPath();
      return { path: await world.repoPath() };
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
    request: async (world) => ({
      path: { ...(await world.repoPath()), workflow_id: "ci.yml" },
      json: { ref: "main" },
    }),
    announces: NOTHING,
    refusal: { status: 404, reason: "the repository has no workflow file" },
  },
});
