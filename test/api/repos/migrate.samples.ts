import { freshName } from "../../support/make.ts";
import { makeRemote } from "../../support/remotes.ts";
import { defineSamples, once } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoMigrate: {
    request: async (world) => ({
      json: {
        clone_addr: (await makeRemote()).url(),
        repo_name: freshName("moved"),
        repo_owner: (await world.org()).name,
        private: true,
      },
    }),
    announces: once("repository.created", "migration.finished"),
    extraRound: "it looks at the migration again and again until its end, for some seconds at most",
    extraRounds: 30,
  },
});
