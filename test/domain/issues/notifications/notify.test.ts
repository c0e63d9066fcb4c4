import { asc, eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  blocks,
  issueAssignees,
  mails,
  notifications,
  users,
  watches,
  type Issue,
  type Repository,
  type User,
} from "../../../../src/db/schema/index.ts";
import { notify } from "../../../../src/domain/issues/notifications/notify.ts";
import type { RecordedEvent } from "../../../../src/events/consequence.ts";
import { WorkBudget } from "../../../../src/lib/work-budget.ts";
import { db } from "../../../support/db.ts";
import { makeComment, makeIssue } from "../../../support/issues.ts";
import { MAIL_SETTINGS } from "../../../support/mails.ts";
import { make, type TestUser } from "../../../support/make.ts";
import { makeSubscription, makeWatch } from "../../../support/notifications.ts";
import { systemCtx } from "../../../support/system.ts";

const NOW = 1_700_000_000_000;
let lastEventId = 1000;

interface Happened {
  type: "issue.opened" | "issue.closed" | "issue.reopened" | "issue.assigned" | "comment.created";
  by?: Pick<User, "id">;
  commentId?: number;
  userId?: number;
}

const recorded = (issue: Issue, { type, by, ...fields }: Happened): RecordedEvent => {
  const { id: issueId, repoId, number, isPull } = issue;
  const event = { type, ownerId: 1, repoId, issueId, number, isPull, ...fields };
  lastEventId += 1;
  return {
    id: lastEventId,
    actorId: by?.id ?? 0,
    createdAt: NOW,
    event,
  } as unknown as RecordedEvent;
};

/** Draws all steps of an event, and returns their number. */
async function recordEvent(
  event: RecordedEvent,
  { now = NOW, settings = {} } = {},
): Promise<number> {
  const ctx = systemCtx({}, now, { ROOT_URL: "https://forge.example", ...settings });
  const budget = new WorkBudget(now, { ms: 60_000, statements: 1000 });
  let state: unknown;
  let steps = 0;
  do {
    state = await notify.handle(ctx, event, budget, state);
    steps += 1;
  } while (state !== undefined);
  return steps;
}

const toldOf = async (issue: Issue) =>
  db
    .select({
      userId: notifications.userId,
      status: notifications.status,
      entryId: notifications.entryId,
      eventId: notifications.eventId,
    })
    .from(notifications)
    .where(eq(notifications.issueId, issue.id))
    .orderBy(asc(notifications.userId));
const toldIds = async (issue: Issue) => (await toldOf(issue)).map(({ userId }) => userId);
const idsOf = (...all: Pick<User, "id">[]) => all.map(({ id }) => id).toSorted((a, b) => a - b);
const mailedFor = async (issue: Issue) =>
  db
    .select({ userId: mails.userId, reason: mails.reason })
    .from(mails)
    .where(eq(mails.issueId, issue.id))
    .orderBy(asc(mails.userId));

async function makeScene(fields: Partial<Repository> = {}) {
  const owner = await make.user();
  const repo = await make.repo(owner, fields);
  const doer = await make.user();
  const issue = await makeIssue(repo, { posterId: doer.id });
  return { owner, repo, doer, issue };
}

const commentBy = async (issue: Issue, poster: TestUser, body = "a comment") => {
  const { id } = await makeComment(issue, { posterId: poster.id, body });
  return { event: recorded(issue, { type: "comment.created", by: poster, commentId: id }), id };
};

const assign = (issue: Issue, { id: userId }: Pick<User, "id">) =>
  db
    .insert(issueAssignees)
    .values({ issueId: issue.id, repoId: issue.repoId, userId, createdAt: 1000 });

