import { type Context, Hono } from "hono";

import type { NotificationStatus } from "../../db/schema/index.ts";
import { findNotification } from "../../domain/issues/notifications/find-notification.ts";
import { changeNotifiedSubscription } from "../../domain/issues/notifications/issue-subscriptions.ts";
import { listInbox } from "../../domain/issues/notifications/list-notifications.ts";
import type { NotifiedRepository } from "../../domain/issues/notifications/select-notified-repositories.ts";
import {
  markChosenNotifications,
  markNotification,
  markNotifications,
} from "../../domain/issues/notifications/mark-notifications.ts";
import {
  NOTIFICATION_STATUSES,
  NOTIFICATION_SUBJECTS,
  type NotificationSubjectKind,
} from "../../domain/issues/notifications/notification-filter.ts";
import { notFound } from "../../lib/failure.ts";
import { entryHtmlUrlOf } from "../../shapes/issues/comment.ts";
import { type NotificationContext, toSubject } from "../../shapes/issues/notification-thread.ts";
import type { WebEnv } from "../env.ts";
import { repositoryPath } from "./addresses.ts";
import { Ago } from "./ago.tsx";
import { type Form as SentForm, readForm } from "./form.ts";
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
const TABS = {
  unread: { label: "Unread", statuses: ["unread", "pinned"] },
  read: { label: "Read", statuses: ["read"] },
  pinned: { label: "Pinned", statuses: ["pinned"] },
} as const satisfies Record<string, { label: string; statuses: readonly NotificationStatus[] }>;

/** The kinds of subjects that notifications are about. */
const SUBJECTS = { issue: "Issues", pull: "Pull requests", release: "Releases" } as const;

/** What a page lists, by the names of its parameters. */
interface Shown {
  type: keyof typeof TABS;
  /** All kinds, if undefined. */
  subject: keyof typeof SUBJECTS | undefined;
  /** The id of a repository; all, if undefined. */
  repo: number | undefined;
}

/** What a query, or a form of the page, asks for; anything else than it knows asks for nothing. */
function readShown(valueOf: (name: string) => string): Shown {
  const [type, subject, repo] = ["type", "subject", "repo"].map(valueOf);
  return {
    type: keyIn(TABS, type) ?? "unread",
    subject: keyIn(SUBJECTS, subject),
    repo: /^[1-9]\d{0,14}$/.test(repo ?? "") ? Number(repo) : undefined,
  };
}

const keyIn = <T extends object>(object: T, name = ""): keyof T | undefined =>
  Object.hasOwn(object, name) ? (name as keyof T) : undefined;

const shownIn = (c: Context): Shown => readShown((name) => c.req.query(name) ?? "");

const subjectsOf = ({ subject }: Shown): readonly NotificationSubjectKind[] =>
  subject === undefined ? NOTIFICATION_SUBJECTS : [subject];

/** The parameters that ask for a list, without those that are usual. */
const parametersOf = ({ type, subject, repo }: Shown): [name: string, value: string][] => [
  ...(type === "unread" ? [] : [["type", type] as [string, string]]),
  ...(subject === undefined ? [] : [["subject", subject] as [string, string]]),
  ...(repo === undefined ? [] : [["repo", String(repo)] as [string, string]]),
];

function addressOf(shown: Shown): string {
  const query = new URLSearchParams(parametersOf(shown)).toString();
  return query === "" ? PATH : `${PATH}?${query}`;
}

/** Leads from a form to the list that has it. */
const backToList = (c: Context<WebEnv>, form: SentForm): Response =>
  redirectAfterWrite(c, addressOf(readShown((name) => form.text(name))));

/** The notifications of the reader. */
export const notificationPages = new Hono<WebEnv>();

notificationPages.get(PATH, async (c) => {
  const page = await openOwnPage(c);
  const { ctx, user, formToken } = page;
  const shown = shownIn(c);
  const list = readListPage(c, PAGE_SIZE);
  const { statuses } = TABS[shown.type];
  const filter = { userId: user.id, repoId: shown.repo, statuses, subjects: subjectsOf(shown) };
  const { items, total, repos } = await listInbox(ctx, filter, list);
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
              <a
                href={addressOf({ ...shown, type: name as keyof typeof TABS })}
                aria-current={name === shown.type ? "page" : undefined}
              >
                {label}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <Filters shown={shown} repos={repos} />
      {total === 0 ? (
        <p class="soft">There is nothing here.</p>
      ) : (
        <>
          <div class="filters">
            <ChosenForm shown={shown} formToken={formToken} />
            {shown.type === "unread" ? (
              <Form action={`${PATH}/purge`} formToken={formToken} class="inline">
                <ShownFields shown={shown} />
                <button type="submit" class="small">
                  Mark all as read
                </button>
              </Form>
            ) : undefined}
          </div>
          <List page={page} items={items} shown={shown} />
        </>
      )}
      <Pager url={c.req.url} page={list} total={total} />
    </>,
  );
});

/** Marks the notification that a form names, or else those that are chosen in it. */
notificationPages.post(`${PATH}/status`, async (c) => {
  const form = await readForm(c);
  const { ctx, user } = await openOwnPage(c);
  const status = NOTIFICATION_STATUSES.find((each) => each === form.text("status"));
  if (!status) throw notFound();
  const named = form.text("notification_id");
  if (named === "") {
    const ids = form.namesWith(CHOSEN).map((name) => readId(name.slice(CHOSEN.length)));
    await markChosenNotifications(ctx, user, ids, status);
    return backToList(c, form);
  }
  const { row } = await findNotification(ctx, readId(named));
  // Administrators find those of others, too.
  if (row.userId !== user.id) throw notFound();
  await markNotification(ctx, row, status);
  return backToList(c, form);
});

