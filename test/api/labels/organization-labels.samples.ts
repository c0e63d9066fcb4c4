import { defineSamples, eachTime, once } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const labelPath = async (world: World) => ({
  ...(await world.orgPath()),
  id: (await world.orgLabel()).id,
});

export const samples = defineSamples({
  orgListLabels: {
    request: async (world) => {
      await world.orgLabel();
      return { path: await world.orgPath() };
    },
    sameForBound: "labels of organizations are in no repository",
    variants: async () => [
      { query: { sort: "mostissues", page: "1" } },
      { query: { sort: "leastissues" } },
      { query: { sort: "reversealphabetically" } },
    ],
  },
  orgCreateLabel: {
    request: async (world) => ({
      path: await world.orgPath(),
      json: { name: "kind/bug", color: "#ee0701", exclusive: true },
    }),
    announces: eachTime("label.created"),
  },
  orgGetLabel: {
    request: async (world) => ({ path: await labelPath(world) }),
    sameForBound: "labels of organizations are in no repository",
    variants: async (world) => [
      { path: { ...(await labelPath(world)), id: (await world.orgLabel()).name } },
    ],
  },
  orgEditLabel: {
    request: async (world) => ({
      path: await labelPath(world),
      json: { name: "kind/defect", color: "abc", is_archived: true },
    }),
    announces: once("label.edited"),
  },
  orgDeleteLabel: {
    request: async (world) => ({ path: await labelPath(world) }),
    announces: once("label.deleted"),
  },
});
