import { and, eq, type SQL, sql } from "drizzle-orm";

import { isBlockedBy } from "../../../auth/access/blocks.ts";
import { isAllowed } from "../../../auth/access/permission.ts";
import { ANONYMOUS, type Actor } from "../../../auth/actor.ts";
import { callerSql } from "../../../auth/caller-sql.ts";
import { ALL_SCOPES } from "../../../auth/scope.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { qualified } from "../../../db/db.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import {
  emailAddresses,
  events,
  issues,
  issueSubscriptions,
  type mails,
  repositories,
  users,
  type EventRow,
  type Issue,
  type MailReason,
  type User,
} from "../../../db/schema/index.ts";
import { escapeHtml } from "../../../render/html.ts";
import { renderMarkup } from "../../../render/markup.ts";
import type { Mail } from "../../../outgoing/mailer.ts";
import { entryHtmlUrlOf } from "../../../shapes/issues/comment.ts";
import { issueHtmlUrlOf } from "../../../shapes/issues/issue.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { unitOf } from "../issue/find-issue.ts";
import { selectRepositories, toRepositoryContext } from "../../repos/repository/find-repository.ts";
import { selectEventTexts } from "./event-texts.ts";
import { makeUnsubscribeCode } from "./unsubscribe-code.ts";

/** A queued mail of a notification. */
export type QueuedNotification = typeof mails.$inferSelect & {
  readonly issueId: number;
  readonly eventId: number;
};

/** The content of a mail, as its reader may see it now. */
interface MailContext {
  readonly reader: User;
  readonly issue: Issue;
  readonly repo: RepositoryContext;
  readonly event: EventRow;
  readonly doer: User | undefined;
  /** The comment; or the text of a review, and its comments on code. */
  readonly texts: readonly { readonly id: number; readonly body: string }[];
  readonly reason: MailReason;
}

/**
 * Writes the mail of a notification.
 *
 * SECURITY: everything is read when the mail is sent, so that no mail has an issue that its reader
 * has lost access to, a comment that was deleted, or a text that was edited. No mail has addresses
 * of users.
 *
 * @returns Undefined if the mail is obsolete.
 */
export async function writeNotificationMail(
  ctx: Ctx,
  queued: QueuedNotification,
): Promise<Omit<Mail, "from"> | undefined> {
  const found = await findMailContext(ctx, queued);
  if (!found) return undefined;
  const { address, context } = found;
  const { reader, issue, repo, event, doer, texts } = context;
  const [comment] = texts;
  const rootUrl = ctx.config.publicUrl || event.rootUrl;
  const fullName = `${repo.owner.name}/${repo.row.name}`;
  const names = { repo, row: issue };
  const viewer = { userId: undefined, isSiteAdmin: false, rootUrl, noReplyDomain: "" };
  const url = comment ? entryHtmlUrlOf(names, comment.id, viewer) : issueHtmlUrlOf(names, viewer);
  const code = await makeUnsubscribeCode(ctx.config, { userId: reader.id, issueId: issue.id });
  const unsubscribeUrl = `${rootUrl}/user/unsubscribe?code=${encodeURIComponent(code)}`;
  const summary = `${doer?.name ?? "Ghost"} ${actionOf(context)} in ${fullName}#${issue.number}:`;
  const body = event.type === "issue.opened" ? issue.body : joined(texts);
  const thing = thingOf(issue);
  const why = `You receive this because ${REASONS[context.reason](thing)}.`;
  const html = body === "" ? "" : await render(body, rootUrl, repo);
  const host = new URL(rootUrl).host;
  const threadId = `repositories/${repo.row.id}/issues/${issue.number}`;
  return {
    to: address,
    subject: toLine(`[${fullName}] ${issue.title} (#${issue.number})`),
    text: `${summary}

${issue.title}
${body === "" ? "" : `\n${body}\n`}
--\x20
${url}
${why} Unsubscribe from this ${thing}: ${unsubscribeUrl}
`,
    html: `<p>${escapeHtml(summary)}</p>
<p><strong>${escapeHtml(issue.title)}</strong></p>
${html}
<hr>
<p><small><a href="${escapeHtml(url)}">View it on ${escapeHtml(ctx.config.appName)}</a>. ${why}
<a href="${escapeHtml(unsubscribeUrl)}">Unsubscribe from this ${thing}</a>.</small></p>
`,
    thread: {
      rootId: `<${threadId}@${host}>`,
      messageId:
        event.type === "issue.opened"
          ? `<${threadId}@${host}>`
          : `<${threadId}/${comment ? `comments/${comment.id}` : `events/${event.id}`}@${host}>`,
    },
    headers: {
      "List-Id": `${fullName} <${repo.row.name}.${repo.owner.name}.${new URL(rootUrl).hostname}>`,
      "List-Unsubscribe": `<${unsubscribeUrl}>`,
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
      "X-Gitea-Reason": context.reason,
    },
  };
}

const joined = (texts: MailContext["texts"]): string =>
  texts
    .map(({ body }) => body)
    .filter((body) => body !== "")
    .join("\n\n");

const thingOf = ({ isPull }: Issue): string => (isPull ? "pull request" : "issue");

const REVIEW_ACTIONS: Readonly<Record<string, string>> = {
  approved: "approved the pull request",
  request_changes: "requested changes to the pull request",
};

