import { asc, eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  blocks,
  events,
  issueAssignees,
  issues,
  issueSubscriptions,
  mails,
  notifications,
  releases,
  repositories,
  type Issue,
  type Repository,
  type User,
} from "../../../src/db/schema/index.ts";
import { findNotification } from "../../../src/domain/notifications/find-notification.ts";
import {
  changeSubscription,
  findSubscription,
} from "../../../src/domain/notifications/issue-subscriptions.ts";
import {
  countNotifications,
  listNotifications,
} from "../../../src/domain/notifications/list-notifications.ts";
import { markNotifications } from "../../../src/domain/notifications/mark-notifications.ts";
import { NOTIFICATION_SUBJECTS } from "../../../src/domain/notifications/notification-filter.ts";
import { notifyRelease } from "../../../src/domain/notifications/notify-release.ts";
import { notify } from "../../../src/domain/notifications/notify.ts";
import { removeNotifications } from "../../../src/domain/notifications/remove-notifications.ts";
import { unsubscribe } from "../../../src/domain/notifications/unsubscribe.ts";
import { sendAllDueMails } from "../../../src/domain/outbox/send-due-mails.ts";
import { only } from "../../../src/lib/only.ts";
import { db } from "../../support/db.ts";
import { makeComment } from "../../support/issues.ts";
import { Mailbox } from "../../support/mails.ts";
import { make, type TestUser } from "../../support/make.ts";
import { makeNotification, makeWatch } from "../../support/notifications.ts";
import {
  asOwner,
  copyAll,
  ctxOf,
  draw,
  eventOf,
  makeIssueOf,
  makeReleaseOf,
  makeRepoIn,
  shardOf,
  shards,
} from "./sharded-scene.ts";
import { withShards } from "../../support/copies.ts";

withShards();

const idsOf = (...all: Pick<User, "id">[]) => all.map(({ id }) => id).toSorted((a, b) => a - b);

const toldOf = ({ id }: Issue) =>
  db
    .select()
    .from(notifications)
    .where(eq(notifications.issueId, id))
    .orderBy(asc(notifications.userId));
const toldIds = async (issue: Issue) => (await toldOf(issue)).map(({ userId }) => userId);

/** Stores a comment in the database of its issue, and draws its notifications. */
async function commentBy(repo: Repository, issue: Issue, poster: TestUser, body = "a comment") {
  const { id: issueId, number, isPull } = issue;
  const comment = await makeComment(issue, { posterId: poster.id, body }, shardOf(repo.shard));
  const fields = { issueId, number, isPull, commentId: comment.id };
  const event = eventOf(repo, poster, { type: "comment.created", ...fields });
  await shardOf(repo.shard).insert(events).values({
    id: event.id,
    type: "comment.created",
    actorId: poster.id,
    ownerId: repo.ownerId,
    repoId: repo.id,
    payload: fields,
    createdAt: event.createdAt,
    rootUrl: "",
  });
  await draw(notify, repo, event);
  return { event, comment };
}

const filterOf = ({ id: userId }: User) => ({
  userId,
  statuses: ["unread"] as const,
  subjects: NOTIFICATION_SUBJECTS,
});