describe("who is told of a comment", () => {
  it("are watchers, subscribers, poster, assignees, commenters and mentioned users, once each", async () => {
    const { owner, repo, doer: poster, issue } = await makeScene();
    const [watcher, subscriber, assignee, commenter, mentioned, doer, stranger] = [
      await make.user(),
      await make.user(),
      await make.user(),
      await make.user(),
      await make.user(),
      await make.user(),
      await make.user(),
    ];
    for (const user of [watcher, commenter]) await makeWatch(user, repo);
    await makeSubscription(subscriber, issue);
    await assign(issue, assignee);
    await makeComment(issue, { posterId: commenter.id });
    await makeComment(issue, { posterId: commenter.id });
    const text = `@${mentioned.name.toUpperCase()} and @${watcher.name}, not \`@${stranger.name}\``;
    const { event, id } = await commentBy(issue, doer, text);
    await recordEvent(event);
    expect(await toldIds(issue)).toEqual(
      idsOf(watcher, subscriber, assignee, commenter, mentioned, poster),
    );
    expect(await toldOf(issue)).toContainEqual({
      userId: mentioned.id,
      status: "unread",
      entryId: id,
      eventId: event.id,
    });
    expect(owner.id).not.toBe(poster.id);
  });

  it("are not the doer, who unsubscribed, and who can't sign in", async () => {
    const { repo, issue, doer } = await makeScene();
    const [gone, inactive, prohibited] = [
      await make.user(),
      await make.user({ isActive: false }),
      await make.user({ isLoginProhibited: true }),
    ];
    for (const user of [doer, gone, inactive, prohibited]) await makeWatch(user, repo);
    await makeSubscription(gone, issue, false);
    const names = [doer, inactive, prohibited].map(({ name }) => `@${name}`).join(" ");
    await recordEvent((await commentBy(issue, doer, names)).event);
    expect(await toldIds(issue)).toEqual([]);
  });

  // As in Gitea: being named is a reason of its own.
  it("are users who unsubscribed, where they are mentioned", async () => {
    const { issue, doer } = await makeScene();
    const gone = await make.user();
    await makeSubscription(gone, issue, false);
    await recordEvent((await commentBy(issue, doer, `@${gone.name}`)).event);
    expect(await toldIds(issue)).toEqual([gone.id]);
  });

  it("are not users who block the doer, unless the doer administers the site", async () => {
    const { repo, issue } = await makeScene();
    const [watcher, pest, admin] = [await make.user(), await make.user(), await make.admin()];
    await makeWatch(watcher, repo);
    for (const { id: blockedId } of [pest, admin]) {
      await db.insert(blocks).values({ blockerId: watcher.id, blockedId, createdAt: 1000 });
    }
    await recordEvent((await commentBy(issue, pest, `@${watcher.name}`)).event);
    expect(await toldIds(issue)).not.toContain(watcher.id);
    await recordEvent((await commentBy(issue, admin)).event);
    expect(await toldIds(issue)).toContain(watcher.id);
  });

  // SECURITY: neither a watch from earlier nor a mention lets anybody see a private issue.
  it("are not users who may not read the issue", async () => {
    const { owner, repo, doer, issue } = await makeScene({
      isPrivate: true,
      visibility: "private",
    });
    const [reader, outsider, mentioned, admin] = [
      await make.user(),
      await make.user(),
      await make.user(),
      await make.admin(),
    ];
    await make.collaborator(repo, reader, 1);
    for (const user of [owner, reader, outsider, admin]) await makeWatch(user, repo);
    await makeSubscription(outsider, issue);
    await assign(issue, outsider);
    await makeComment(issue, { posterId: outsider.id });
    const { event } = await commentBy(issue, owner, `@${mentioned.name}`);
    await recordEvent(event, { settings: MAIL_SETTINGS });
    expect(await toldIds(issue)).toEqual(idsOf(reader, admin));
    expect((await mailedFor(issue)).map(({ userId }) => userId)).toEqual(idsOf(reader, admin));
    expect(doer.id).not.toBe(0);
  });

  it("are only administrators of the repository where the unit is off", async () => {
    const { owner, repo, doer, issue } = await makeScene({ hasIssues: false });
    const watcher = await make.user();
    for (const user of [owner, watcher]) await makeWatch(user, repo);
    await recordEvent((await commentBy(issue, doer)).event);
    expect(await toldIds(issue)).toEqual([owner.id]);
  });

  it("are the members of a mentioned team of the repository's owner, of no other one", async () => {
    const [owner, doer] = [await make.user(), await make.user()];
    const [org, other] = [await make.org([owner]), await make.org([owner])];
    const repo = await make.repo(org);
    const issue = await makeIssue(repo, { posterId: doer.id });
    const [member, stranger, outsider] = [await make.user(), await make.user(), await make.user()];
    const [team, apart, foreign] = [
      await make.team(org, { name: "Builders" }),
      await make.team(org, { name: "apart" }),
      await make.team(other, { name: "builders" }),
    ];
    await make.member(org, team, member);
    await make.member(org, apart, stranger);
    await make.member(other, foreign, outsider);
    const text = `@${org.name}/builders @${other.name}/builders @${org.name}/unknown`;
    await recordEvent((await commentBy(issue, doer, text)).event, { settings: MAIL_SETTINGS });
    expect(await toldIds(issue)).toEqual([member.id]);
    expect(await mailedFor(issue)).toEqual([{ userId: member.id, reason: "mention" }]);
  });

  it("is nobody once the comment or the issue is deleted", async () => {
    const { repo, issue, doer } = await makeScene();
    await makeWatch(await make.user(), repo);
    const { event, id } = await commentBy(issue, doer);
    await db.run(sql`delete from timeline_entries where id = ${id}`);
    await recordEvent(event);
    expect(await toldIds(issue)).toEqual([]);
    const opened = recorded(issue, { type: "issue.opened", by: doer });
    await db.run(sql`delete from issues where id = ${issue.id}`);
    expect(await recordEvent(opened)).toBe(1);
  });
});