notificationPages.post(`${PATH}/subscription`, async (c) => {
  const form = await readForm(c);
  const { ctx, user } = await openOwnPage(c);
  const id = readId(form.text("notification_id"));
  await changeNotifiedSubscription(ctx, user, id, form.isSet("subscribed"));
  return backToList(c, form);
});

notificationPages.post(`${PATH}/purge`, async (c) => {
  const form = await readForm(c);
  const { ctx, user } = await openOwnPage(c);
  const shown = readShown((name) => form.text(name));
  const filter = {
    userId: user.id,
    repoId: shown.repo,
    statuses: ["unread"] as const,
    subjects: subjectsOf(shown),
  };
  await markNotifications(ctx, filter, "read");
  return backToList(c, form);
});

interface FiltersProps {
  shown: Shown;
  repos: readonly NotifiedRepository[];
}

function Filters({ shown: { type, subject, repo }, repos }: FiltersProps) {
  return (
    <form class="filters" action={PATH}>
      <input type="hidden" name="type" value={type} />
      <span class="pair">
        <label for="subject">About</label>
        <select id="subject" name="subject">
          <option value="">Everything</option>
          {Object.entries(SUBJECTS).map(([name, label]) => (
            <option value={name} selected={name === subject}>
              {label}
            </option>
          ))}
        </select>
      </span>
      <span class="pair">
        <label for="repo">In</label>
        <select id="repo" name="repo">
          <option value="">All repositories</option>
          {repos.map(({ id, ownerName, name, count }) => (
            <option value={String(id)} selected={id === repo}>
              {`${ownerName}/${name} (${count})`}
            </option>
          ))}
        </select>
      </span>
      <button type="submit">Filter</button>
    </form>
  );
}

/** The list to which a form leads back. */
function ShownFields({ shown }: { shown: Shown }) {
  return parametersOf(shown).map(([name, value]) => (
    <input type="hidden" name={name} value={value} />
  ));
}

const CHOSEN_FORM = "chosen";
/** The beginning of the names of the checkboxes of that form. */
const CHOSEN = "notification-";

/** The form for the notifications whose checkboxes are set. */
function ChosenForm({ shown, formToken }: { shown: Shown; formToken: string }) {
  const changes = [
    ["read", shown.type === "pinned" ? "Unpin chosen" : "Mark chosen as read"],
    ["unread", "Mark chosen as unread"],
    ["pinned", "Pin chosen"],
  ] as const;
  return (
    <Form action={`${PATH}/status`} formToken={formToken} id={CHOSEN_FORM} class="toggles">
      <ShownFields shown={shown} />
      {changes
        .filter(([status]) => status !== shown.type)
        .map(([status, label]) => (
          <button type="submit" class="small" name="status" value={status}>
            {label}
          </button>
        ))}
    </Form>
  );
}

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

interface ListProps {
  page: OwnPage;
  items: readonly NotificationContext[];
  shown: Shown;
}

function List({ items, ...props }: ListProps) {
  return (
    <ul class="box commits">
      {items.map((item) => (
        <Item item={item} {...props} />
      ))}
    </ul>
  );
}

/** The path of what a notification is about: the comment that it reports, if there is one. */
function pathOf({ row, repo, issue }: NotificationContext, subjectPath: string): string {
  if (!issue || row.entryId === null) return subjectPath;
  return entryHtmlUrlOf({ repo, row: issue }, row.entryId, { rootUrl: "" });
}

type ItemProps = Omit<ListProps, "items"> & { item: NotificationContext };

function Item({ page: { ctx, formToken }, item, shown }: ItemProps) {
  const { row, repo, isUnsubscribed } = item;
  const { title, html_url: path } = toSubject(item, { rootUrl: "" });
  const id = String(row.id);
  return (
    <li>
      <input
        type="checkbox"
        form={CHOSEN_FORM}
        name={CHOSEN + id}
        value="on"
        aria-label={`Choose ${title}`}
      />
      <div class="grow">
        <Icon name={ICONS[row.subject]} />
        <a href={pathOf(item, path)}>{title}</a>
        <div class="soft">
          <a href={repositoryPath(repo)}>{`${repo.owner.name}/${repo.row.name}`}</a>{" "}
          <Ago at={row.updatedAt} now={ctx.now} />
          {row.status === "pinned" ? ", pinned" : undefined}
          {isUnsubscribed ? ", unsubscribed" : undefined}
        </div>
      </div>
      <div class="toggles">
        {CHANGES[row.status].map(([status, label]) => (
          <Form action={`${PATH}/status`} formToken={formToken} class="inline">
            <ShownFields shown={shown} />
            <input type="hidden" name="notification_id" value={id} />
            <input type="hidden" name="status" value={status} />
            <button type="submit" class="small">
              {label}
              <span class="hidden">{`: ${title}`}</span>
            </button>
          </Form>
        ))}
        {item.issue ? (
          <Form action={`${PATH}/subscription`} formToken={formToken} class="inline">
            <ShownFields shown={shown} />
            <input type="hidden" name="notification_id" value={id} />
            {isUnsubscribed ? <input type="hidden" name="subscribed" value="on" /> : undefined}
            <button type="submit" class="small">
              {isUnsubscribed ? "Subscribe" : "Unsubscribe"}
              <span class="hidden">{`: ${title}`}</span>
            </button>
          </Form>
        ) : undefined}
      </div>
    </li>
  );
}