describe("an event of a repository in a shard", () => {
  it("is told to watchers of the first database and participants of the shard, once each", async () => {
    const [owner, doer] = [await make.user(), await make.user()];
    const repo = await makeRepoIn(1, owner);
    const people = [];
    for (let count = 0; count < 6; count++) people.push(await make.user());
    const [watcher, subscriber, assignee, mentioned, left, away] = people as [
      TestUser,
      TestUser,
      TestUser,
      TestUser,
      TestUser,
      TestUser,
    ];
    await copyAll();
    const issue = await makeIssueOf(repo, { posterId: owner.id });
    const shard = shardOf(1);
    for (const user of [watcher, subscriber, left]) await makeWatch(user, repo);
    const choice = { issueId: issue.id, updatedAt: 1000 };
    await shard.insert(issueSubscriptions).values([
      { ...choice, userId: subscriber.id, isSubscribed: true },
      { ...choice, userId: left.id, isSubscribed: false },
      { ...choice, userId: away.id, isSubscribed: false },
    ]);
    await shard
      .insert(issueAssignees)
      .values({ issueId: issue.id, repoId: repo.id, userId: assignee.id, createdAt: 1000 });
    const { event, comment } = await commentBy(repo, issue, doer, `@${mentioned.name}`);

    const told = await toldOf(issue);
    expect(told.map(({ userId }) => userId)).toEqual(
      idsOf(owner, watcher, subscriber, assignee, mentioned),
    );
    expect(told[0]).toMatchObject({ eventId: event.id, entryId: comment.id, repoId: repo.id });
    for (const each of shards.values()) {
      expect(await each.$count(notifications)).toBe(0);
      expect(await each.$count(mails)).toBe(0);
    }
    // Again, and read since.
    await db.update(notifications).set({ status: "read" });
    await draw(notify, repo, event);
    expect(new Set((await toldOf(issue)).map(({ status }) => status))).toEqual(new Set(["read"]));
    expect(await toldIds(issue)).not.toContain(away.id);
  });

  // SECURITY: the copy in the shard is late.
  it("is told by the permissions and blocks of the first database", async () => {
    const [owner, watcher, wary, doer] = [
      await make.user(),
      await make.user(),
      await make.user(),
      await make.user(),
    ];
    const repo = await makeRepoIn(1, owner);
    await copyAll();
    const issue = await makeIssueOf(repo);
    for (const user of [owner, watcher, wary]) await makeWatch(user, repo);
    await db.insert(blocks).values({ blockerId: wary.id, blockedId: doer.id, createdAt: 1000 });
    await commentBy(repo, issue, doer);
    expect(await toldIds(issue)).toEqual(idsOf(owner, watcher));

    await db
      .update(repositories)
      .set({ isPrivate: true, visibility: "private" })
      .where(eq(repositories.id, repo.id));
    const other = await makeIssueOf(repo);
    await commentBy(repo, other, owner, `@${watcher.name}`);
    const [copy] = await shardOf(1).select().from(repositories).where(eq(repositories.id, repo.id));
    expect(copy).toMatchObject({ isPrivate: false });
    expect(await toldIds(other)).toEqual([]);
  });

  it("of the same number of participants and watchers as a step, and more, is told to all", async () => {
    const [owner, doer] = [await make.user(), await make.user()];
    const repo = await makeRepoIn(1, owner);
    const prefix = `crowd-${repo.id}-`;
    await db.run(sql`
      insert into users (kind, name, lower_name, created_at, updated_at)
      with recursive counted(n) as (select 1 union all select n + 1 from counted where n < 1300)
      select 'user', ${prefix} || n, ${prefix} || n, 1000, 1000 from counted`);
    await copyAll();
    const issue = await makeIssueOf(repo, { posterId: doer.id });
    // Of three, one watches, one subscribed, and one does both or unsubscribed.
    await db.run(sql`
      insert into watches (user_id, repo_id, visibility, created_at)
      select id, ${repo.id}, 'public', 1000 from users
      where name like ${`${prefix}%`} and id % 3 <> 1`);
    await shardOf(1).run(sql`
      insert into issue_subscriptions (issue_id, user_id, is_subscribed, updated_at)
      select ${issue.id}, id, id % 6 <> 2, 1000 from users
      where name like ${`${prefix}%`} and id % 3 <> 0`);
    const expected = await db.all<{ id: number }>(sql`
      select id from users where name like ${`${prefix}%`} and id % 6 <> 2 order by id`);
    expect(expected.length).toBeGreaterThan(1000);
    await commentBy(repo, issue, doer);
    expect(await toldIds(issue)).toEqual(expected.map(({ id }) => id));
    await db.delete(mails);
  });

  it("is told of a release, unless it is a draft again in the shard", async () => {
    const [owner, watcher] = [await make.user(), await make.user()];
    const repo = await makeRepoIn(2, owner);
    await makeWatch(watcher, repo);
    const [told, draft] = [await makeReleaseOf(repo), await makeReleaseOf(repo)];
    await shardOf(2).update(releases).set({ isDraft: true }).where(eq(releases.id, draft.id));
    for (const { id: releaseId, tagName } of [told, draft]) {
      const event = eventOf(repo, owner, { type: "release.published", releaseId, tagName });
      await draw(notifyRelease, repo, event);
    }
    const { items, total } = await listNotifications(ctxOf(watcher), filterOf(watcher), {
      size: 10,
      offset: 0,
    });
    expect(total).toBe(1);
    expect(items).toMatchObject([{ release: { id: told.id, title: told.title } }]);
  });
});

