import { and, eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  blocks,
  collaborations,
  emailAddresses,
  events,
  issueSubscriptions,
  mails,
  users,
  type Issue,
  type User,
} from "../../../../src/db/schema/index.ts";
import { queueMail } from "../../../../src/domain/people/mail/queue-mail.ts";
import {
  sendAllDueMails,
  sendDueMails,
} from "../../../../src/domain/operations/mail-delivery/send-due-mails.ts";
import { notify } from "../../../../src/domain/issues/notifications/notify.ts";
import type { RecordedEvent } from "../../../../src/events/consequence.ts";
import { only } from "../../../../src/lib/only.ts";
import { WorkBudget } from "../../../../src/lib/work-budget.ts";
import { Browser } from "../../../support/browser.ts";
import { db } from "../../../support/db.ts";
import { makeComment, makeIssue } from "../../../support/issues.ts";
import { MAIL_SETTINGS, Mailbox, serviceWithMail } from "../../../support/mails.ts";
import { make, type TestUser } from "../../../support/make.ts";
import { makeWatch } from "../../../support/notifications.ts";
import { systemCtx } from "../../../support/system.ts";

const NOW = 1_700_000_000_000;
const ROOT = "https://forge.example";

/** A private repository with a reader who watches it, and an issue by a writer. */
async function makeScene(text = "some `code` for **you**") {
  const [owner, doer, reader] = [await make.user(), await make.user(), await make.user()];
  const repo = await make.repo(owner, { isPrivate: true, visibility: "private" });
  for (const user of [doer, reader]) await make.collaborator(repo, user, 2);
  await makeWatch(reader, repo);
  const issue = await makeIssue(repo, { posterId: doer.id, body: text });
  return { owner, doer, reader, repo, issue };
}

/** Stores an event of an issue and draws its notifications, whose mails wait then. */
async function happen(
  issue: Issue,
  type: "issue.opened" | "issue.closed" | "comment.created",
  by: Pick<User, "id">,
  commentId?: number,
) {
  const { id: issueId, repoId, number, isPull } = issue;
  const payload = { issueId, number, isPull, ...(commentId !== undefined && { commentId }) };
  const row = { type, actorId: by.id, ownerId: 1, repoId, payload, createdAt: NOW, rootUrl: "" };
  const { id } = only(await db.insert(events).values(row).returning());
  const event = { ...payload, type, ownerId: 1, repoId };
  const recorded = { id, actorId: by.id, createdAt: NOW, event } as unknown as RecordedEvent;
  const budget = new WorkBudget(NOW, { ms: 60_000, statements: 100 });
  await notify.handle(ctxWith({}), recorded, budget, undefined);
  return id;
}

const ctxWith = (bindings: { MAIL?: Mailbox }) =>
  systemCtx(bindings, NOW, { ...MAIL_SETTINGS, ROOT_URL: ROOT });

const waiting = (issue: Issue) => db.select().from(mails).where(eq(mails.issueId, issue.id));

/** Sends what waits, and returns the mails to a user. */
async function sentTo({ email }: TestUser) {
  const mailbox = new Mailbox();
  await sendAllDueMails(ctxWith({ MAIL: mailbox }));
  return mailbox.to(email);
}

const commentBy = async (issue: Issue, poster: TestUser, body = "a *comment*") => {
  const { id } = await makeComment(issue, { posterId: poster.id, body });
  await happen(issue, "comment.created", poster, id);
  return id;
};

