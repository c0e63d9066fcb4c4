import { asc, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  blocks,
  commentCounts,
  contentVersions,
  issues,
  repositories,
  timelineEntries,
  type Issue,
} from "../../../src/db/schema/index.ts";
import { only } from "../../../src/lib/only.ts";
import { makeRandom } from "../../git/support/random.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsOf, typesOf } from "../../support/events.ts";
import { makeComment, makeIssue } from "../../support/issues.ts";
import { make, type TestRepo } from "../../support/make.ts";

const pathOf = ({ owner, name }: TestRepo, rest: string) =>
  `/repos/${owner}/${name}/issues/${rest}`;

/** A repository with an issue by a reader, a writer, and a stranger. */
async function makeDiscussion(fields: Partial<Issue> = {}) {
  const [owner, poster, writer, stranger] = [
    await make.user(),
    await make.user(),
    await make.user(),
    await make.user(),
  ];
  const repo = await make.repo(owner);
  await make.collaborator(repo, writer, 2);
  const issue = await makeIssue(repo, { posterId: poster.id, ...fields });
  const list = pathOf(repo, `${issue.number}/comments`);
  return { owner, poster, writer, stranger, repo, issue, list };
}

const entriesOf = ({ id }: Issue) =>
  db
    .select()
    .from(timelineEntries)
    .where(eq(timelineEntries.issueId, id))
    .orderBy(asc(timelineEntries.id));

const issueRow = async ({ id }: Issue) =>
  only(await db.select().from(issues).where(eq(issues.id, id)));

describe("POST /repos/{owner}/{repo}/issues/{index}/comments", () => {
  it("stores the comment of a reader, counts it, and announces it", async () => {
    const { stranger, repo, issue, list } = await makeDiscussion();
    const answer = await call("POST", list, { as: stranger, json: { Body: "Same here" } });
    expect(answer).toMatchObject({
      status: 201,
      body: {
        body: "Same here",
        user: { login: stranger.name },
        html_url: `https://forge.example/${repo.owner}/${repo.name}/issues/${issue.number}#issuecomment-${answer.body.id}`,
        issue_url: `https://forge.example/${repo.owner}/${repo.name}/issues/${issue.number}`,
        pull_request_url: "",
        assets: [],
      },
    });
    expect(await entriesOf(issue)).toMatchObject([
      { id: answer.body.id, kind: "comment", body: "Same here", posterId: stranger.id },
    ]);
    const { commentCount, updatedAt } = await issueRow(issue);
    expect(commentCount).toBe(1);
    expect(updatedAt).toBeGreaterThan(issue.updatedAt);
    expect(await eventsOf(repo)).toMatchObject([
      {
        type: "comment.created",
        payload: { issueId: issue.id, number: issue.number, commentId: answer.body.id },
      },
    ]);
  });

  it("names the pull request of a comment", async () => {
    const { writer, repo, issue, list } = await makeDiscussion({ isPull: true });
    const { body } = await call("POST", list, { as: writer, json: { body: "fine" } });
    expect(body).toMatchObject({
      issue_url: "",
      pull_request_url: `https://forge.example/${repo.owner}/${repo.name}/pulls/${issue.number}`,
    });
  });

  it.each([{}, { body: "" }, { body: 5 }, { body: "x".repeat(262_145) }])(
    "refuses an invalid body, and writes nothing: %o",
    async (json) => {
      const { poster, repo, issue, list } = await makeDiscussion();
      expect(await call("POST", list, { as: poster, json })).toMatchObject({ status: 422 });
      expect(await entriesOf(issue)).toEqual([]);
      expect(await eventsOf(repo)).toEqual([]);
    },
  );

  // A lock silences readers only, the poster of the issue included; who can write still answers.
  it("refuses readers on a locked issue, and accepts writers", async () => {
    const { stranger, poster, writer, issue, repo, list } = await makeDiscussion({
      isLocked: true,
    });
    for (const as of [stranger, poster]) {
      expect(await call("POST", list, { as, json: { body: "but" } })).toMatchObject({
        status: 403,
        body: { message: "You cannot comment on a locked issue." },
      });
    }
    expect(await entriesOf(issue)).toEqual([]);
    expect(await eventsOf(repo)).toEqual([]);
    expect(await call("POST", list, { as: writer, json: { body: "settled" } })).toMatchObject({
      status: 201,
    });
  });

  it("refuses who is blocked by the owner or the poster, and writes nothing", async () => {
    const { owner, poster, writer, stranger, repo, issue, list } = await makeDiscussion();
    await db.insert(blocks).values([
      { blockerId: owner.id, blockedId: stranger.id, createdAt: 1000 },
      { blockerId: poster.id, blockedId: writer.id, createdAt: 1000 },
      { blockerId: poster.id, blockedId: owner.id, createdAt: 1000 },
    ]);
    for (const as of [stranger, writer]) {
      expect(await call("POST", list, { as, json: { body: "hello" } })).toMatchObject({
        status: 403,
        body: { message: "user is blocked" },
      });
    }
    expect(await entriesOf(issue)).toEqual([]);
    expect(await eventsOf(repo)).toEqual([]);
    expect((await issueRow(issue)).updatedAt).toBe(issue.updatedAt);
    // Nobody keeps the owner out of their own repository.
    expect(await call("POST", list, { as: owner, json: { body: "x" } })).toMatchObject({
      status: 201,
    });
  });

  it("refuses archived repositories, disabled units, anonymous callers, and missing issues", async () => {
    const { owner, poster, repo, issue, list } = await makeDiscussion();
    const json = { body: "x" };
    expect(await call("POST", list, { json })).toMatchObject({ status: 401 });
    const missing = pathOf(repo, `${issue.number + 1}/comments`);
    expect(await call("POST", missing, { as: poster, json })).toMatchObject({ status: 404 });
    await db.update(repositories).set({ hasIssues: false }).where(eq(repositories.id, repo.id));
    expect(await call("POST", list, { as: poster, json })).toMatchObject({ status: 404 });
    expect(await call("POST", list, { as: owner, json })).toMatchObject({ status: 403 });
    await db.update(repositories).set({ archivedAt: 1000 }).where(eq(repositories.id, repo.id));
    expect(await call("POST", list, { as: owner, json })).toMatchObject({ status: 423 });
    expect(await entriesOf(issue)).toEqual([]);
  });
});

