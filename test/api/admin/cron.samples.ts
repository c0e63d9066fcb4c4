import { defineSamples, NOTHING } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  adminCronList: { request: async (world) => ({ as: await world.admin() }) },
  adminCronRun: {
    request: async (world) => ({
      as: await world.admin(),
      path: { task: "cleanup_hook_task_table" },
    }),
    extraRound: "a task goes on until it finds nothing more",
    announces: NOTHING,
  },
});
