import { freshName } from "../../support/make.ts";
import { defineSamples, once, undoneBy } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  repoListTopics: {
    request: async (world) => {
      await world.topic();
      return { path: await world.repoPath() };
    },
  },
  repoUpdateTopics: {
    request: async (world) => ({
      path: await world.repoPath(),
      json: { topics: [freshName("made").toLowerCase()] },
    }),
    announces: once("repository.topics_changed"),
  },
  repoAddTopic: {
    request: async (world) => ({
      path: { ...(await world.repoPath()), topic: freshName("made").toLowerCase() },
    }),
    announces: undoneBy("repoDeleteTopic", "repository.topics_changed"),
  },
  repoDeleteTopic: {
    request: async (world) => ({
      path: { ...(await world.repoPath()), topic: await world.topic() },
    }),
    announces: once("repository.topics_changed"),
  },
  topicSearch: {
    request: async (world) => ({ query: { q: await world.topic() } }),
    variants: async () => [{ query: {} }, { query: { q: "pl" } }],
    sameForPublicOnly: "topics are found by their public repositories alone",
    sameForBound: "topics are found by their public repositories alone",
  },
});
