import { defineSamples, eachTime, once } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const listPath = async (world: World) => {
  await world.comment();
  return world.issuePath();
};

const bothPath = async (world: World) => ({
  ...(await world.issuePath()),
  ...(await world.commentPath()),
});

const range = { since: "1970-01-01T00:00:00Z", before: "2100-01-01T00:00:00Z" };
const edit = { body: "another text" };

export const samples = defineSamples({
  issueGetRepoComments: {
    request: async (world) => {
      await world.comment();
      return { path: await world.repoPath() };
    },
    variants: async () => [{ query: range }],
  },
  issueGetComment: { request: async (world) => ({ path: await world.commentPath() }) },
  issueGetComments: {
    request: async (world) => ({ path: await listPath(world) }),
    variants: async () => [{ query: range }, { query: { page: "1" } }],
  },
  issueCreateComment: {
    request: async (world) => ({ path: await world.issuePath(), json: { body: "a comment" } }),
    announces: eachTime("comment.created"),
  },
  issueEditComment: {
    request: async (world) => ({ path: await world.commentPath(), json: edit }),
    announces: once("comment.edited"),
  },
  issueEditCommentDeprecated: {
    request: async (world) => ({ path: await bothPath(world), json: edit }),
    announces: once("comment.edited"),
  },
  issueDeleteComment: {
    request: async (world) => ({ path: await world.commentPath() }),
    announces: once("comment.deleted"),
  },
  issueDeleteCommentDeprecated: {
    request: async (world) => ({ path: await bothPath(world) }),
    announces: once("comment.deleted"),
  },
});