function actionOf({ event: { type, payload }, issue }: MailContext): string {
  const thing = thingOf(issue);
  switch (type) {
    case "issue.opened":
      return issue.isPull ? "opened a pull request" : "opened an issue";
    case "issue.closed":
      return `closed the ${thing}`;
    case "issue.reopened":
      return `reopened the ${thing}`;
    case "issue.assigned":
      return `assigned you to the ${thing}`;
    case "comment.created":
      return "commented";
    case "pull.merged":
      return "merged the pull request";
    case "pull.synchronized":
      return "pushed to the pull request";
    case "pull.dequeued": {
      const reason = String(payload["reason"]).replaceAll("_", " ");
      return `made the pull request leave the merge queue (${reason})`;
    }
    case "pull.ready":
      return "marked the pull request as ready for review";
    case "pull.merge_scheduled":
      return "scheduled the merge of the pull request for when its checks succeed";
    case "review.dismissed":
      return "dismissed a review of the pull request";
    case "pull.review_requested":
      return "asked you to review the pull request";
    case "review.submitted":
      return REVIEW_ACTIONS[String(payload["state"])] ?? "reviewed the pull request";
    default:
      return "changed this";
  }
}

const REASONS: Readonly<Record<MailReason, (thing: string) => string>> = {
  subscribed: (thing) => `you watch the repository, take part in the ${thing} or subscribed to it`,
  mention: () => "you were mentioned",
  assign: (thing) => `the ${thing} was assigned to you`,
  review_request: () => "you, or a team of yours, were asked for a review",
};

/** SECURITY: a line break in a title would begin another header. */
const toLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim();

/** SECURITY: references stay text, so that no mail reveals which issues, users or commits exist. */
const render = (text: string, rootUrl: string, { owner, row }: RepositoryContext) =>
  renderMarkup(text, {
    mode: "comment",
    rootUrl,
    repo: { owner: owner.name, name: row.name },
  });

/** Finds the content and the address of a mail; undefined if it is obsolete. */
async function findMailContext(
  { db }: Ctx,
  { userId, issueId, eventId, reason }: QueuedNotification,
): Promise<{ address: string; context: MailContext } | undefined> {
  if (userId === null || !reason) return undefined;
  const {
    readers: [reader],
    addresses: [address],
    issues: [issue],
    repos: [repoRow],
    events: [event],
    doers: [doer],
    texts,
    choices: [choice],
  } = await batch(db, mailRows(db, { userId, issueId, eventId }));
  if (!reader || !address || !issue || !repoRow || !event) return undefined;
  if (!reader.isActive || reader.isLoginProhibited) return undefined;
  const isOfText = event.type === "comment.created" || event.type === "review.submitted";
  if (isOfText && texts.length === 0) return undefined;
  const repo = toRepositoryContext(actorOf(reader), repoRow);
  if (!isAllowed(repo, { unit: unitOf(issue), mode: "read" })) return undefined;
  if (!isMailAllowed(reader, reason, event)) return undefined;
  if (choice?.isBlocking === 1) return undefined;
  if (reason === "subscribed" && choice?.isSubscribed === 0) return undefined;
  return { address: address.email, context: { reader, issue, repo, event, doer, texts, reason } };
}

const actorOf = (user: User): Actor => ({
  ...ANONYMOUS,
  user,
  isSiteAdmin: user.isAdmin,
  credential: "system",
  scopes: ALL_SCOPES,
});

interface MailIds {
  readonly userId: number;
  readonly issueId: number;
  readonly eventId: number;
}

/** The rows of a mail, with the repository as the reader may see it now. */
const mailRows = prepareAll((db, { userId, issueId, eventId }: Params<MailIds>) => {
  const ofEvent = (type: EventRow["type"], field: "commentId" | "reviewId"): SQL => sql`(
    select ${events.payload} ->> ${sql.raw(`'${field}'`)}
    from ${events}
    where ${events.id} = ${eventId} and ${events.type} = ${type}
  )`;
  const doerId = sql`(select ${events.actorId} from ${events} where ${events.id} = ${eventId})`;
  return {
    readers: db.select().from(users).where(eq(users.id, userId)),
    addresses: db
      .select({ email: emailAddresses.email })
      .from(emailAddresses)
      .where(
        and(
          eq(emailAddresses.userId, userId),
          eq(emailAddresses.isPrimary, true),
          eq(emailAddresses.isActivated, true),
        ),
      ),
    issues: db.select().from(issues).where(eq(issues.id, issueId)),
    repos: selectRepositories(db, { ...callerSql(ANONYMOUS), actorId: userId }).where(
      sql`${repositories.id} = (
        select ${issues.repoId} from ${issues} where ${issues.id} = ${issueId}
      )`,
    ),
    events: db.select().from(events).where(eq(events.id, eventId)),
    doers: db
      .select()
      .from(users)
      .where(sql`${users.id} = ${doerId}`),
    texts: selectEventTexts(db, issueId, {
      commentId: ofEvent("comment.created", "commentId"),
      reviewId: ofEvent("review.submitted", "reviewId"),
    }),
    choices: db
      .select({
        isSubscribed: qualified<number | null>(sql`(
          select ${issueSubscriptions.isSubscribed}
          from ${issueSubscriptions}
          where ${issueSubscriptions.userId} = ${userId}
            and ${issueSubscriptions.issueId} = ${issueId}
        )`).as("is_subscribed"),
        isBlocking: sql<number>`${isBlockedBy(doerId, userId)}`.as("is_blocking"),
      })
      .from(sql`(select 1)`),
  };
});

/** Whether the present settings of a user allow the mail. */
function isMailAllowed(
  { id, emailNotifications }: User,
  reason: MailReason,
  event: EventRow,
): boolean {
  if (emailNotifications === "andyourown") return true;
  if (event.actorId === id || emailNotifications === "disabled") return false;
  return emailNotifications === "enabled" || reason !== "subscribed";
}
