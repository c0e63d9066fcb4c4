import { defineSamples, eachTime, once } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const labelPath = async (world: World) => ({
  ...(await world.repoPath()),
  id: (await world.label()).id,
});

export const samples = defineSamples({
  issueListLabels: {
    request: async (world) => {
      await world.label();
      return { path: await world.repoPath() };
    },
    variants: async () => [
      { query: { sort: "mostissues", page: "1" } },
      { query: { sort: "leastissues" } },
      { query: { sort: "reversealphabetically" } },
    ],
  },
  issueCreateLabel: {
    request: async (world) => ({
      path: await world.repoPath(),
      json: { name: "kind/bug", color: "#ee0701", exclusive: true },
    }),
    announces: eachTime("label.created"),
  },
  issueGetLabel: {
    request: async (world) => ({ path: await labelPath(world) }),
    variants: async (world) => [
      { path: { ...(await labelPath(world)), id: (await world.label()).name } },
    ],
  },
  issueEditLabel: {
    request: async (world) => ({
      path: await labelPath(world),
      json: { name: "kind/defect", color: "abc", is_archived: true },
    }),
    announces: once("label.edited"),
  },
  issueDeleteLabel: {
    request: async (world) => ({ path: await labelPath(world) }),
    announces: once("label.deleted"),
  },
});
