import { defineSamples, once, undoneBy } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const teamPath = async (world: World) => ({ id: (await world.emptyTeam()).id });
const teamRepositoryPath = async (world: World) => ({
  ...(await teamPath(world)),
  ...(await world.orgPath()),
  repo: (await world.orgRepo()).name,
});

export const samples = defineSamples({
  orgListTeamRepos: {
    request: async (world) => {
      await world.repoInTeam();
      return { path: await teamPath(world) };
    },
  },
  orgListTeamRepo: {
    request: async (world) => {
      await world.repoInTeam();
      return { path: await teamRepositoryPath(world) };
    },
  },
  orgAddTeamRepository: {
    request: async (world) => ({ path: await teamRepositoryPath(world) }),
    announces: undoneBy("orgRemoveTeamRepository", "team.repository_added"),
  },
  orgRemoveTeamRepository: {
    request: async (world) => {
      await world.repoInTeam();
      return { path: await teamRepositoryPath(world) };
    },
    announces: once("team.repository_removed"),
  },
});
