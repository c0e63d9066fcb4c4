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