describe("the kinds of events", () => {
  it.each(["issue.opened", "issue.closed", "issue.reopened"] as const)(
    "that everybody concerned is told of: %s",
    async (type) => {
      const { repo, doer, issue } = await makeScene();
      const [watcher, someone] = [await make.user(), await make.user()];
      await makeWatch(watcher, repo);
      await recordEvent(recorded(issue, { type, by: someone }));
      expect(await toldIds(issue)).toEqual(idsOf(watcher, doer));
    },
  );

  it("tell those whom the text of a new issue mentions", async () => {
    const { doer, repo } = await makeScene();
    const mentioned = await make.user();
    const issue = await makeIssue(repo, { posterId: doer.id, body: `ask @${mentioned.name}.` });
    await recordEvent(recorded(issue, { type: "issue.opened", by: doer }));
    expect(await toldIds(issue)).toEqual([mentioned.id]);
  });

  it("tell an assignee alone of the assignment, unless it was their own or is over", async () => {
    const { repo, issue, doer } = await makeScene();
    const [assignee, former] = [await make.user(), await make.user()];
    await makeWatch(await make.user(), repo);
    for (const user of [assignee, doer]) await assign(issue, user);
    for (const { id: userId } of [assignee, doer, former]) {
      await recordEvent(recorded(issue, { type: "issue.assigned", by: doer, userId }), {
        settings: MAIL_SETTINGS,
      });
    }
    expect(await toldIds(issue)).toEqual([assignee.id]);
    expect(await mailedFor(issue)).toEqual([{ userId: assignee.id, reason: "assign" }]);
  });

  it("are not edits, labels or milestones", () => {
    expect(notify.kinds.toSorted()).toEqual([
      "comment.created",
      "issue.assigned",
      "issue.closed",
      "issue.opened",
      "issue.reopened",
      "pull.dequeued",
      "pull.merge_scheduled",
      "pull.merged",
      "pull.ready",
      "pull.review_requested",
      "pull.synchronized",
      "review.dismissed",
      "review.submitted",
    ]);
  });
});

describe("a thread", () => {
  it("is unread again by a later event, pinned if it was, and tells the last comment", async () => {
    const { repo, issue, doer } = await makeScene();
    const [reader, pinner] = [await make.user(), await make.user()];
    for (const user of [reader, pinner]) await makeWatch(user, repo);
    await recordEvent((await commentBy(issue, doer)).event);
    await db
      .update(notifications)
      .set({ status: "read" })
      .where(eq(notifications.userId, reader.id));
    await db
      .update(notifications)
      .set({ status: "pinned" })
      .where(eq(notifications.userId, pinner.id));
    const { event, id } = await commentBy(issue, doer);
    await recordEvent(event, { now: NOW + 1000 });
    expect(await toldOf(issue)).toEqual([
      { userId: reader.id, status: "unread", entryId: id, eventId: event.id },
      { userId: pinner.id, status: "pinned", entryId: id, eventId: event.id },
    ]);
    await recordEvent(recorded(issue, { type: "issue.closed", by: doer }));
    expect((await toldOf(issue)).map(({ entryId }) => entryId)).toEqual([id, id]);
  });

  // A queue delivers at least once, and a Worker may die after a step.
  it("does not change when an event is told again, read since or told of a later one", async () => {
    const { repo, issue, doer } = await makeScene();
    const reader = await make.user();
    await makeWatch(reader, repo);
    const [first, second] = [await commentBy(issue, doer), await commentBy(issue, doer)];
    await recordEvent(first.event, { settings: MAIL_SETTINGS });
    await recordEvent(second.event, { settings: MAIL_SETTINGS });
    await db
      .update(notifications)
      .set({ status: "read" })
      .where(eq(notifications.userId, reader.id));
    const stored = await db.select().from(notifications).where(eq(notifications.issueId, issue.id));
    await db.delete(mails).where(eq(mails.issueId, issue.id));
    for (const { event } of [first, second, first]) {
      await recordEvent(event, { now: NOW + 5000, settings: MAIL_SETTINGS });
    }
    expect(
      await db.select().from(notifications).where(eq(notifications.issueId, issue.id)),
    ).toEqual(stored);
    expect(await mailedFor(issue)).toEqual([]);
  });
});

