import { freshName } from "../../support/make.ts";
import { defineSamples, once, undoneBy } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const teamPath = async (world: World) => ({ id: (await world.team()).id });
const teamMemberPath = async (world: World) => {
  await world.friendInTeam();
  return { ...(await teamPath(world)), ...(await world.friendPath()) };
};

export const samples = defineSamples({
  orgListTeams: {
    request: async (world) => {
      await world.team();
      return { path: await world.orgPath() };
    },
    sameForBound: "teams are in no repository",
  },
  orgCreateTeam: {
    request: async (world) => ({
      path: await world.orgPath(),
      json: { name: freshName("team"), permission: "read", units: ["repo.code"] },
    }),
    announces: once("team.created"),
  },
  teamSearch: {
    request: async (world) => {
      await world.team();
      return { path: await world.orgPath() };
    },
    variants: async () => [{ query: { q: "team" } }],
    sameForBound: "teams are in no repository",
  },
  userListTeams: {
    request: async (world) => {
      await world.team();
      return {};
    },
    sameForBound: "teams are in no repository",
  },
  orgEditTeam: {
    request: async (world) => ({
      path: await teamPath(world),
      json: { name: freshName("team"), permission: "write", units: ["repo.code"] },
    }),
    announces: once("team.edited"),
  },
  orgDeleteTeam: {
    request: async (world) => ({ path: await teamPath(world) }),
    announces: once("team.deleted"),
  },
  orgGetTeam: {
    request: async (world) => ({ path: await teamPath(world) }),
    sameForBound: "teams are in no repository",
  },
  orgListTeamMembers: {
    request: async (world) => {
      await world.friendInTeam();
      return { path: await teamPath(world) };
    },
    sameForBound: "teams are in no repository",
  },
  orgListTeamMember: {
    request: async (world) => ({ path: await teamMemberPath(world) }),
    sameForBound: "teams are in no repository",
  },
  orgAddTeamMember: {
    request: async (world) => ({
      path: { ...(await teamPath(world)), ...(await world.friendPath()) },
    }),
    announces: undoneBy("orgRemoveTeamMember", "organization.member_added"),
  },
  orgRemoveTeamMember: {
    request: async (world) => ({ path: await teamMemberPath(world) }),
    announces: once("organization.member_removed"),
  },
});
