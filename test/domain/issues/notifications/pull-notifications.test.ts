import { asc, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  events,
  issues,
  mails,
  notifications,
  pulls,
  repositories,
  reviews,
  type User,
} from "../../../../src/db/schema/index.ts";
import { notify } from "../../../../src/domain/issues/notifications/notify.ts";
import { sendAllDueMails } from "../../../../src/domain/operations/mail-delivery/send-due-mails.ts";
import type { RecordedEvent } from "../../../../src/events/consequence.ts";
import { only } from "../../../../src/lib/only.ts";
import { WorkBudget } from "../../../../src/lib/work-budget.ts";
import { call } from "../../../support/call.ts";
import { db } from "../../../support/db.ts";
import { MAIL_SETTINGS, Mailbox } from "../../../support/mails.ts";
import { make, type TestUser } from "../../../support/make.ts";
import { makeSubscription, makeWatch } from "../../../support/notifications.ts";
import { makeCodeComment, makePull, makeReview, type TestPull } from "../../../support/pulls.ts";
import { systemCtx } from "../../../support/system.ts";

const NOW = 1_700_000_000_000;
const ROOT = "https://forge.example";

const ctxWith = (bindings: { MAIL?: Mailbox }) =>
  systemCtx(bindings, NOW, { ...MAIL_SETTINGS, ROOT_URL: ROOT });

/** Stores an event of a pull request and draws its notifications, whose mails wait then. */
async function happen(pull: TestPull, type: string, by: Pick<User, "id">, fields: object = {}) {
  const { id: issueId, repoId, number } = pull;
  const payload = { issueId, number, isPull: true, ...fields };
  const row = { type, actorId: by.id, ownerId: 1, repoId, payload, createdAt: NOW, rootUrl: "" };
  const { id } = only(await db.insert(events).values(row).returning());
  const event = { ...payload, type, ownerId: 1, repoId };
  const recorded = { id, actorId: by.id, createdAt: NOW, event } as unknown as RecordedEvent;
  const budget = new WorkBudget(NOW, { ms: 60_000, statements: 100 });
  expect(notify.kinds).toContain(type);
  await notify.handle(ctxWith({}), recorded, budget, undefined);
}

const recipientIds = async ({ id }: TestPull) => {
  const rows = await db
    .select({ userId: notifications.userId, subject: notifications.subject })
    .from(notifications)
    .where(eq(notifications.issueId, id))
    .orderBy(asc(notifications.userId));
  for (const { subject } of rows) expect(subject).toBe("pull");
  return rows.map(({ userId }) => userId);
};
const forget = ({ id }: TestPull) =>
  db.batch([
    db.delete(notifications).where(eq(notifications.issueId, id)),
    db.delete(mails).where(eq(mails.issueId, id)),
  ]);
const idsOf = (...all: Pick<User, "id">[]) => all.map(({ id }) => id).toSorted((a, b) => a - b);
const reasonsOf = async ({ id }: TestPull) =>
  (await db.select().from(mails).where(eq(mails.issueId, id)).orderBy(asc(mails.reason))).map(
    ({ reason }) => reason,
  );

async function sentTo({ email }: TestUser) {
  const mailbox = new Mailbox();
  await sendAllDueMails(ctxWith({ MAIL: mailbox }));
  return mailbox.to(email);
}

async function makeScene() {
  const [owner, poster, watcher] = [await make.user(), await make.user(), await make.user()];
  const repo = await make.repo(owner);
  await makeWatch(watcher, repo);
  const pull = await makePull(repo, {}, { posterId: poster.id, body: "some *text*" });
  return { owner, poster, watcher, repo, pull };
}

const MOVED = { before: "1".repeat(40), after: "2".repeat(40), isForced: false, commitCount: 1 };
const MERGED = { mergeCommitOid: "3".repeat(40), mergeKind: "merge", isAutomatic: false };

