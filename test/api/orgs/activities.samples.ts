import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  orgListActivityFeeds: {
    request: async (world) => {
      await world.orgCode();
      return { path: await world.orgPath() };
    },
  },
  orgListTeamActivityFeeds: {
    request: async (world) => {
      await world.orgCode();
      return { path: { id: (await world.team()).id } };
    },
  },
});
