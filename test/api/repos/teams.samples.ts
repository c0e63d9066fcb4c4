import { defineSamples, once, undoneBy } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const repositoryTeamPath = async (world: World) => ({
  ...(await world.orgRepoPath()),
  team: (await world.emptyTeam()).name,
});

export const samples = defineSamples({
  repoListTeams: {
    request: async (world) => {
      await world.repoInTeam();
      return { path: await world.orgRepoPath() };
    },
  },
  repoCheckTeam: {
    request: async (world) => {
      await world.repoInTeam();
      return { path: await repositoryTeamPath(world) };
    },
  },
  repoAddTeam: {
    request: async (world) => ({ path: await repositoryTeamPath(world) }),
    announces: undoneBy("repoDeleteTeam", "team.repository_added"),
  },
  repoDeleteTeam: {
    request: async (world) => {
      await world.repoInTeam();
      return { path: await repositoryTeamPath(world) };
    },
    announces: once("team.repository_removed"),
  },
});