describe("the recipients of a pull request", () => {
  it.each([
    ["issue.opened", {}],
    ["issue.closed", { commitOid: "" }],
    ["issue.reopened", { commitOid: "" }],
    ["pull.merged", MERGED],
    ["pull.synchronized", MOVED],
    ["pull.ready", {}],
  ])("are watchers, poster, reviewers and requested reviewers, by %s", async (type, fields) => {
    const { owner, poster, watcher, pull } = await makeScene();
    const [reviewer, asked, pending] = [await make.user(), await make.user(), await make.user()];
    await makeReview(pull, { reviewerId: reviewer.id });
    await makeReview(pull, { reviewerId: reviewer.id, state: "comment" });
    await makeReview(pull, { reviewerId: asked.id, state: "request_review" });
    await makeReview(pull, { reviewerId: pending.id, state: "pending" });
    await happen(pull, type, owner, fields);
    expect(await recipientIds(pull)).toEqual(idsOf(poster, watcher, reviewer, asked));
    await forget(pull);
    await makeSubscription(reviewer, pull, false);
    await happen(pull, type, watcher, fields);
    expect(await recipientIds(pull)).toEqual(idsOf(poster, asked));
  });

  it("are everybody whom a review or its comments on code mention", async () => {
    const { poster, watcher, pull } = await makeScene();
    const [reviewer, first, second] = [await make.user(), await make.user(), await make.user()];
    const review = await makeReview(pull, {
      reviewerId: reviewer.id,
      state: "request_changes",
      body: `@${first.name}: no`,
    });
    await makeCodeComment(pull, review, {}, { body: `@${second.name}, this line` });
    await happen(pull, "review.submitted", reviewer, { reviewId: review.id, state: review.state });
    expect(await recipientIds(pull)).toEqual(idsOf(poster, watcher, first, second));
    expect(await reasonsOf(pull)).toEqual(["mention", "mention", "subscribed", "subscribed"]);
  });

  it("are the poster and the reviewer of a dismissed review, unless it counts again", async () => {
    const { owner, poster, pull } = await makeScene();
    const [reviewer, other] = [await make.user(), await make.user()];
    await makeReview(pull, { reviewerId: other.id });
    const fields = { reviewerId: reviewer.id, isDismissed: true };
    const { id: reviewId } = await makeReview(pull, fields);
    await happen(pull, "review.dismissed", owner, { reviewId });
    expect(await recipientIds(pull)).toEqual(idsOf(poster, reviewer));
    await forget(pull);
    await happen(pull, "review.dismissed", poster, { reviewId });
    expect(await recipientIds(pull)).toEqual(idsOf(reviewer));
    await forget(pull);
    await db.update(reviews).set({ isDismissed: false }).where(eq(reviews.id, reviewId));
    await happen(pull, "review.dismissed", owner, { reviewId });
    await db.delete(reviews).where(eq(reviews.id, reviewId));
    await happen(pull, "review.dismissed", owner, { reviewId });
    expect([await recipientIds(pull), await reasonsOf(pull)]).toEqual([[], []]);
  });

  it("is the poster, of a merge that somebody else schedules", async () => {
    const { owner, poster, pull } = await makeScene();
    await happen(pull, "pull.merge_scheduled", poster);
    expect(await recipientIds(pull)).toEqual([]);
    await happen(pull, "pull.merge_scheduled", owner);
    expect(await recipientIds(pull)).toEqual(idsOf(poster));
  });

  it("are the user, or the members of the team, whose review is requested", async () => {
    const { owner, watcher, pull } = await makeScene();
    const [asked, member, stranger] = [await make.user(), await make.user(), await make.user()];
    const org = await make.org([owner]);
    const team = await make.team(org);
    for (const user of [member, owner]) await make.member(org, team, user);
    await makeReview(pull, { reviewerId: asked.id, state: "request_review" });
    await makeReview(pull, { reviewerId: null, teamId: team.id, state: "request_review" });
    await happen(pull, "pull.review_requested", owner, { userId: asked.id, teamId: null });
    expect(await recipientIds(pull)).toEqual(idsOf(asked));
    expect(await reasonsOf(pull)).toEqual(["review_request"]);
    await forget(pull);
    await happen(pull, "pull.review_requested", owner, { userId: null, teamId: team.id });
    expect(await recipientIds(pull)).toEqual(idsOf(member));
    await forget(pull);
    // Taken back meanwhile.
    await happen(pull, "pull.review_requested", owner, { userId: stranger.id, teamId: null });
    expect(await recipientIds(pull)).toEqual([]);
    expect(watcher.id).not.toBe(asked.id);
  });

  // SECURITY: users who lost access, or never had it, are not notified, whatever made them
  // candidates.
  it("are not users who may not read pull requests", async () => {
    const { owner, poster, repo, pull } = await makeScene();
    const [reviewer, asked] = [await make.user(), await make.user()];
    const review = await makeReview(pull, { reviewerId: reviewer.id, body: `@${asked.name}` });
    await makeReview(pull, { reviewerId: asked.id, state: "request_review" });
    const hidden = { isPrivate: true, visibility: "private" } as const;
    await db.update(repositories).set(hidden).where(eq(repositories.id, repo.id));
    await make.collaborator(repo, poster, 1);
    const submitted = { reviewId: review.id, state: "approved" };
    const requested = { userId: asked.id, teamId: null };
    await happen(pull, "pull.merged", owner, MERGED);
    await happen(pull, "review.submitted", owner, submitted);
    await happen(pull, "pull.review_requested", owner, requested);
    expect(await recipientIds(pull)).toEqual(idsOf(poster));
    await forget(pull);
    await make.collaborator(repo, asked, 1);
    await happen(pull, "pull.review_requested", owner, requested);
    expect(await recipientIds(pull)).toEqual(idsOf(asked));
  });

  // SECURITY: nobody but its author knows of a pending review.
  it("is nobody for a review that is pending, or deleted", async () => {
    const { owner, watcher, pull } = await makeScene();
    const review = await makeReview(pull, { state: "pending", reviewerId: owner.id });
    await makeCodeComment(pull, review, {}, { body: `@${watcher.name}` });
    const submitted = { reviewId: review.id, state: "comment" };
    await happen(pull, "review.submitted", owner, submitted);
    expect(await recipientIds(pull)).toEqual([]);
    await db.update(reviews).set({ state: "comment" }).where(eq(reviews.id, review.id));
    await happen(pull, "review.submitted", owner, submitted);
    expect(await recipientIds(pull)).toContain(watcher.id);
    await forget(pull);
    await db.delete(reviews).where(eq(reviews.id, review.id));
    await happen(pull, "review.submitted", owner, submitted);
    expect(await recipientIds(pull)).toEqual([]);
  });
});

