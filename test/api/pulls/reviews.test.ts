import { asc, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  blocks,
  codeComments,
  issues,
  reviews,
  timelineEntries,
} from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsOf, typesOf } from "../../support/events.ts";
import { make, type TestUser } from "../../support/make.ts";
import { makeCodeComment, makePull, makeReview, type TestPull } from "../../support/pulls.ts";
import { World } from "../../support/samples/world.ts";

/** A public repository with a writer, a reader, and a pull request by the poster. */
async function makeReviewed(
  fields: Parameters<typeof make.repo>[1] = {},
  issueFields: Parameters<typeof makePull>[2] = {},
) {
  const [owner, poster, writer, reader] = [
    await make.user(),
    await make.user(),
    await make.user(),
    await make.user(),
  ];
  const repo = await make.repo(owner, fields);
  await make.collaborator(repo, writer, 2);
  const pull = await makePull(repo, {}, { posterId: poster.id, ...issueFields });
  const path = `/repos/${repo.owner}/${repo.name}/pulls/${pull.number}`;
  return { owner, poster, writer, reader, repo, pull, path, list: `${path}/reviews` };
}

const reviewsOf = (pull: TestPull) =>
  db.select().from(reviews).where(eq(reviews.issueId, pull.id)).orderBy(asc(reviews.id));

const entriesOf = (pull: TestPull) =>
  db
    .select()
    .from(timelineEntries)
    .where(eq(timelineEntries.issueId, pull.id))
    .orderBy(asc(timelineEntries.id));

const review = (list: string, as: TestUser | undefined, json: object) =>
  call("POST", list, { ...(as && { as }), json });

/** The stored state and the events of a pull request, to prove that a refusal changed nothing. */
const everythingOf = async (repo: { id: number }, pull: TestPull) => [
  await reviewsOf(pull),
  await entriesOf(pull),
  await eventsOf(repo),
];