describe("PATCH /repos/{owner}/{repo}/issues/comments/{id}", () => {
  it("lets the poster and writers change the text, and keeps every version", async () => {
    const { poster, writer, stranger, repo, issue } = await makeDiscussion();
    const comment = await makeComment(issue, { posterId: stranger.id, body: "one" });
    const path = pathOf(repo, `comments/${comment.id}`);
    const edit = (as: typeof poster, body: string) => call("PATCH", path, { as, json: { body } });

    expect(await edit(poster, "not mine")).toMatchObject({ status: 403 });
    expect(await eventsOf(repo)).toEqual([]);
    expect(await db.select().from(contentVersions).where(isOf(issue))).toEqual([]);

    expect(await edit(stranger, "two")).toMatchObject({
      status: 200,
      body: { id: comment.id, body: "two", user: { login: stranger.name } },
    });
    expect(await edit(writer, "three")).toMatchObject({ status: 200, body: { body: "three" } });
    // The same text is no edit.
    expect(await edit(stranger, "three")).toMatchObject({ status: 200 });

    expect(await entriesOf(issue)).toMatchObject([{ body: "three", contentVersion: 2 }]);
    expect(await eventsOf(repo)).toMatchObject([
      { type: "comment.edited", payload: { commentId: comment.id, from: "one" } },
      { type: "comment.edited", payload: { commentId: comment.id, from: "two" } },
    ]);
    const history = await call("GET", `${path}/history`, { as: poster });
    expect(history.headers.get("X-Total-Count")).toBe("3");
    expect(history.body).toMatchObject([
      { body: "one", editor: { login: stranger.name }, created_at: "1970-01-01T00:00:01Z" },
      { body: "two", editor: { login: stranger.name } },
      { body: "three", editor: { login: writer.name } },
    ]);
    const second = await call("GET", `${path}/history?page=2&limit=1`, { as: poster });
    expect(second.body).toMatchObject([{ body: "two" }]);
  });

  it("refuses a blocked poster, an archived repository and an empty text", async () => {
    const { owner, stranger, repo, issue } = await makeDiscussion();
    const comment = await makeComment(issue, { posterId: stranger.id, body: "one" });
    const path = pathOf(repo, `comments/${comment.id}`);
    expect(await call("PATCH", path, { as: stranger, json: { body: "" } })).toMatchObject({
      status: 422,
    });
    await db
      .insert(blocks)
      .values({ blockerId: owner.id, blockedId: stranger.id, createdAt: 1000 });
    const json = { body: "two" };
    expect(await call("PATCH", path, { as: stranger, json })).toMatchObject({ status: 403 });
    await db.update(repositories).set({ archivedAt: 1000 }).where(eq(repositories.id, repo.id));
    expect(await call("PATCH", path, { as: owner, json })).toMatchObject({ status: 423 });
    expect(await call("DELETE", path, { as: owner })).toMatchObject({ status: 423 });
    expect(await entriesOf(issue)).toMatchObject([{ body: "one" }]);
    expect(await eventsOf(repo)).toEqual([]);
    expect(await db.select().from(contentVersions).where(isOf(issue))).toEqual([]);
  });

  // SECURITY: an id of the path names nothing outside of the repository, or of the issue, that the
  // path names.
  it("finds no comment of another repository or issue, and no other entry", async () => {
    const { owner, writer, repo, issue } = await makeDiscussion();
    const other = await make.repo(owner);
    const foreign = await makeComment(await makeIssue(other));
    const own = await makeComment(issue);
    const second = await makeIssue(repo);
    const event = await makeComment(issue, { kind: "close", body: "" });
    const json = { body: "taken over" };
    for (const rest of [
      `comments/${foreign.id}`,
      `comments/${event.id}`,
      `${second.number}/comments/${own.id}`,
    ]) {
      const path = pathOf(repo, rest);
      expect(await call("PATCH", path, { as: writer, json })).toMatchObject({ status: 404 });
      expect(await call("DELETE", path, { as: writer })).toMatchObject({ status: 404 });
    }
    for (const id of [foreign.id, event.id]) {
      for (const rest of [`comments/${id}`, `comments/${id}/history`]) {
        expect(await call("GET", pathOf(repo, rest))).toMatchObject({ status: 404 });
      }
    }
    const bodies = await db.select({ body: timelineEntries.body }).from(timelineEntries);
    expect(bodies).not.toContainEqual({ body: "taken over" });
    const path = pathOf(repo, `${issue.number}/comments/${own.id}`);
    expect(await call("PATCH", path, { as: writer, json })).toMatchObject({ status: 200 });
  });
});

