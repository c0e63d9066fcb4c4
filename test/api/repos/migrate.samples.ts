import { inject } from "vitest";

import { freshName } from "../../support/make.ts";
import { defineSamples, once } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoMigrate: {
    request: async (world) => ({
      json: {
        clone_addr: `${inject("remotes")[0]}/git/sample.git`,
        repo_name: freshName("moved"),
        repo_owner: (await world.org()).name,
        private: true,
      },
    }),
    announces: once("repository.created"),
  },
});
