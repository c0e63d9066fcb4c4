import { Hono } from "hono";

import type { NotificationStatus } from "../../db/schema/index.ts";
import { findNotification } from "../../domain/issues/notifications/find-notification.ts";
import { listNotifications } from "../../domain/issues/notifications/list-notifications.ts";
import {
  markNotification,
  markNotifications,
} from "../../domain/issues/notifications/mark-notifications.ts";
import {
  NOTIFICATION_STATUSES,
  NOTIFICATION_SUBJECTS,
} from "../../domain/issues/notifications/notification-filter.ts";
import { notFound } from "../../lib/failure.ts";
import { type NotificationContext, toSubject } from "../../shapes/issues/notification-thread.ts";
import type { WebEnv } from "../env.ts";
import { repositoryPath } from "./addresses.ts";
import { Ago } from "./ago.tsx";
import { readForm } from "./form.ts";
import { Icon } from "./icon.tsx";
import { Form } from "./layout.tsx";
import { openOwnPage, type OwnPage } from "./open-page.ts";
import { Pager, readListPage } from "./pager.tsx";
import { readId } from "./read-id.ts";
import { redirectAfterWrite } from "./redirect-after-write.ts";
import { renderPage } from "./render-page.tsx";

const PATH = "/notifications";
const PAGE_SIZE = 20;

/** The tabs, with the statuses that each lists. */
const TABS: Readonly<Record<string, { label: string; statuses: readonly NotificationStatus[] }>> = {
  unread: { label: "Unread", statuses: ["unread", "pinned"] },
  read: { label: "Read", statuses: ["read"] },
};

/** The notifications of the reader. */
export const notificationPages = new Hono<WebEnv>();

notificationPages.get(PATH, async (c) => {
  const page = await openOwnPage(c);
  const { ctx, user } = page;
  const requested = c.req.query("type") ?? "";
  const tab = Object.hasOwn(TABS, requested) ? requested : "unread";
  const list = readListPage(c, PAGE_SIZE);
  const { statuses = [] } = TABS[tab] ?? {};
  const filter = { userId: user.id, statuses, subjects: NOTIFICATION_SUBJECTS };
  const { items, total } = await listNotifications(ctx, filter, list);
  return renderPage(
    c,
    page,
    { title: "Notifications" },
    <>
      <h1>Notifications</h1>
      <nav aria-label="Notifications">
        <ul class="tabs">
          {Object.entries(TABS).map(([name, { label }]) => (
            <li>
              <a href={`${PATH}?type=${name}`} aria-current={name === tab ? "page" : undefined}>
                {label}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {tab === "unread" && total > 0 ? (
        <Form action={`${PATH}/purge`} formToken={page.formToken} class="filters">
          <button type="submit" class="small">
            Mark all as read
          </button>
        </Form>
      ) : undefined}
      {total === 0 ? (
        <p class="soft">There is nothing here.</p>
      ) : (
        <List page={page} items={items} />
      )}
      <Pager url={c.req.url} page={list} total={total} />
    </>,
  );
});

notificationPages.post(`${PATH}/status`, async (c) => {
  const form = await readForm(c);
  const { ctx, user } = await openOwnPage(c);
  const { row } = await findNotification(ctx, readId(form.text("notification_id")));
  const status = NOTIFICATION_STATUSES.find((each) => each === form.text("status"));
  // Administrators find those of others, too.
  if (!status || row.userId !== user.id) throw notFound();
  await markNotification(ctx, row, status);
  return redirectAfterWrite(c, `${PATH}?type=${row.status === "read" ? "read" : "unread"}`);
});

notificationPages.post(`${PATH}/purge`, async (c) => {
  await readForm(c);
  const { ctx, user } = await openOwnPage(c);
  const filter = {
    userId: user.id,
    statuses: ["unread"] as const,
    subjects: NOTIFICATION_SUBJECTS,
  };
  await markNotifications(ctx, filter, "read");
  return redirectAfterWrite(c, PATH);
});

const ICONS: Readonly<Record<NotificationContext["row"]["subject"], string>> = {
  issue: "issue",
  pull: "pull",
  commit: "commit",
  repository: "book",
  release: "tag",
};

/** The other statuses that a notification may get, with the words of their buttons. */
const CHANGES: Readonly<
  Record<NotificationStatus, readonly (readonly [NotificationStatus, string])[]>
> = {
  unread: [
    ["read", "Mark as read"],
    ["pinned", "Pin"],
  ],
  read: [["unread", "Mark as unread"]],
  pinned: [["read", "Unpin"]],
};

function List({ page, items }: { page: OwnPage; items: readonly NotificationContext[] }) {
  return (
    <ul class="box commits">
      {items.map((item) => {
        const { row, repo } = item;
        const { title, html_url: path } = toSubject(item, { rootUrl: "" });
        return (
          <li>
            <div class="grow">
              <Icon name={ICONS[row.subject]} />
              <a href={path}>{title}</a>
              <div class="soft">
                <a href={repositoryPath(repo)}>{`${repo.owner.name}/${repo.row.name}`}</a>{" "}
                <Ago at={row.updatedAt} now={page.ctx.now} />
                {row.status === "pinned" ? ", pinned" : undefined}
              </div>
            </div>
            {CHANGES[row.status].map(([status, label]) => (
              <Form action={`${PATH}/status`} formToken={page.formToken} class="inline">
                <input type="hidden" name="notification_id" value={String(row.id)} />
                <input type="hidden" name="status" value={status} />
                <button type="submit" class="small">
                  {label}
                  <span class="hidden">{`: ${title}`}</span>
                </button>
              </Form>
            ))}
          </li>
        );
      })}
    </ul>
  );
}