describe("POST /repos/{owner}/{repo}/pulls/{index}/reviews", () => {
  it("stores a review, announces it, and shows it to all", async () => {
    const { writer, repo, pull, list } = await makeReviewed();
    const { status, body } = await review(list, writer, { event: "COMMENT", body: "Looks ok" });
    const url = `https://forge.example/${repo.owner}/${repo.name}/pulls/${pull.number}`;
    const [entry] = await entriesOf(pull);
    expect([status, body]).toMatchObject([
      200,
      {
        state: "COMMENT",
        body: "Looks ok",
        user: { login: writer.name },
        team: null,
        official: false,
        stale: false,
        dismissed: false,
        comments_count: 0,
        commit_id: pull.pull.headOid,
        pull_request_url: url,
        html_url: `${url}#issuecomment-${entry?.id}`,
      },
    ]);
    expect(entry).toMatchObject({ kind: "review", body: "Looks ok", reviewId: body.id });
    expect(await eventsOf(repo)).toMatchObject([
      { type: "review.submitted", payload: { reviewId: body.id, state: "comment" } },
    ]);
    expect((await call("GET", list, { as: writer })).body).toEqual([body]);
    expect((await call("GET", `${list}/${body.id}`, { as: writer })).body).toEqual(body);
  });

  it("counts an approval of those who may write the code, and the latest one only", async () => {
    const { writer, reader, pull, list } = await makeReviewed();
    await review(list, writer, { event: "REQUEST_CHANGES", body: "No" });
    await review(list, reader, { event: "APPROVED" });
    await review(list, writer, { event: "COMMENT", body: "Hm" });
    await review(list, writer, { event: "APPROVED" });
    expect(await reviewsOf(pull)).toMatchObject([
      { state: "request_changes", isOfficial: false, isDismissed: true },
      { state: "approved", isOfficial: false, isDismissed: false, reviewerId: reader.id },
      { state: "comment", isOfficial: false, isDismissed: false },
      { state: "approved", isOfficial: true, isDismissed: false },
    ]);
  });

  it("answers the request of the reviewer, and the timeline keeps its entry", async () => {
    const { owner, writer, pull, path, list } = await makeReviewed();
    const json = { reviewers: [writer.name] };
    await call("POST", `${path}/requested_reviewers`, { as: owner, json });
    await review(list, writer, { event: "COMMENT", body: "Done" });
    expect(await reviewsOf(pull)).toMatchObject([{ state: "comment" }]);
    expect(await entriesOf(pull)).toMatchObject([
      { kind: "review_request", reviewId: null },
      { kind: "review" },
    ]);
  });

  it("answers the request of a team only by a vote of a member", async () => {
    const [owner, member] = [await make.user(), await make.user()];
    const org = await make.org([owner]);
    const team = await make.team(org, { access: 2 });
    await make.member(org, team, member);
    const repo = await make.repo(org);
    const pull = await makePull(repo, {}, { posterId: owner.id });
    const list = `/repos/${repo.owner}/${repo.name}/pulls/${pull.number}/reviews`;
    await makeReview(pull, { state: "request_review", reviewerId: null, teamId: team.id });
    const stranger = await make.user();
    await review(list, stranger, { event: "APPROVED" });
    await review(list, member, { event: "COMMENT", body: "Soon" });
    const statesOf = async () => (await reviewsOf(pull)).map(({ state }) => state);
    expect(await statesOf()).toEqual(["request_review", "approved", "comment"]);
    await review(list, member, { event: "APPROVED" });
    expect(await statesOf()).toEqual(["approved", "comment", "approved"]);
  });

  it("marks a review of another commit than the head as stale", async () => {
    const { writer, pull, list } = await makeReviewed();
    const json = { event: "APPROVED", commit_id: "0".repeat(39) + "1" };
    expect((await review(list, writer, json)).body).toMatchObject({ stale: true });
    expect(
      (await review(list, writer, { ...json, commit_id: pull.pull.headOid })).body,
    ).toMatchObject({ stale: false });
  });

  it("refuses own votes, votes on a closed one, and reviews that say nothing", async () => {
    const { owner, poster, writer, repo, pull, list } = await makeReviewed();
    const messageOf = async (as: TestUser, json: object, at = list) => {
      const { status, body } = await review(at, as, json);
      return [status, body?.message];
    };
    expect([
      await messageOf(poster, { event: "APPROVED" }),
      await messageOf(poster, { event: "REQUEST_CHANGES", body: "x" }),
      await messageOf(writer, { event: "REQUEST_CHANGES", body: " \n" }),
      await messageOf(writer, { event: "COMMENT" }),
      await messageOf(writer, { event: "PENDING" }),
      await messageOf(writer, {}),
    ]).toEqual([
      [422, "approve your own pull is not allowed"],
      [422, "reject your own pull is not allowed"],
      [422, "review event REQUEST_CHANGES requires a body"],
      [422, "review event COMMENT requires a body or a comment"],
      [422, "review event PENDING requires a body"],
      [422, "review event  requires a body"],
    ]);
    await db.update(issues).set({ isClosed: true }).where(eq(issues.id, pull.id));
    const closed = [422, "can't submit review for a closed or merged PR"];
    expect(await messageOf(owner, { event: "APPROVED" })).toEqual(closed);
    expect(await everythingOf(repo, pull)).toEqual([[], [], []]);
    expect((await review(list, owner, { event: "COMMENT", body: "Still" })).status).toBe(200);
  });

  it("refuses callers who may not take part, and stores nothing", async () => {
    const { poster, reader, repo, pull, list } = await makeReviewed({}, { isLocked: true });
    const json = { event: "COMMENT", body: "Hello" };
    expect((await review(list, undefined, json)).status).toBe(401);
    expect(await review(list, reader, json)).toMatchObject({
      status: 403,
      body: { message: "You cannot comment on a locked issue." },
    });
    await db.update(issues).set({ isLocked: false }).where(eq(issues.id, pull.id));
    await db.insert(blocks).values({ blockerId: poster.id, blockedId: reader.id, createdAt: 1000 });
    expect(await review(list, reader, json)).toMatchObject({
      status: 403,
      body: { message: "user is blocked" },
    });
    expect((await review(list.replace("/1/", "/99/"), reader, json)).status).toBe(404);
    expect(await everythingOf(repo, pull)).toEqual([[], [], []]);
  });

  it("refuses in an archived and a private repository, and with the unit off", async () => {
    const json = { event: "COMMENT", body: "Hello" };
    const archived = await makeReviewed({ archivedAt: 1000 });
    const hidden = await makeReviewed({ visibility: "private", isPrivate: true });
    const off = await makeReviewed({ hasPullRequests: false });
    const answers = [
      await review(archived.list, archived.owner, json),
      await review(hidden.list, hidden.reader, json),
      await review(off.list, off.reader, json),
      await call("GET", hidden.list, { as: hidden.reader }),
      await call("GET", off.list, { as: off.reader }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([423, 404, 404, 404, 404]);
    for (const each of [archived, hidden, off]) {
      expect(await everythingOf(each.repo, each.pull)).toEqual([[], [], []]);
    }
  });

  it("bounds the comments of one request, their lines and the commit", async () => {
    const { writer, repo, pull, list } = await makeReviewed();
    const many = Array.from({ length: 101 }, () => ({ path: "a", body: "x" }));
    const answers = [
      await review(list, writer, { event: "COMMENT", comments: many }),
      await review(list, writer, { event: "APPROVED", commit_id: "main" }),
      await review(list, writer, { comments: [{ path: "a", body: "x", new_position: -1 }] }),
      await review(list, writer, { comments: [{ path: "a", body: "x", in_reply_to: 99 }] }),
      await review(list, writer, { event: "COMMENT", body: "x".repeat(262_145) }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([422, 422, 422, 404, 422]);
    expect(await everythingOf(repo, pull)).toEqual([[], [], []]);
  });

  it("places comments on both sides, with the part of the diff that they are about", async () => {
    const world = new World();
    const [owner, pull] = [await world.user(), await world.pull()];
    const reader = await make.user();
    const { repo } = await world.pullPath();
    const list = `/repos/${owner.name}/${repo}/pulls/${pull.number}/reviews`;
    const comments = [
      { path: "topic", body: "new", new_position: 1 },
      { path: "file", body: "old", old_position: 1 },
      { path: "nowhere", body: "unknown", new_position: 7 },
      { path: "topic", body: "the file" },
    ];
    const { status, body } = await review(list, reader, { event: "COMMENT", comments });
    expect([status, body]).toMatchObject([200, { comments_count: 4, body: "" }]);
    const found = await call("GET", `${list}/${body.id}/comments`);
    expect(found.headers.get("x-total-count")).toBe("4");
    expect(found.body).toMatchObject([
      {
        body: "new",
        path: "topic",
        position: 1,
        original_position: 0,
        commit_id: pull.pull.headOid,
        original_commit_id: "",
        diff_hunk: "@@ -0,0 +1 @@\n+A topic",
        pull_request_review_id: body.id,
        resolver: null,
        user: { login: reader.name },
      },
      { body: "old", position: 0, original_position: 1, diff_hunk: "" },
      { body: "unknown", position: 7, diff_hunk: "" },
      { body: "the file", position: 0, diff_hunk: "" },
    ]);
  });

  it("takes the place of the comment that is answered", async () => {
    const { writer, reader, pull, list } = await makeReviewed();
    const first = await makeReview(pull, { state: "comment", reviewerId: writer.id });
    const root = await makeCodeComment(pull, first, { path: "src/a", line: 9, startLine: 7 });
    const answer = { body: "I see", in_reply_to: root.id };
    const { body } = await review(list, reader, { event: "COMMENT", comments: [answer] });
    const again = { body: "And?", in_reply_to: root.id };
    await review(list, writer, { event: "COMMENT", comments: [again] });
    const found = await call("GET", `${list}/${body.id}/comments`);
    expect(found.body).toMatchObject([
      { body: "I see", path: "src/a", position: 9, start_line: 7, in_reply_to: root.id },
    ]);
  });
});

describe("a pending review", () => {
  it("takes more comments, and is submitted with them", async () => {
    const { writer, repo, pull, list } = await makeReviewed();
    const comment = (text: string) => ({ path: "a", body: text, new_position: 0 });
    const begun = await review(list, writer, { body: "draft", comments: [comment("one")] });
    const more = await review(list, writer, {
      event: "COMMENT",
      pending_review: true,
      comments: [comment("two")],
    });
    expect(more.body).toMatchObject({ id: begun.body.id, state: "PENDING", comments_count: 2 });
    expect(await eventsOf(repo)).toEqual([]);
    const one = `${list}/${begun.body.id}`;
    const submitted = await review(one, writer, { event: "REQUEST_CHANGES", body: "final" });
    expect(submitted).toMatchObject({
      status: 200,
      body: { id: begun.body.id, state: "REQUEST_CHANGES", body: "final", comments_count: 2 },
    });
    expect(typesOf(await eventsOf(repo))).toEqual(["review.submitted"]);
    expect((await entriesOf(pull)).map(({ kind, body }) => [kind, body])).toEqual([
      ["code", "one"],
      ["code", "two"],
      ["review", "final"],
    ]);
  });

  it("is submitted by a further review of its author, whatever its event", async () => {
    const { writer, pull, list } = await makeReviewed();
    await review(list, writer, { event: "approved", body: "in lower case" });
    await review(list, writer, { event: "APPROVED", body: "done" });
    expect(await reviewsOf(pull)).toMatchObject([
      { state: "approved", body: "done", isOfficial: true },
    ]);
  });

  it("is submitted once, to something else than pending", async () => {
    const { writer, reader, pull, list } = await makeReviewed();
    const { body } = await review(list, writer, { body: "draft" });
    const one = `${list}/${body.id}`;
    expect(await review(one, writer, { event: "PENDING", body: "x" })).toMatchObject({
      status: 422,
      body: { message: "review stay pending" },
    });
    expect((await review(one, reader, { event: "COMMENT", body: "x" })).status).toBe(404);
    expect((await review(one, writer, { event: "COMMENT" })).body).toMatchObject({ body: "draft" });
    expect(await review(one, writer, { event: "COMMENT", body: "x" })).toMatchObject({
      status: 422,
      body: { message: "only a pending review can be submitted" },
    });
    expect((await review(`${list}/99999999`, writer, { event: "COMMENT" })).status).toBe(404);
    expect(await reviewsOf(pull)).toMatchObject([{ state: "comment", body: "draft" }]);
  });

  it("exists once for each author, also when it is begun concurrently", async () => {
    const { writer, pull, list } = await makeReviewed();
    const begin = (text: string) => review(list, writer, { body: text });
    await Promise.all(["a", "b", "c"].map(begin));
    expect(await reviewsOf(pull)).toMatchObject([{ state: "pending" }]);
    expect((await entriesOf(pull)).length).toBe(1);
  });

  // The first assertion shows that the author sees it: the others would pass without it too.
  it("is seen by its author only, wherever reviews and comments are read", async () => {
    const { owner, writer, pull, path, list } = await makeReviewed();
    const secret = "a secret draft";
    const begun = await review(list, writer, {
      body: secret,
      comments: [{ path: "a.txt", body: secret }],
    });
    const [code] = await db.select().from(codeComments).where(eq(codeComments.issueId, pull.id));
    const base = path.replace(/\/pulls\/\d+$/, "");
    const places = [
      list,
      `${list}/${begun.body.id}`,
      `${list}/${begun.body.id}/comments`,
      `${path}/comments`,
      `${base}/issues/comments/${code?.entryId}`,
    ];
    const texts = async (as?: TestUser) => {
      const answers = await Promise.all(places.map((at) => call("GET", at, { ...(as && { as }) })));
      return answers.map(({ body }) => JSON.stringify(body ?? "").includes(secret));
    };
    expect(await texts(writer)).toEqual([true, true, true, true, true]);
    const admin = await make.admin();
    for (const other of [owner, admin, undefined]) {
      expect(await texts(other), other?.name).toEqual([false, false, false, false, false]);
    }
    const counts = await Promise.all(
      [writer, owner].map(async (as) => {
        const answers = await Promise.all(
          [list, `${path}/comments`].map((at) => call("GET", at, { as })),
        );
        return answers.map(({ headers }) => headers.get("x-total-count"));
      }),
    );
    expect(counts).toEqual([
      ["1", "1"],
      ["0", "0"],
    ]);
    const answer = { body: "I know", in_reply_to: code?.entryId };
    expect((await review(list, owner, { comments: [answer] })).status).toBe(404);
    const resolve = `${path}/comments/${code?.entryId}/resolve`;
    expect((await call("POST", resolve, { as: owner })).status).toBe(404);
    const edit = `${base}/issues/comments/${code?.entryId}`;
    expect((await call("PATCH", edit, { as: owner, json: { body: "x" } })).status).toBe(404);
    expect((await call("DELETE", edit, { as: owner })).status).toBe(404);
    expect((await call("GET", `${edit}/reactions`, { as: owner })).status).toBe(404);
  });
});

describe("GET /repos/{owner}/{repo}/pulls/{index}/reviews", () => {
  it("lists page by page, oldest first", async () => {
    const { writer, pull, list } = await makeReviewed();
    for (const body of ["1", "2", "3"]) {
      await makeReview(pull, { state: "comment", body, reviewerId: writer.id });
    }
    const { body, headers } = await call("GET", `${list}?page=2&limit=2`);
    expect(body).toMatchObject([{ body: "3" }]);
    expect(headers.get("x-total-count")).toBe("3");
    expect(headers.get("link")).toContain('rel="prev"');
  });

  it("finds no review of another pull request", async () => {
    const { pull, repo, list } = await makeReviewed();
    const other = await makePull(repo, { headBranch: "other" });
    const foreign = await makeReview(other);
    await makeReview(pull);
    expect((await call("GET", `${list}/${foreign.id}`)).status).toBe(404);
    expect((await call("GET", `${list}/${foreign.id}/comments`)).status).toBe(404);
    expect((await call("GET", list.replace("/1/", "/99/"))).status).toBe(404);
  });
});

describe("POST /repos/{owner}/{repo}/pulls/{index}/reviews/{id}/dismissals", () => {
  it("dismisses a review once, with a reason, and takes it back", async () => {
    const { owner, writer, repo, pull, list } = await makeReviewed();
    const { id } = await makeReview(pull, { reviewerId: writer.id, isOfficial: true });
    const path = `${list}/${id}/dismissals`;
    for (const message of ["not needed", "again"]) {
      const { status, body } = await review(path, owner, { message });
      expect([status, body]).toMatchObject([
        200,
        { state: "APPROVED", dismissed: true, official: true },
      ]);
    }
    expect((await entriesOf(pull)).slice(1)).toMatchObject([
      { kind: "dismiss_review", body: "not needed", reviewId: id, posterId: owner.id },
    ]);
    for (const _ of [1, 2]) {
      const undone = await call("POST", `${list}/${id}/undismissals`, { as: owner });
      expect(undone).toMatchObject({ status: 200, body: { dismissed: false } });
    }
    expect(typesOf(await eventsOf(repo))).toEqual(["review.dismissed", "review.undismissed"]);
    expect((await call("GET", `${list}/${id}`)).body).toMatchObject({ dismissed: false });
  });

  it("dismisses earlier reviews of the same user too, if requested", async () => {
    const { owner, writer, reader, pull, list } = await makeReviewed();
    await makeReview(pull, { reviewerId: writer.id, state: "request_changes" });
    await makeReview(pull, { reviewerId: reader.id });
    const { id } = await makeReview(pull, { reviewerId: writer.id });
    await makeReview(pull, { reviewerId: writer.id, state: "request_changes" });
    await review(`${list}/${id}/dismissals`, owner, { priors: true });
    expect((await reviewsOf(pull)).map(({ isDismissed }) => isDismissed)).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });

  it("refuses others than administrators, other reviews and closed ones, and changes nothing", async () => {
    const { owner, writer, repo, pull, list } = await makeReviewed();
    const vote = await makeReview(pull, { reviewerId: writer.id });
    const comment = await makeReview(pull, { reviewerId: writer.id, state: "comment" });
    const before = await everythingOf(repo, pull);
    const messageOf = async (id: number, as: TestUser) =>
      (await review(`${list}/${id}/dismissals`, as, {})).body?.message;
    const why = "not need to dismiss this review because";
    expect(await messageOf(vote.id, writer)).toBe("Must be repo admin");
    expect(await messageOf(comment.id, owner)).toBe(
      `${why} it's type is not Approve or change request`,
    );
    expect((await review(`${list}/99999999/dismissals`, owner, {})).status).toBe(404);
    await db.update(issues).set({ isClosed: true }).where(eq(issues.id, pull.id));
    expect(await messageOf(vote.id, owner)).toBe(`${why} this pr is closed`);
    expect(await everythingOf(repo, pull)).toEqual(before);
  });
});

describe("DELETE /repos/{owner}/{repo}/pulls/{index}/reviews/{id}", () => {
  it("deletes it with its comments, and lets the earlier vote count again", async () => {
    const { writer, repo, pull, list } = await makeReviewed();
    await makeReview(pull, { reviewerId: writer.id });
    const { id } = await makeReview(pull, { reviewerId: writer.id, isOfficial: true });
    expect((await call("DELETE", `${list}/${id}`, { as: writer })).status).toBe(204);
    expect(await reviewsOf(pull)).toMatchObject([{ isOfficial: true }]);
    expect((await entriesOf(pull)).length).toBe(1);
    expect(typesOf(await eventsOf(repo))).toEqual(["review.deleted"]);
    expect((await call("DELETE", `${list}/${id}`, { as: writer })).status).toBe(404);
  });

  it("lets a conversation go on with the first answer", async () => {
    const { writer, reader, pull, path, list } = await makeReviewed();
    const first = await makeReview(pull, { state: "comment", reviewerId: writer.id });
    const root = await makeCodeComment(pull, first, { resolvedAt: 5, resolverId: reader.id });
    const second = await makeReview(pull, { state: "comment", reviewerId: reader.id });
    const fields = { rootId: root.id };
    const answers = [
      await makeCodeComment(pull, second, fields),
      await makeCodeComment(pull, second, fields),
      await makeCodeComment(pull, second, fields),
    ];
    await call("DELETE", `${list}/${first.id}`, { as: writer });
    const [one, two, three] = answers;
    expect((await call("GET", `${path}/comments`)).body).toMatchObject([
      { id: one?.id, in_reply_to: null, resolver: { login: reader.name } },
      { id: two?.id, in_reply_to: one?.id },
      { id: three?.id, in_reply_to: one?.id },
    ]);
  });

  it("is for its author and administrators of the site", async () => {
    const { owner, writer, pull, repo, list } = await makeReviewed();
    const { id } = await makeReview(pull, { reviewerId: writer.id });
    const asked = await makeReview(pull, { state: "request_review", reviewerId: writer.id });
    const before = await everythingOf(repo, pull);
    expect((await call("DELETE", `${list}/${id}`, { as: owner })).status).toBe(403);
    expect((await call("DELETE", `${list}/${id}`)).status).toBe(401);
    expect((await call("DELETE", `${list}/${asked.id}`, { as: writer })).status).toBe(422);
    expect(await everythingOf(repo, pull)).toEqual(before);
    const admin = await make.admin();
    expect((await call("DELETE", `${list}/${id}`, { as: admin })).status).toBe(204);
  });
});

describe("POST and DELETE /repos/{owner}/{repo}/pulls/{index}/comments/{id}/resolve", () => {
  it("resolves the conversation by any of its comments, once, and reopens it", async () => {
    const { poster, writer, repo, pull, path } = await makeReviewed();
    const given = await makeReview(pull, { state: "comment", reviewerId: writer.id });
    const root = await makeCodeComment(pull, given);
    const answer = await makeCodeComment(pull, given, { rootId: root.id });
    const at = `${path}/comments/${answer.id}/resolve`;
    expect((await call("POST", at, { as: poster })).status).toBe(204);
    expect((await call("POST", at, { as: writer })).status).toBe(204);
    const resolver = { login: poster.name };
    expect((await call("GET", `${path}/comments`)).body).toMatchObject([
      { resolver },
      { resolver },
    ]);
    expect((await call("DELETE", at, { as: writer })).status).toBe(204);
    expect((await call("DELETE", at, { as: writer })).status).toBe(204);
    expect((await call("GET", `${path}/comments`)).body).toMatchObject([
      { resolver: null },
      { resolver: null },
    ]);
    expect(await eventsOf(repo)).toMatchObject([
      { type: "conversation.resolved", payload: { commentId: root.id } },
      { type: "conversation.reopened", payload: { commentId: root.id } },
    ]);
  });

  it("refuses readers, comments of other pull requests, and unknown ones", async () => {
    const { writer, reader, repo, pull, path } = await makeReviewed();
    const given = await makeReview(pull, { state: "comment", reviewerId: writer.id });
    const { id } = await makeCodeComment(pull, given);
    const other = await makePull(repo, { headBranch: "other" });
    const foreign = await makeCodeComment(other, await makeReview(other));
    const resolve = async (as: TestUser | undefined, commentId: number) =>
      (await call("POST", `${path}/comments/${commentId}/resolve`, { ...(as && { as }) })).status;
    expect([
      await resolve(reader, id),
      await resolve(undefined, id),
      await resolve(writer, foreign.id),
      await resolve(writer, 99_999_999),
    ]).toEqual([403, 401, 404, 404]);
    expect(await eventsOf(repo)).toEqual([]);
  });
});
