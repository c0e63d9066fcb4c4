import { defineSamples, once, undoneBy } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const memberPath = async (world: World) => ({
  ...(await world.orgPath()),
  ...(await world.userPath()),
});
const publicMemberPath = async (world: World) => {
  await world.publicMembership();
  return memberPath(world);
};

export const samples = defineSamples({
  orgListMembers: {
    request: async (world) => {
      await world.friendInTeam();
      return { path: await world.orgPath() };
    },
    sameForBound: "memberships are in no repository",
  },
  orgListPublicMembers: {
    request: async (world) => {
      await world.publicMembership();
      return { path: await world.orgPath() };
    },
    sameForBound: "memberships are in no repository",
  },
  orgIsMember: {
    request: async (world) => ({ path: await memberPath(world) }),
    sameForBound: "memberships are in no repository",
  },
  orgDeleteMember: {
    request: async (world) => {
      await world.friendInTeam();
      return { path: { ...(await world.orgPath()), ...(await world.friendPath()) } };
    },
    announces: once("organization.member_removed"),
  },
  orgIsPublicMember: {
    request: async (world) => ({ path: await publicMemberPath(world) }),
    sameForBound: "memberships are in no repository",
  },
  orgPublicizeMember: {
    request: async (world) => ({ path: await memberPath(world) }),
    announces: undoneBy("orgConcealMember", "organization.member_visibility_changed"),
  },
  orgConcealMember: {
    request: async (world) => ({ path: await publicMemberPath(world) }),
    announces: once("organization.member_visibility_changed"),
  },
});