describe("the mail of a notification", () => {
  it("describes the event in text and HTML, with the headers of its thread", async () => {
    const { doer, reader, repo, issue } = await makeScene();
    await happen(issue, "issue.opened", doer);
    const id = await commentBy(issue, doer);
    const [opened, commented] = await sentTo(reader);
    const fullName = `${repo.owner}/${repo.name}`;
    const url = `${ROOT}/${fullName}/issues/${issue.number}`;
    const subject = `[${fullName}] ${issue.title} (#${issue.number})`;
    const rootId = `<repositories/${repo.id}/issues/${issue.number}@forge.example>`;

    expect(opened).toMatchObject({ from: MAIL_SETTINGS.MAIL_FROM, to: reader.email, subject });
    expect(opened?.text).toContain(`${doer.name} opened an issue in ${fullName}#1:`);
    expect(opened?.text).toContain("some `code` for **you**");
    expect(opened?.text).toContain(`\n-- \n${url}\n`);
    expect(opened?.html).toContain("<code>code</code> for <strong>you</strong>");
    expect(opened?.headers).toMatchObject({
      "In-Reply-To": rootId,
      References: rootId,
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
      "X-Gitea-Reason": "subscribed",
    });
    // The platform refuses a mail with an id of its own.
    expect(Object.keys(opened?.headers ?? {})).not.toContain("Message-ID");

    expect(commented).toMatchObject({ subject });
    expect(commented?.text).toContain(`${url}?entry=${id}#issuecomment-${id}\n`);
    expect(commented?.html).toContain("a <em>comment</em>");
    expect(await waiting(issue)).toEqual([]);
  });

  // SECURITY: addresses are nobody else's, and a title must not end its header.
  it("contains no address of a user, no script, and no line break in a header", async () => {
    const { doer, reader, repo, issue } = await makeScene("<script>alert(1)</script> **x**");
    await db.run(sql`
      update issues set title = ${"<b>a</b>\r\nBcc: all@example.org\u2028x"} where id = ${issue.id}`);
    await happen(issue, "issue.opened", doer);
    const mail = only(await sentTo(reader));
    for (const part of [mail.text, mail.html ?? "", JSON.stringify(mail.headers)]) {
      expect(part).not.toContain(doer.email);
    }
    expect(mail.html).not.toContain("<script");
    expect(mail.html).not.toContain("<b>a</b>");
    expect(mail.subject).toBe(`[${repo.owner}/${repo.name}] <b>a</b> Bcc: all@example.org x (#1)`);
    for (const value of Object.values(mail.headers ?? {})) expect(value).not.toMatch(/[\r\n]/);
  });

  it("has the text of the moment when it is sent", async () => {
    const { doer, reader, issue } = await makeScene();
    const id = await commentBy(issue, doer, "a secret by mistake");
    await db.run(sql`update timeline_entries set body = 'nothing' where id = ${id}`);
    const mail = only(await sentTo(reader));
    expect(mail.text).toContain("nothing");
    expect(mail.text + mail.html).not.toContain("secret");
  });
});

// SECURITY: minutes or hours may pass before a mail leaves.
describe("a mail that waits is dropped, not sent, once its reader", () => {
  type Scene = Awaited<ReturnType<typeof makeScene>>;
  const is = ({ reader }: Scene) => eq(users.id, reader.id);
  it.each<[string, (scene: Scene, commentId: number) => Promise<unknown>]>([
    [
      "has lost access",
      ({ repo, reader }) =>
        db
          .delete(collaborations)
          .where(and(eq(collaborations.repoId, repo.id), eq(collaborations.userId, reader.id))),
    ],
    [
      "wants no mail",
      (scene) => db.update(users).set({ emailNotifications: "disabled" }).where(is(scene)),
    ],
    [
      "wants mail of mentions only",
      (scene) => db.update(users).set({ emailNotifications: "onmention" }).where(is(scene)),
    ],
    ["is inactive", (scene) => db.update(users).set({ isActive: false }).where(is(scene))],
    [
      "may not sign in",
      (scene) => db.update(users).set({ isLoginProhibited: true }).where(is(scene)),
    ],
    [
      "has no confirmed address",
      ({ reader }) =>
        db
          .update(emailAddresses)
          .set({ isActivated: false })
          .where(eq(emailAddresses.userId, reader.id)),
    ],
    [
      "has unsubscribed",
      ({ issue, reader }) =>
        db.insert(issueSubscriptions).values({
          issueId: issue.id,
          userId: reader.id,
          isSubscribed: false,
          updatedAt: NOW,
        }),
    ],
    [
      "blocks who did it",
      ({ doer, reader }) =>
        db.insert(blocks).values({ blockerId: reader.id, blockedId: doer.id, createdAt: NOW }),
    ],
    [
      "could see a comment that is deleted",
      (_, id) => db.run(sql`delete from timeline_entries where id = ${id}`),
    ],
    [
      "could see an issue that is deleted",
      ({ issue }) => db.run(sql`delete from issues where id = ${issue.id}`),
    ],
  ])("%s", async (_, change) => {
    const scene = await makeScene();
    const id = await commentBy(scene.issue, scene.doer);
    expect((await waiting(scene.issue)).map(({ userId }) => userId)).toEqual([scene.reader.id]);
    await change(scene, id);
    expect(await sentTo(scene.reader)).toEqual([]);
    expect(await waiting(scene.issue)).toEqual([]);
  });
});

