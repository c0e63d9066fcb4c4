import { defineSamples, once, undoneBy } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const addedPath = async (world: World) => {
  await world.collaborator();
  return world.collaboratorPath();
};

const listPath = async (world: World) => {
  await world.collaborator();
  return world.repoPath();
};

export const samples = defineSamples({
  repoListCollaborators: { request: async (world) => ({ path: await listPath(world) }) },
  repoCheckCollaborator: { request: async (world) => ({ path: await addedPath(world) }) },
  repoAddCollaborator: {
    request: async (world) => ({ path: await world.collaboratorPath(), json: {} }),
    announces: undoneBy("repoDeleteCollaborator", "collaborator.added"),
  },
  repoDeleteCollaborator: {
    request: async (world) => ({ path: await addedPath(world) }),
    announces: once("collaborator.removed"),
  },
  repoGetRepoPermissions: { request: async (world) => ({ path: await addedPath(world) }) },
  repoGetAssignees: { request: async (world) => ({ path: await listPath(world) }) },
  repoGetReviewers: { request: async (world) => ({ path: await listPath(world) }) },
});
