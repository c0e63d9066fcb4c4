import { freshName } from "../../support/make.ts";
import { defineSamples, once } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  orgGetAll: {
    request: async (world) => {
      await world.org();
      return {};
    },
    sameForBound: "organizations are in no repository",
  },
  orgCreate: {
    request: async () => ({ json: { username: freshName("made"), visibility: "public" } }),
    // The creator's ownership is not recorded as a separate event.
    announces: once("organization.created"),
  },
  orgGet: {
    request: async (world) => ({ path: await world.orgPath() }),
    sameForBound: "organizations are in no repository",
  },
  orgListCurrentUserOrgs: {
    request: async (world) => {
      await world.org();
      return {};
    },
    sameForBound: "organizations are in no repository",
  },
  orgListUserOrgs: {
    request: async (world) => {
      await world.org();
      return { path: await world.userPath() };
    },
    sameForBound: "organizations are in no repository",
  },
});