describe("mail", () => {
  it.each([
    ["enabled", "subscribed", true],
    ["enabled", "mention", true],
    ["onmention", "subscribed", false],
    ["onmention", "mention", true],
    ["onmention", "assign", true],
    ["disabled", "mention", false],
    ["disabled", "assign", false],
    ["andyourown", "subscribed", true],
  ] as const)("of a user who wants %s, for the reason %s: %s", async (wanted, reason, isMailed) => {
    const { repo, issue, doer } = await makeScene();
    const user = await make.user({ emailNotifications: wanted });
    if (reason === "subscribed") await makeWatch(user, repo);
    if (reason === "assign") await assign(issue, user);
    const event =
      reason === "assign"
        ? recorded(issue, { type: "issue.assigned", by: doer, userId: user.id })
        : (await commentBy(issue, doer, reason === "mention" ? `@${user.name}` : "hello")).event;
    await recordEvent(event, { settings: MAIL_SETTINGS });
    expect(await mailedFor(issue)).toEqual(isMailed ? [{ userId: user.id, reason }] : []);
    expect(await toldIds(issue)).toEqual([user.id]);
  });

  it("of what a user did goes to those who want it, and is no notification", async () => {
    const { repo, issue } = await makeScene();
    const doer = await make.user({ emailNotifications: "andyourown" });
    await db
      .update(users)
      .set({ emailNotifications: "disabled" })
      .where(eq(users.id, issue.posterId ?? 0));
    const { event } = await commentBy(issue, doer);
    await recordEvent(event, { settings: MAIL_SETTINGS });
    expect(await mailedFor(issue)).toEqual([{ userId: doer.id, reason: "subscribed" }]);
    expect(await toldIds(issue)).not.toContain(doer.id);
    expect(repo.id).toBe(issue.repoId);
  });

  it("is not queued by a service without mail", async () => {
    const { repo, issue, doer } = await makeScene();
    await makeWatch(await make.user(), repo);
    await recordEvent((await commentBy(issue, doer)).event);
    expect(await mailedFor(issue)).toEqual([]);
  });
});

describe("very many watchers", () => {
  it("are told in steps of bounded size, each once, also if the steps are repeated", async () => {
    const { repo, issue, doer } = await makeScene();
    const count = 1300;
    const numbers = JSON.stringify(Array.from({ length: count }, (_, at) => at));
    const prefix = `crowd-${issue.id}-`;
    await db.run(sql`
      insert into users (kind, name, lower_name, created_at, updated_at)
      select 'user', ${prefix} || value, ${prefix} || value, 1000, 1000
      from json_each(${numbers})`);
    await db.run(sql`
      insert into watches (user_id, repo_id, visibility, created_at)
      select id, ${repo.id}, 'public', 1000 from users where name like ${`${prefix}%`}`);
    const watchers = await db
      .select({ userId: watches.userId })
      .from(watches)
      .where(eq(watches.repoId, repo.id));
    expect(watchers).toHaveLength(count);
    const { event } = await commentBy(issue, doer);
    expect(await recordEvent(event, { settings: MAIL_SETTINGS })).toBe(3);
    await recordEvent(event, { settings: MAIL_SETTINGS });
    const told = await toldOf(issue);
    expect(told).toHaveLength(count);
    expect(new Set(told.map(({ userId }) => userId)).size).toBe(count);
    expect(await mailedFor(issue)).toHaveLength(count);
    await db.delete(mails).where(eq(mails.issueId, issue.id));
  });
});
