import { defineSamples, once } from "../../support/samples/sample.ts";
import { makeCodeComment, makeReview } from "../../support/pulls.ts";
import type { World } from "../../support/samples/world.ts";

const commentPath = async (world: World, fields = {}) => {
  const pull = await world.pull();
  const review = await makeReview(pull, { state: "comment" });
  const { id } = await makeCodeComment(pull, review, fields);
  return { ...(await world.pullPath()), id };
};

export const samples = defineSamples({
  repoListPullComments: {
    request: async (world) => {
      await commentPath(world);
      return { path: await world.pullPath() };
    },
  },
  repoResolvePullConversation: {
    request: async (world) => ({ path: await commentPath(world) }),
    announces: once("conversation.resolved"),
  },
  repoApplyPullSuggestion: {
    request: async (world) => {
      const pull = await world.pull();
      const review = await makeReview(pull, { state: "comment" });
      const at = { path: "topic" };
      const text = { body: "```suggestion\nAnother topic\n```" };
      const { id } = await makeCodeComment(pull, review, at, text);
      return { path: { ...(await world.pullPath()), id }, json: {} };
    },
    announces: once("repository.pushed"),
  },
  repoReopenPullConversation: {
    request: async (world) => ({ path: await commentPath(world, { resolvedAt: 1000 }) }),
    announces: once("conversation.reopened"),
  },
});