describe("the outbox", () => {
  it("goes to the address of the moment", async () => {
    const { doer, reader, issue } = await makeScene();
    await commentBy(issue, doer);
    const email = `new-${reader.email}`;
    await db
      .update(emailAddresses)
      .set({ email, lowerEmail: email })
      .where(eq(emailAddresses.userId, reader.id));
    expect(await sentTo({ ...reader, email })).toHaveLength(1);
  });

  it("sends a mail that somebody waits for before all notifications", async () => {
    const { doer, reader, repo, issue } = await makeScene();
    for (let count = 0; count < 25; count++) {
      const user = await make.user();
      await make.collaborator(repo, user, 1);
      await makeWatch(user, repo);
    }
    await commentBy(issue, doer);
    const ctx = ctxWith({});
    const link = { userId: reader.id, address: "waiting@example.org", subject: "a", text: "b" };
    for (const statement of await queueMail(ctx, link)) await statement;
    const mailbox = new Mailbox();
    expect(await sendDueMails(ctxWith({ MAIL: mailbox }))).toBe(true);
    expect(mailbox.to("waiting@example.org")).toHaveLength(1);
    expect(await waiting(issue)).not.toEqual([]);
    await sendAllDueMails(ctxWith({ MAIL: mailbox }));
    expect(await waiting(issue)).toEqual([]);
    const sent = mailbox.mails.filter(({ subject }) => subject.includes(`/${repo.name}]`));
    expect(sent).toHaveLength(26);
  });

  it("keeps a mail that is refused for a later attempt", async () => {
    const { doer, issue } = await makeScene();
    await commentBy(issue, doer);
    const mailbox = new Mailbox();
    mailbox.isBroken = true;
    await sendAllDueMails(ctxWith({ MAIL: mailbox }));
    expect(await waiting(issue)).toMatchObject([{ attempts: 1 }]);
    await db.delete(mails).where(eq(mails.issueId, issue.id));
  });
});

describe("the link to unsubscribe", () => {
  const { visit } = serviceWithMail();
  const choiceOf = async (issue: Issue, { id }: TestUser) =>
    (
      await db
        .select({ isSubscribed: issueSubscriptions.isSubscribed })
        .from(issueSubscriptions)
        .where(and(eq(issueSubscriptions.issueId, issue.id), eq(issueSubscriptions.userId, id)))
    ).map(({ isSubscribed }) => isSubscribed);

  async function mailedLink() {
    const scene = await makeScene();
    await commentBy(scene.issue, scene.doer);
    const { headers, text, html } = only(await sentTo(scene.reader));
    const url = /^<(.*)>$/.exec(headers?.["List-Unsubscribe"] ?? "")?.[1] ?? "";
    expect(text).toContain(url);
    expect(html).toContain(url.replaceAll("&", "&amp;"));
    return { ...scene, path: url.replace(ROOT, "") };
  }

  it("works without signing in, in one step, as often as it is sent", async () => {
    const { issue, reader, path } = await mailedLink();
    for (let count = 0; count < 2; count++) {
      const answer = await visit("POST", path, {
        headers: { "Content-Type": "application/x-www-form-urlencoded" },
        body: "List-Unsubscribe=One-Click",
      });
      expect(answer.status).toBe(200);
      expect(answer.body).toContain("You are unsubscribed");
      expect(answer.body).not.toContain(issue.title);
    }
    expect(await choiceOf(issue, reader)).toEqual([false]);
  });

  // Programs that check the links of mails request them.
  it("changes nothing when it is only requested, and shows a form", async () => {
    const { issue, reader, path } = await mailedLink();
    const browser = new Browser(visit);
    const page = await browser.get(path);
    expect(page.status).toBe(200);
    expect(page.body).toContain('<form method="post"');
    expect(page.body).not.toContain(issue.title);
    expect(await choiceOf(issue, reader)).toEqual([]);
  });

  it("is refused if it is not the service's own, and changes nothing", async () => {
    const { issue, reader, path } = await mailedLink();
    const changed = path.slice(0, -9) + (path.endsWith("AAAAAA") ? "BBBBBB" : "AAAAAA");
    for (const each of [changed, "/user/unsubscribe", "/user/unsubscribe?code=1.test.AAAA"]) {
      for (const method of ["GET", "POST"]) {
        expect(await visit(method, each), each).toMatchObject({ status: 404 });
      }
    }
    expect(await choiceOf(issue, reader)).toEqual([]);
  });

  it("of an issue that is deleted still answers", async () => {
    const { issue, path } = await mailedLink();
    await db.run(sql`delete from issues where id = ${issue.id}`);
    expect(await visit("POST", path)).toMatchObject({ status: 200 });
  });
});