describe("the notification of a pull request", () => {
  it("shows whether it is open, closed or merged", async () => {
    const { owner, watcher, repo, pull } = await makeScene();
    await happen(pull, "issue.opened", owner);
    const page = `${ROOT}/${repo.owner}/${repo.name}/pulls/${pull.number}`;
    const subject = async () =>
      (await call("GET", "/notifications", { as: watcher })).body[0].subject;
    expect(await subject()).toMatchObject({ type: "Pull", state: "open", html_url: page });
    await db.update(issues).set({ isClosed: true }).where(eq(issues.id, pull.id));
    expect(await subject()).toMatchObject({ state: "closed" });
    await db.update(pulls).set({ mergedAt: 1000 }).where(eq(pulls.issueId, pull.id));
    expect(await subject()).toMatchObject({ state: "merged" });
  });

  it("is subscribed to by those who review it, once the review is submitted", async () => {
    const { repo, pull } = await makeScene();
    const reviewer = await make.user();
    const review = await makeReview(pull, { state: "pending", reviewerId: reviewer.id });
    const path = `/repos/${repo.owner}/${repo.name}/issues/${pull.number}/subscriptions/check`;
    const isSubscribed = async () => (await call("GET", path, { as: reviewer })).body.subscribed;
    expect(await isSubscribed()).toBe(false);
    await db.update(reviews).set({ state: "approved" }).where(eq(reviews.id, review.id));
    expect(await isSubscribed()).toBe(true);
  });
});

