import { makeAttachment } from "../../support/issues.ts";
import { defineSamples, eachTime, once } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const ofIssue = async (world: World) => {
  const { id: attachment_id } = await makeAttachment(await world.issue());
  return { ...(await world.issuePath()), attachment_id };
};

const ofComment = async (world: World) => {
  const { id: entryId } = await world.comment();
  const { id: attachment_id } = await makeAttachment(await world.issue(), { entryId });
  return { ...(await world.commentPath()), attachment_id };
};

const form = () => {
  const body = new FormData();
  body.append("attachment", new File(["hello"], "a.txt"));
  return body;
};

const json = { name: "b.txt" };
const extraRound = "the file is noted before its first byte is stored";

export const samples = defineSamples({
  issueListIssueAttachments: { request: async (world) => ({ path: await ofIssue(world) }) },
  issueGetIssueAttachment: { request: async (world) => ({ path: await ofIssue(world) }) },
  issueCreateIssueAttachment: {
    request: async (world) => ({ path: await world.issuePath(), body: form() }),
    announces: eachTime("issue.edited"),
    extraRound,
  },
  issueEditIssueAttachment: {
    request: async (world) => ({ path: await ofIssue(world), json }),
    announces: once("issue.edited"),
  },
  issueDeleteIssueAttachment: {
    request: async (world) => ({ path: await ofIssue(world) }),
    announces: once("issue.edited"),
  },
  issueListIssueCommentAttachments: {
    request: async (world) => ({ path: await ofComment(world) }),
  },
  issueGetIssueCommentAttachment: {
    request: async (world) => ({ path: await ofComment(world) }),
  },
  issueCreateIssueCommentAttachment: {
    request: async (world) => ({ path: await world.commentPath(), body: form() }),
    announces: eachTime("comment.edited"),
    extraRound,
  },
  issueEditIssueCommentAttachment: {
    request: async (world) => ({ path: await ofComment(world), json }),
    announces: once("comment.edited"),
  },
  issueDeleteIssueCommentAttachment: {
    request: async (world) => ({ path: await ofComment(world) }),
    announces: once("comment.edited"),
  },
});
