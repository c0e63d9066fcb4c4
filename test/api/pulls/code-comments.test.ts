import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { issues } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { History } from "../../support/commits.ts";
import { drawConsequences } from "../../support/consequences.ts";
import { db } from "../../support/db.ts";
import { make, type TestUser } from "../../support/make.ts";
import { makeCodeComment, makePull, makeReview } from "../../support/pulls.ts";
import { refsOf, storeRefs } from "../../support/push.ts";

const SUGGESTION = "Better:\n```suggestion\nTWO\nand a half\n```";

/** A pull request with a suggestion by a reader for the second line of its file. */
async function makeSuggested(
  body = SUGGESTION,
  fields: Parameters<typeof makeCodeComment>[2] = {},
) {
  const [owner, reader] = [await make.user(), await make.user()];
  const repo = await make.repo(owner);
  const history = new History();
  const base = history.commit({ files: { a: "a\n" } });
  const files = { a: "a\n", "src/f.txt": "one\ntwo\nthree\n" };
  const head = history.commit({ files, parents: [base] });
  const pull = await makePull(repo, {
    headOid: head,
    mergeBaseOid: base,
    checkedBaseOid: base,
    checkedHeadOid: head,
  });
  const refs = [
    { ref: "refs/heads/main", oid: base },
    { ref: "refs/heads/topic", oid: head },
    { ref: `refs/pull/${pull.number}/head`, oid: head },
  ];
  await storeRefs(repo, refs, history.build());
  const review = await makeReview(pull, { state: "comment", reviewerId: reader.id });
  const place = { path: "src/f.txt", line: 2, startLine: 2, ...fields };
  const comment = await makeCodeComment(pull, review, place, { body });
  const prefix = `/repos/${repo.owner}/${repo.name}`;
  const path = `${prefix}/pulls/${pull.number}/comments/${comment.id}/apply-suggestion`;
  const topic = async () =>
    (await refsOf(repo)).find(({ name }) => name === "refs/heads/topic")?.oid;
  return { owner, reader, repo, pull, head, comment, path, topic, base: prefix };
}

const apply = (path: string, as: TestUser | undefined, json: object = {}) =>
  call("POST", path, { ...(as && { as }), json });

describe("POST /repos/{owner}/{repo}/pulls/{index}/comments/{id}/apply-suggestion", () => {
  it("commits the suggestion to the head, with its author as a co-author", async () => {
    const { owner, reader, repo, pull, head, path, topic, base } = await makeSuggested();
    const { status, body } = await apply(path, owner);
    expect([status, body.branch]).toEqual([201, "topic"]);
    expect(await topic()).toBe(body.sha);
    const file = await call("GET", `${base}/contents/src/f.txt?ref=topic`, { as: owner });
    expect(atob(file.body.content)).toBe("one\nTWO\nand a half\nthree\n");
    const commit = await call("GET", `${base}/git/commits/${body.sha}`, { as: owner });
    expect(commit.body).toMatchObject({
      parents: [{ sha: head }],
      author: { login: owner.name },
      commit: {
        message: `Apply suggestion to src/f.txt\n\nCo-authored-by: ${reader.name} <${reader.email}>\n`,
      },
    });
    await drawConsequences();
    const found = await call("GET", `/repos/${repo.owner}/${repo.name}/pulls/${pull.number}`);
    expect(found.body).toMatchObject({ head: { sha: body.sha } });
    // Its line was changed by what it suggested.
    const again = await apply(path, owner);
    expect(again.status).toBe(409);
    expect(await topic()).toBe(body.sha);
  });

  it("refuses callers who may not write to the head, and changes nothing", async () => {
    const { reader, head, path, topic } = await makeSuggested();
    const answers = [
      await apply(path, reader),
      await apply(path, undefined),
      await apply(path.replace(/comments\/\d+/, "comments/99999999"), reader),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 401, 404]);
    expect(await topic()).toBe(head);
  });

  it.each([
    ["a comment that suggests nothing", "Better", {}, 422],
    ["a comment on the old side", SUGGESTION, { isOldSide: true }, 422],
    ["a comment on a file", SUGGESTION, { line: 0, startLine: 0 }, 422],
    ["an outdated comment", SUGGESTION, { isOutdated: true }, 409],
    ["a comment on another head", SUGGESTION, { commitOid: "1".repeat(40) }, 409],
    ["lines that are not there", SUGGESTION, { line: 9, startLine: 9 }, 409],
    ["a file that is not there", SUGGESTION, { path: "nowhere" }, 409],
    ["a suggestion that changes nothing", "```suggestion\ntwo\n```", {}, 409],
    ["a path that is none", SUGGESTION, { path: "../f" }, 422],
  ])("refuses %s, and changes nothing", async (_, body, fields, status) => {
    const { owner, head, path, topic } = await makeSuggested(body, fields);
    expect((await apply(path, owner)).status).toBe(status);
    expect(await topic()).toBe(head);
  });

  it("refuses for a closed pull request", async () => {
    const { owner, head, pull, path, topic } = await makeSuggested();
    await db.update(issues).set({ isClosed: true }).where(eq(issues.id, pull.id));
    expect((await apply(path, owner)).status).toBe(422);
    expect(await topic()).toBe(head);
  });
});

describe("comments on code", () => {
  it("are edited, reacted to and deleted as comments, by their author and writers", async () => {
    const { owner, reader, base, comment } = await makeSuggested();
    const stranger = await make.user();
    const path = `${base}/issues/comments/${comment.id}`;
    expect((await call("GET", path)).body).toMatchObject({ id: comment.id, body: SUGGESTION });
    expect((await call("PATCH", path, { as: stranger, json: { body: "x" } })).status).toBe(403);
    const edited = await call("PATCH", path, { as: reader, json: { body: "Never mind" } });
    expect(edited.body).toMatchObject({ body: "Never mind" });
    const reaction = { content: "heart" };
    const reacted = await call("POST", `${path}/reactions`, { as: stranger, json: reaction });
    expect(reacted.status).toBe(201);
    expect((await call("DELETE", path, { as: stranger })).status).toBe(403);
    expect((await call("DELETE", path, { as: owner })).status).toBe(204);
    expect((await call("GET", path)).status).toBe(404);
  });
});
