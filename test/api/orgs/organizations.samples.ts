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
  adminGetAllOrgs: {
    request: async (world) => {
      await world.org();
      return { as: await world.admin() };
    },
  },
  adminCreateOrg: {
    request: async (world) => ({
      as: await world.admin(),
      path: await world.friendPath(),
      json: { username: freshName("made") },
    }),
    announces: once("organization.created"),
  },
  orgEdit: {
    request: async (world) => ({
      path: await world.orgPath(),
      json: { full_name: "Analytical Society", location: freshName("London") },
    }),
    announces: once("organization.edited"),
  },
  renameOrg: {
    request: async (world) => ({
      path: await world.orgPath(),
      json: { new_name: freshName("renamed") },
    }),
    announces: once("organization.renamed"),
  },
  orgDelete: {
    request: async (world) => ({ path: await world.orgPath() }),
    announces: once("organization.deleted"),
  },
  orgGetUserPermissions: {
    request: async (world) => ({
      path: { ...(await world.userPath()), ...(await world.orgPath()) },
    }),
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
