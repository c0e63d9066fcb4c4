import { asc, eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import { issueSubscriptions, notifications } from "../../../src/db/schema/index.ts";
import { Browser } from "../../support/browser.ts";
import { formTokenOf } from "../../support/credentials.ts";
import { db } from "../../support/db.ts";
import { makeComment, makeIssue } from "../../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { makeNotification, makeSubscription } from "../../support/notifications.ts";
import { makePull } from "../../support/pulls.ts";
import { makeRelease } from "../../support/releases.ts";

const PATH = "/notifications";
const BAD = `"><script>alert(1)</script>`;

let user: TestUser;
let repo: TestRepo;
let browser: Browser;
beforeEach(async () => {
  user = await make.userWithPassword();
  repo = await make.repo(user, { visibility: "public" });
  browser = await Browser.signedIn(user);
});

const read = async (query = ""): Promise<string> => {
  const { status, body } = await browser.get(PATH + query);
  expect(status).toBe(200);
  return String(body);
};

/** The subjects that a page lists, in its order. */
const listed = async (query = ""): Promise<string[]> =>
  Array.from(
    (await read(query)).matchAll(/aria-label="Choose ([^"]*)"/g),
    ([, title = ""]) => title,
  );

const statuses = async ({ id }: { id: number } = user) =>
  (
    await db
      .select()
      .from(notifications)
      .where(eq(notifications.userId, id))
      .orderBy(asc(notifications.id))
  ).map(({ status }) => status);

/** A notification about an issue, a pull request and a release, the last one first. */
async function makeThree(of = repo) {
  const issue = await makeNotification(user, await makeIssue(of, { title: "an issue" }));
  const pull = await makeNotification(user, await makePull(of, {}, { title: "a pull" }), {
    updatedAt: 2000,
  });
  const { id: releaseId } = await makeRelease(of, { title: "a release" });
  const [release] = await db
    .insert(notifications)
    .values({
      userId: user.id,
      repoId: of.id,
      subject: "release",
      releaseId,
      status: "unread",
      createdAt: 1000,
      updatedAt: 3000,
    })
    .returning();
  return { issue, pull, release };
}

describe("the list of notifications", () => {
  it("is filtered by status, kind and repository", async () => {
    const { issue } = await makeThree();
    const other = await make.repo(user, { visibility: "public" });
    await makeNotification(user, await makeIssue(other, { title: BAD }), { updatedAt: 500 });
    const escaped = "&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;";
    expect(await listed()).toEqual(["a release", "a pull", "an issue", escaped]);
    expect(await listed("?subject=pull")).toEqual(["a pull"]);
    expect(await listed("?subject=toString&type=toString&repo=x")).toHaveLength(4);
    expect(await listed(`?repo=${other.id}`)).toEqual([escaped]);
    expect(await listed(`?repo=${repo.id}&subject=issue`)).toEqual(["an issue"]);
    await db.update(notifications).set({ status: "pinned" }).where(eq(notifications.id, issue.id));
    expect(await listed("?type=pinned")).toEqual(["an issue"]);
    expect(await listed()).toHaveLength(4);
    expect(await listed("?type=read")).toEqual([]);
    const page = await read(`?repo=${repo.id}&subject=issue`);
    expect(page).toMatch(new RegExp(`<option value="${repo.id}" selected[^>]*>[^<]*\\(1\\)<`));
    expect(page).toContain(`href="${PATH}?type=read&amp;subject=issue&amp;repo=${repo.id}"`);
    expect(await read()).not.toContain(BAD);
  });

  it("offers no repository that its reader may not see any more", async () => {
    const owner = await make.user();
    const hidden = await make.repo(owner, { isPrivate: true, visibility: "private" });
    await makeNotification(user, await makeIssue(hidden, { title: "hidden" }));
    await makeThree();
    const page = await read();
    expect(page).not.toContain(hidden.name);
    expect(page).toContain(`${repo.owner}/${repo.name} (3)`);
    expect(await listed(`?repo=${hidden.id}`)).toEqual([]);
  });

  it("leads to the page of the comment that each reports", async () => {
    const issue = await makeIssue(repo, { title: "one" });
    const comment = await makeComment(issue);
    await makeNotification(user, issue, { entryId: comment.id });
    expect(await read()).toContain(
      `issues/${issue.number}?entry=${comment.id}#issuecomment-${comment.id}"`,
    );
  });
});

