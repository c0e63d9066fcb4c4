import { asc, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  blocks,
  issues,
  reactions,
  repositories,
  type Issue,
} from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { makeComment, makeIssue } from "../../support/issues.ts";
import { make, type TestUser } from "../../support/make.ts";

/** An issue and a comment by others than the owner, with the paths of the reactions to both. */
async function makeSubjects(fields: Partial<Issue> = {}) {
  const [owner, writer, poster, commenter] = [
    await make.user(),
    await make.user(),
    await make.user(),
    await make.user(),
  ];
  const repo = await make.repo(owner);
  await make.collaborator(repo, writer, 2);
  const issue = await makeIssue(repo, { posterId: poster.id, ...fields });
  const comment = await makeComment(issue, { posterId: commenter.id });
  const base = `/repos/${repo.owner}/${repo.name}/issues`;
  const ofIssue = `${base}/${issue.number}/reactions`;
  const ofComment = `${base}/comments/${comment.id}/reactions`;
  return { owner, writer, poster, commenter, repo, issue, base, ofIssue, ofComment };
}

const stored = async ({ id }: Issue) =>
  db
    .select({ content: reactions.content, userId: reactions.userId, entryId: reactions.entryId })
    .from(reactions)
    .where(eq(reactions.issueId, id))
    .orderBy(asc(reactions.id));

const react = (path: string, as: TestUser, content: string) =>
  call("POST", path, { as, json: { content } });

describe.each(["ofIssue", "ofComment"] as const)("reactions (%s)", (subject) => {
  it("are added once, listed oldest first, and removed by their user", async () => {
    const { owner, writer, issue, [subject]: path } = await makeSubjects();
    const reader = await make.user();
    expect((await call("GET", path)).body).toEqual([]);
    expect(await react(path, reader, "heart")).toMatchObject({
      status: 201,
      body: { content: "heart", user: { login: reader.name } },
    });
    expect(await react(path, reader, "heart")).toMatchObject({ status: 200 });
    expect(await react(path, owner, "+1")).toMatchObject({ status: 201 });
    expect(await react(path, owner, "heart")).toMatchObject({ status: 201 });
    const all = await call("GET", path);
    expect(all.headers.get("X-Total-Count")).toBe("3");
    expect(all.body).toMatchObject([
      { content: "heart", user: { login: reader.name } },
      { content: "+1", user: { login: owner.name } },
      { content: "heart", user: { login: owner.name } },
    ]);
    expect((await call("GET", `${path}?page=2&limit=1`)).body).toMatchObject([{ content: "+1" }]);

    const remove = (as: TestUser, json: object) => call("DELETE", path, { as, json });
    expect(await remove(owner, { content: "heart" })).toMatchObject({ status: 200, body: "" });
    expect(await remove(writer, { content: "heart" })).toMatchObject({ status: 200 });
    expect(await remove(owner, { content: "tomato" })).toMatchObject({ status: 200 });
    expect(await remove(owner, {})).toMatchObject({ status: 200 });
    expect(await stored(issue)).toMatchObject([
      { content: "heart", userId: reader.id },
      { content: "+1", userId: owner.id },
    ]);
  });

  it.each([{ content: "tomato" }, { content: "" }, {}])(
    "refuses what is not allowed, and writes nothing: %o",
    async (json) => {
      const { owner, issue, [subject]: path } = await makeSubjects();
      expect(await call("POST", path, { as: owner, json })).toMatchObject({
        status: 403,
        body: { message: `'${json.content ?? ""}' is not an allowed reaction` },
      });
      expect(await call("POST", path, { json: { content: "heart" } })).toMatchObject({
        status: 401,
      });
      expect(await stored(issue)).toEqual([]);
    },
  );

  it("can't be changed on a locked issue by readers, and can by writers", async () => {
    const { writer, poster, issue, [subject]: path } = await makeSubjects();
    expect(await react(path, poster, "eyes")).toMatchObject({ status: 201 });
    await db.update(issues).set({ isLocked: true }).where(eq(issues.id, issue.id));
    const locked = { status: 403, body: { message: "no permission to change reaction" } };
    expect(await react(path, poster, "rocket")).toMatchObject(locked);
    const json = { content: "eyes" };
    expect(await call("DELETE", path, { as: poster, json })).toMatchObject(locked);
    expect(await stored(issue)).toMatchObject([{ content: "eyes" }]);
    expect(await react(path, writer, "rocket")).toMatchObject({ status: 201 });
  });

  it("can't be changed in an archived repository", async () => {
    const { owner, repo, issue, [subject]: path } = await makeSubjects();
    expect(await react(path, owner, "eyes")).toMatchObject({ status: 201 });
    await db.update(repositories).set({ archivedAt: 1000 }).where(eq(repositories.id, repo.id));
    expect(await react(path, owner, "heart")).toMatchObject({ status: 423 });
    const sending = { as: owner, json: { content: "eyes" } };
    expect(await call("DELETE", path, sending)).toMatchObject({ status: 423 });
    expect(await stored(issue)).toMatchObject([{ content: "eyes" }]);
  });

  it("are refused to who is blocked by the owner or the poster", async () => {
    const { owner, writer, poster, issue, [subject]: path } = await makeSubjects();
    const reader = await make.user();
    await db.insert(blocks).values([
      { blockerId: owner.id, blockedId: reader.id, createdAt: 1000 },
      { blockerId: poster.id, blockedId: writer.id, createdAt: 1000 },
    ]);
    for (const as of [reader, writer]) {
      expect(await react(path, as, "heart")).toMatchObject({
        status: 403,
        body: { message: "user is blocked" },
      });
    }
    expect(await stored(issue)).toEqual([]);
  });
});

