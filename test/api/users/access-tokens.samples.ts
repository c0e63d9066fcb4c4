import { freshName } from "../../support/make.ts";
import { defineSamples, once } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  userGetTokens: { request: async (world) => ({ path: await world.userPath() }) },
  userCreateToken: {
    request: async (world) => {
      const { owner, repo } = await world.repoPath();
      return {
        path: { username: owner },
        json: {
          name: freshName("made"),
          scopes: ["all"],
          repositories: [`${owner}/${repo}`],
          refs: ["refs/heads/*"],
          paths: ["docs/**"],
          packages: [`${owner}/npm/*`],
        },
      };
    },
    announces: once("access_token.created"),
  },
  userDeleteAccessToken: {
    request: async (world) => ({
      path: { ...(await world.userPath()), token: await world.accessToken() },
    }),
    announces: once("access_token.deleted"),
  },
});