describe("a list of notifications over several databases", () => {
  /** A user with a notification of an issue and of a pull request in each of three databases. */
  async function makeScene() {
    const [owner, user] = [await make.user(), await make.user()];
    await copyAll();
    const repos = [
      await makeRepoIn(0, owner),
      await makeRepoIn(1, owner),
      await makeRepoIn(2, owner),
    ] as const;
    const found = [];
    let updatedAt = 1000;
    for (const isPull of [false, true]) {
      for (const repo of repos) {
        const issue = await makeIssueOf(repo, { isPull, title: `of shard ${repo.shard}` });
        updatedAt += 1000;
        const row = await makeNotification(user, issue, { updatedAt });
        found.push({ repo, issue, row });
      }
    }
    return { owner, user, repos, found: found.toReversed() };
  }

  it("has the subjects of all, in order, by page, with the total", async () => {
    const { user, found } = await makeScene();
    const newest = only(found.slice(0, 1));
    const comment = await makeComment(newest.issue, {}, shardOf(2));
    const ctx = ctxOf(user);
    const all = await listNotifications(ctx, filterOf(user), { size: 10, offset: 0 });
    expect(all.total).toBe(6);
    expect(
      all.items.map(({ row, issue, lastCommentId }) => [row.id, issue, lastCommentId]),
    ).toEqual(
      found.map(({ row, issue }, at) => [
        row.id,
        expect.objectContaining({
          number: issue.number,
          title: issue.title,
          isPull: issue.isPull,
          isClosed: false,
          isMerged: false,
        }),
        at === 0 ? comment.id : null,
      ]),
    );
    const page = await listNotifications(ctx, filterOf(user), { size: 2, offset: 1 });
    expect(page.total).toBe(6);
    expect(page.items.map(({ row }) => row.id)).toEqual(found.slice(1, 3).map(({ row }) => row.id));

    const pulls = { ...filterOf(user), subjects: ["pull"] as const };
    expect(await countNotifications(ctx, pulls)).toBe(3);
    const ofPulls = await listNotifications(ctx, pulls, { size: 10, offset: 0 });
    expect(ofPulls.items.map(({ issue }) => issue?.isPull)).toEqual([true, true, true]);
    const ofRepo = { ...filterOf(user), repoId: newest.repo.id };
    const inShard = ctxOf(user, newest.repo);
    expect(await countNotifications(inShard, ofRepo)).toBe(2);
    await markNotifications(inShard, ofRepo, "read");
    expect(await countNotifications(ctx, filterOf(user))).toBe(4);
  });

  // SECURITY: the shard is asked by the id alone.
  it("shows nothing of an issue of another repository, nor of one that the reader may not see any more", async () => {
    const { user, repos, found } = await makeScene();
    const [, first, second] = repos;
    const ofFirst = found.filter(({ repo }) => repo.id === first.id);
    const foreign = await makeIssueOf(await makeRepoIn(1, await make.user()));
    const { row } = only(ofFirst.slice(0, 1));
    await db.update(notifications).set({ issueId: foreign.id }).where(eq(notifications.id, row.id));
    await db
      .update(repositories)
      .set({ isPrivate: true, visibility: "private" })
      .where(eq(repositories.id, second.id));
    const { items, total } = await listNotifications(ctxOf(user), filterOf(user), {
      size: 10,
      offset: 0,
    });
    expect(items.map(({ issue }) => issue?.title)).toEqual([
      "of shard 0",
      "of shard 1",
      "of shard 0",
    ]);
    expect(total).toBe(4);
    const hidden = found.filter(({ repo }) => repo.id === second.id).map((each) => each.row);
    expect(hidden).toHaveLength(2);
    for (const { id } of [row, ...hidden]) {
      await expect(findNotification(ctxOf(user), id)).rejects.toMatchObject({ kind: "not_found" });
    }
  });

  it("is without what was deleted at once, and with the event also in the total", async () => {
    const { owner, user, found } = await makeScene();
    const { repo, issue, row } = only(found.slice(0, 1));
    expect(await findNotification(ctxOf(user), row.id)).toMatchObject({ issue: { isPull: true } });
    await shardOf(repo.shard).delete(issues).where(eq(issues.id, issue.id));
    const before = await listNotifications(ctxOf(user), filterOf(user), { size: 10, offset: 0 });
    expect(before.items.map((each) => each.row.id)).toEqual(
      found.slice(1).map((each) => each.row.id),
    );
    await expect(findNotification(ctxOf(user), row.id)).rejects.toMatchObject({
      kind: "not_found",
    });
    const { id: issueId, number, isPull } = issue;
    const fields = { type: "issue.deleted", issueId, number, isPull };
    await draw(removeNotifications, repo, eventOf(repo, owner, fields));
    expect(await countNotifications(ctxOf(user), filterOf(user))).toBe(5);
  });
});