describe("the mail of a pull request", () => {
  it.each([
    ["issue.opened", {}, "opened a pull request"],
    ["issue.closed", { commitOid: "" }, "closed the pull request"],
    ["pull.merged", MERGED, "merged the pull request"],
    ["pull.synchronized", MOVED, "pushed to the pull request"],
    ["pull.ready", {}, "marked the pull request as ready for review"],
  ])("says what happened by %s", async (type, fields, action) => {
    const { owner, watcher, repo, pull } = await makeScene();
    await happen(pull, type, owner, fields);
    const [mail] = await sentTo(watcher);
    expect(mail?.text).toContain(`${owner.name} ${action} in ${repo.owner}/${repo.name}#1:`);
    expect(mail?.text).toContain("you watch the repository, take part in the pull request");
    expect(mail?.text).toContain(`${ROOT}/${repo.owner}/${repo.name}/pulls/1\n`);
    expect(mail?.text.includes("some *text*")).toBe(type === "issue.opened");
  });

  it("has the text of a review, and its comments on code", async () => {
    const { owner, watcher, pull } = await makeScene();
    const review = await makeReview(pull, { state: "request_changes", body: "Not *yet*" });
    await makeCodeComment(pull, review, {}, { body: "This `line`" });
    await happen(pull, "review.submitted", owner, { reviewId: review.id, state: review.state });
    const [mail] = await sentTo(watcher);
    expect(mail?.text).toContain(`${owner.name} requested changes to the pull request in`);
    expect(mail?.text).toContain("Not *yet*\n\nThis `line`");
    expect(mail?.html).toContain("Not <em>yet</em>");
    expect(mail?.html).toContain("<code>line</code>");
  });

  it("is sent for a dismissed review, and for a scheduled merge", async () => {
    const { owner, poster, pull } = await makeScene();
    const { id: reviewId } = await makeReview(pull, { reviewerId: owner.id, isDismissed: true });
    await happen(pull, "review.dismissed", owner, { reviewId });
    const [first] = await sentTo(poster);
    expect(first?.text).toContain(`${owner.name} dismissed a review of the pull request in`);
    await happen(pull, "pull.merge_scheduled", owner);
    const [second] = await sentTo(poster);
    expect(second?.text).toContain(
      `${owner.name} scheduled the merge of the pull request for when`,
    );
  });

  it("gives the reason of a requested review", async () => {
    const { owner, pull } = await makeScene();
    const asked = await make.user();
    await makeReview(pull, { reviewerId: asked.id, state: "request_review" });
    await happen(pull, "pull.review_requested", owner, { userId: asked.id, teamId: null });
    const [mail] = await sentTo(asked);
    expect(mail?.text).toContain(`${owner.name} asked you to review the pull request in`);
    expect(mail?.text).toContain("because you, or a team of yours, were asked for a review.");
    expect(mail?.headers).toMatchObject({ "X-Gitea-Reason": "review_request" });
  });

  // SECURITY: read again when it is sent.
  it("is not sent of a review that was deleted since", async () => {
    const { owner, watcher, pull } = await makeScene();
    const review = await makeReview(pull, { body: "secret" });
    await happen(pull, "review.submitted", owner, { reviewId: review.id, state: review.state });
    await db.delete(reviews).where(eq(reviews.id, review.id));
    expect(await sentTo(watcher)).toEqual([]);
  });
});