it("reactions to a comment are refused to who is blocked by its author", async () => {
  const { commenter, issue, ofIssue, ofComment } = await makeSubjects();
  const reader = await make.user();
  await db.insert(blocks).values({
    blockerId: commenter.id,
    blockedId: reader.id,
    createdAt: 1000,
  });
  expect(await react(ofComment, reader, "heart")).toMatchObject({ status: 403 });
  expect(await stored(issue)).toEqual([]);
  expect(await react(ofIssue, reader, "heart")).toMatchObject({ status: 201 });
});

it("reactions to an issue and to its comments are apart", async () => {
  const { owner, ofIssue, ofComment } = await makeSubjects();
  expect(await react(ofIssue, owner, "heart")).toMatchObject({ status: 201 });
  expect((await call("GET", ofComment)).body).toEqual([]);
  expect(await react(ofComment, owner, "heart")).toMatchObject({ status: 201 });
  await call("DELETE", ofIssue, { as: owner, json: { content: "heart" } });
  expect((await call("GET", ofIssue)).body).toEqual([]);
  expect((await call("GET", ofComment)).body).toMatchObject([{ content: "heart" }]);
});

// SECURITY: an id names nothing outside of the repository of the path, and nothing of a hidden one.
it("reactions are found only with what the caller may see", async () => {
  const { owner, base, issue } = await makeSubjects();
  const hidden = await make.repo(owner, { isPrivate: true });
  const secret = await makeIssue(hidden);
  const foreign = await makeComment(secret);
  const event = await makeComment(issue, { kind: "close", body: "" });
  const stranger = await make.user();
  const paths = [
    `${base}/99/reactions`,
    `${base}/comments/${foreign.id}/reactions`,
    `${base}/comments/${event.id}/reactions`,
    `/repos/${hidden.owner}/${hidden.name}/issues/${secret.number}/reactions`,
    `/repos/${hidden.owner}/${hidden.name}/issues/comments/${foreign.id}/reactions`,
  ];
  for (const path of paths) {
    expect(await call("GET", path, { as: stranger }), path).toMatchObject({ status: 404 });
    expect(await react(path, stranger, "heart"), path).toMatchObject({ status: 404 });
    const sending = { as: stranger, json: { content: "heart" } };
    expect(await call("DELETE", path, sending), path).toMatchObject({ status: 404 });
  }
  expect(await call("GET", paths[4] ?? "", { as: owner })).toMatchObject({ status: 200 });
  expect([...(await stored(secret)), ...(await stored(issue))]).toEqual([]);
});