const isOf = ({ id }: Issue) => eq(contentVersions.issueId, id);

describe("DELETE /repos/{owner}/{repo}/issues/comments/{id}", () => {
  it("lets the poster and writers delete it, and announces the last state", async () => {
    const { poster, writer, stranger, repo, issue } = await makeDiscussion();
    const [one, two] = [
      await makeComment(issue, { posterId: stranger.id, body: "one" }),
      await makeComment(issue, { posterId: stranger.id, body: "two" }),
    ];
    const path = pathOf(repo, `comments/${one.id}`);
    expect(await call("DELETE", path, { as: poster })).toMatchObject({ status: 403 });
    expect(await call("DELETE", path)).toMatchObject({ status: 401 });
    expect(await entriesOf(issue)).toHaveLength(2);
    expect(await eventsOf(repo)).toEqual([]);

    expect(await call("DELETE", path, { as: stranger })).toMatchObject({ status: 204 });
    const old = pathOf(repo, `${issue.number}/comments/${two.id}`);
    expect(await call("DELETE", old, { as: writer })).toMatchObject({ status: 204 });
    expect(await call("DELETE", path, { as: stranger })).toMatchObject({ status: 404 });
    expect((await issueRow(issue)).commentCount).toBe(0);
    const announced = await eventsOf(repo);
    expect(typesOf(announced)).toEqual(["comment.deleted", "comment.deleted"]);
    expect(announced[0]).toMatchObject({
      payload: {
        commentId: one.id,
        lastPayload: { action: "deleted", comment: { body: "one" }, is_pull: false },
      },
    });
  });
});

describe("GET /repos/{owner}/{repo}/issues/{index}/comments", () => {
  it("lists the comments alone, oldest first, as a whole or by page", async () => {
    const { repo, issue, list } = await makeDiscussion();
    await makeComment(issue, { body: "one" });
    await makeComment(issue, { kind: "close", body: "" });
    await makeComment(issue, { body: "two" });
    await makeComment(await makeIssue(repo), { body: "elsewhere" });
    const all = await call("GET", list);
    expect(all.body).toMatchObject([{ body: "one" }, { body: "two" }]);
    expect(all.headers.get("X-Total-Count")).toBe("2");
    const second = await call("GET", `${list}?page=2&limit=1`);
    expect(second.body).toMatchObject([{ body: "two" }]);
    expect(second.headers.get("X-Total-Count")).toBe("2");
  });

  it("filters by the time of the last change, with both seconds included", async () => {
    const { issue, list } = await makeDiscussion();
    for (const second of [10, 20, 30]) {
      await makeComment(issue, { body: `at ${second}`, updatedAt: second * 1000 + 500 });
    }
    const bodies = async (query: string) => {
      const { body, headers } = await call("GET", `${list}?${query}`);
      expect(headers.get("X-Total-Count")).toBe(String(body.length));
      return body.map((each: { body: string }) => each.body);
    };
    const at = (second: number) => `1970-01-01T00:00:${second}Z`;
    expect(await bodies(`since=${at(20)}`)).toEqual(["at 20", "at 30"]);
    expect(await bodies(`before=${at(20)}`)).toEqual(["at 10", "at 20"]);
    expect(await bodies(`since=${at(11)}&before=${at(29)}`)).toEqual(["at 20"]);
    expect(await bodies("since=&before=")).toHaveLength(3);
    expect(await call("GET", `${list}?since=yesterday`)).toMatchObject({ status: 422 });
  });

  it("finds no issue that the caller may not see", async () => {
    const owner = await make.user();
    const hidden = await make.repo(owner, { isPrivate: true });
    const issue = await makeIssue(hidden);
    const comment = await makeComment(issue);
    const stranger = await make.user();
    for (const rest of [
      `${issue.number}/comments`,
      `${issue.number}/history`,
      "comments",
      `comments/${comment.id}`,
      `comments/${comment.id}/history`,
    ]) {
      const path = pathOf(hidden, rest);
      expect(await call("GET", path, { as: owner }), rest).toMatchObject({ status: 200 });
      expect(await call("GET", path, { as: stranger }), rest).toMatchObject({ status: 404 });
      expect(await call("GET", path), rest).toMatchObject({ status: 404 });
    }
  });
});