describe("notifications", () => {
  it("are marked where they are chosen, and their list is shown again", async () => {
    const { issue, pull } = await makeThree();
    const stranger = await make.user();
    const theirs = await makeNotification(stranger, await makeIssue(repo));
    const chosen = Object.fromEntries(
      [issue, pull, theirs].map(({ id }) => [`notification-${id}`, "on"]),
    );
    const sent = { ...chosen, status: "pinned", subject: "issue" };
    for (let again = 0; again < 2; again++) {
      const { status, headers } = await browser.submit(PATH, sent, `${PATH}/status`);
      expect([status, headers.get("Location")]).toEqual([303, `${PATH}?subject=issue`]);
    }
    expect(await statuses()).toEqual(["pinned", "pinned", "unread"]);
    expect(await statuses(stranger)).toEqual(["unread"]);
    const wrong = { ...chosen, status: "toString" };
    expect((await browser.submit(PATH, wrong, `${PATH}/status`)).status).toBe(404);
    const bad = { "notification-x": "on", status: "read" };
    expect((await browser.submit(PATH, bad, `${PATH}/status`)).status).toBe(404);
    expect(await statuses()).toEqual(["pinned", "pinned", "unread"]);
  });

  it("are marked all as far as the filter goes, but those that are pinned", async () => {
    const { pull } = await makeThree();
    const other = await make.repo(user, { visibility: "public" });
    await makeThree(other);
    await db.update(notifications).set({ status: "pinned" }).where(eq(notifications.id, pull.id));
    const query = `?subject=issue&repo=${other.id}`;
    const { headers } = await browser.submit(PATH + query, {}, `${PATH}/purge`);
    expect(headers.get("Location")).toBe(PATH + query);
    expect(await statuses()).toEqual(["unread", "pinned", "unread", "read", "unread", "unread"]);
    await browser.submit(PATH, {}, `${PATH}/purge`);
    expect(await statuses()).toEqual(["read", "pinned", "read", "read", "read", "read"]);
  });

  it("are unsubscribed from, and subscribed to again, by their reader alone", async () => {
    const issue = await makeIssue(repo, { title: "one" });
    const { id } = await makeNotification(user, issue);
    const choices = () =>
      db.select().from(issueSubscriptions).where(eq(issueSubscriptions.issueId, issue.id));
    const sent = { notification_id: String(id) };
    const stranger = await make.userWithPassword();
    const theirs = await Browser.signedIn(stranger);
    await makeNotification(stranger, await makeIssue(repo));
    expect((await theirs.submit(PATH, sent, `${PATH}/subscription`)).status).toBe(303);
    expect(await choices()).toEqual([]);
    await makeSubscription(stranger, issue);

    const own = { ...sent, _csrf: formTokenOf(await read()) };
    for (let again = 0; again < 2; again++)
      expect((await browser.post(`${PATH}/subscription`, own)).status).toBe(303);
    expect(await choices()).toHaveLength(2);
    expect(await choices()).toContainEqual(
      expect.objectContaining({ userId: user.id, isSubscribed: false }),
    );
    expect(await read()).toMatch(/, unsubscribed[^]*name="subscribed" value="on"[^]*>Subscribe</);
    await browser.submit(PATH, {}, `${PATH}/purge`);
    const again = { ...sent, subscribed: "on", type: "read" };
    const { headers } = await browser.submit(`${PATH}?type=read`, again, `${PATH}/subscription`);
    expect(headers.get("Location")).toBe(`${PATH}?type=read`);
    expect(await choices()).toMatchObject([{ isSubscribed: true }, { isSubscribed: true }]);
    expect(await read("?type=read")).toContain(">Unsubscribe<");
  });

  it("of releases have no subscription", async () => {
    const { release } = await makeThree();
    const sent = { notification_id: String(release?.id) };
    expect((await browser.submit(PATH, sent, `${PATH}/subscription`)).status).toBe(303);
    const isTheirs = eq(issueSubscriptions.userId, user.id);
    expect(await db.select().from(issueSubscriptions).where(isTheirs)).toEqual([]);
    expect(await read("?subject=release")).not.toContain(">Unsubscribe<");
  });
});