describe("a mail of a repository in a shard", () => {
  it("tells what the shard has, to whom the first database says, and its link unsubscribes there", async () => {
    const [owner, reader, outsider] = [await make.user(), await make.user(), await make.user()];
    const repo = await makeRepoIn(2, owner);
    for (const user of [reader, outsider]) await makeWatch(user, repo);
    await copyAll();
    const issue = await makeIssueOf(repo, { title: "In a shard" });
    await commentBy(repo, issue, owner, "a text of the shard");
    expect(await db.$count(mails, eq(mails.issueId, issue.id))).toBe(2);
    // SECURITY: the copy of the account is late.
    await db.run(sql`update users set is_login_prohibited = 1 where id = ${outsider.id}`);
    const mailbox = new Mailbox();
    await sendAllDueMails(ctxOf(undefined, undefined, { MAIL: mailbox }));
    expect(mailbox.to(outsider.email)).toEqual([]);
    const mail = only(mailbox.to(reader.email));
    expect(mail.subject).toContain("In a shard");
    expect(mail.text).toContain("a text of the shard");

    const [, code = ""] = /unsubscribe\?code=(\S+)/.exec(mail.text) ?? [];
    expect(await unsubscribe(ctxOf(), decodeURIComponent(code))).toBe(true);
    const chosen = await shardOf(2)
      .select()
      .from(issueSubscriptions)
      .where(eq(issueSubscriptions.issueId, issue.id));
    expect(chosen).toMatchObject([{ userId: reader.id, isSubscribed: false }]);
    const isOfIssue = eq(issueSubscriptions.issueId, issue.id);
    expect(await db.$count(issueSubscriptions, isOfIssue)).toBe(0);
    await commentBy(repo, issue, owner);
    await sendAllDueMails(ctxOf(undefined, undefined, { MAIL: mailbox }));
    expect(mailbox.to(reader.email)).toHaveLength(1);
  });
});

describe("a subscription to an issue in a shard", () => {
  it("follows from watches of the first database, the part in the shard, and the choice", async () => {
    const [owner, watcher, poster, stranger] = [
      await make.user(),
      await make.user(),
      await make.user(),
      await make.user(),
    ];
    const repo = await makeRepoIn(1, owner);
    await copyAll();
    await makeWatch(watcher, repo);
    const issue = await makeIssueOf(repo, { posterId: poster.id });
    const where = asOwner(repo, owner);
    const isTold = async (user: TestUser) =>
      (await findSubscription(ctxOf(user, repo), where, issue.number, user)).isSubscribed;
    const change = (user: TestUser, isSubscribed: boolean) =>
      changeSubscription(ctxOf(user, repo), where, issue.number, { name: user.name, isSubscribed });
    expect([await isTold(watcher), await isTold(poster), await isTold(stranger)]).toEqual([
      true,
      true,
      false,
    ]);
    expect(await change(watcher, true)).toBe(false);
    expect(await change(watcher, false)).toBe(true);
    expect(await change(stranger, true)).toBe(true);
    expect([await isTold(watcher), await isTold(stranger)]).toEqual([false, true]);
    expect(
      await shardOf(1).$count(issueSubscriptions, eq(issueSubscriptions.issueId, issue.id)),
    ).toBe(2);
    await expect(
      changeSubscription(ctxOf(watcher, repo), where, issue.number, {
        name: stranger.name,
        isSubscribed: false,
      }),
    ).rejects.toMatchObject({ kind: "forbidden" });
    expect(await isTold(stranger)).toBe(true);
  });
});