describe("GET /repos/{owner}/{repo}/issues/comments", () => {
  it("lists those of the issues and pull requests that the caller may see", async () => {
    const { owner, stranger, repo, issue } = await makeDiscussion();
    const pull = await makeIssue(repo, { isPull: true });
    await makeComment(issue, { body: "of the issue", updatedAt: 20_000 });
    await makeComment(pull, { body: "of the pull", updatedAt: 10_000 });
    const path = pathOf(repo, "comments");
    const list = async (query: string) => {
      const { body, headers } = await call("GET", `${path}?${query}`, { as: stranger });
      return [body.map((each: { body: string }) => each.body), headers.get("X-Total-Count")];
    };
    expect(await list("")).toEqual([["of the issue", "of the pull"], "2"]);
    expect(await list("page=2&limit=1")).toEqual([["of the pull"], "2"]);
    expect(await list("since=1970-01-01T00:00:15Z")).toEqual([["of the issue"], "1"]);
    expect(await list("since=1970-01-01T00:00:01Z")).toEqual([
      ["of the issue", "of the pull"],
      "2",
    ]);
    await db
      .update(repositories)
      .set({ hasPullRequests: false })
      .where(eq(repositories.id, repo.id));
    expect(await list("")).toEqual([["of the issue"], "1"]);
    expect(await list("since=1970-01-01T00:00:01Z")).toEqual([["of the issue"], "1"]);
    await db.update(repositories).set({ hasIssues: false }).where(eq(repositories.id, repo.id));
    expect(await list("")).toEqual([[], "0"]);
    expect((await call("GET", path, { as: owner })).body).toHaveLength(2);
  });
});

describe("the numbers of comments", () => {
  // Every way in which comments appear and disappear, cascades included, in an order that is drawn
  // by chance.
  it("equal a recount after any operations", async () => {
    const { owner, repo } = await makeDiscussion();
    const open: Issue[] = [];
    const comments: number[] = [];
    const random = makeRandom(7);
    for (let step = 0; step < 60; step++) {
      const action = random.below(10);
      const issue = open[random.below(Math.max(1, open.length))];
      if (action < 2 || !issue) open.push(await makeIssue(repo, { isPull: random.below(2) === 1 }));
      else if (action < 7) {
        const path = pathOf(repo, `${issue.number}/comments`);
        const { body } = await call("POST", path, { as: owner, json: { body: "text" } });
        comments.push(body.id);
      } else if (action < 9) {
        const [id] = comments.splice(random.below(Math.max(1, comments.length)), 1);
        await call("DELETE", pathOf(repo, `comments/${id ?? 1}`), { as: owner });
      } else {
        open.splice(open.indexOf(issue), 1);
        await db.delete(issues).where(eq(issues.id, issue.id));
      }
    }
    let [ofIssues, ofPulls] = [0, 0];
    const rows = await db.select().from(issues).where(eq(issues.repoId, repo.id));
    for (const row of rows) {
      const { length } = await entriesOf(row);
      expect(row.commentCount, `of number ${row.number}`).toBe(length);
      if (row.isPull) ofPulls += length;
      else ofIssues += length;
    }
    expect(ofIssues + ofPulls).toBeGreaterThan(5);
    const isOfRepo = eq(commentCounts.repoId, repo.id);
    expect(await db.select().from(commentCounts).where(isOfRepo)).toEqual([
      { repoId: repo.id, ofIssues, ofPulls },
    ]);
  });
});
