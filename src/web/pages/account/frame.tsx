import type { Context } from "hono";
import type { Child } from "hono/jsx";

import { ACCESS } from "../../../db/schema/index.ts";
import type { WebEnv } from "../../env.ts";
import { accountPath } from "../addresses.ts";
import { Avatar, avatarPath } from "../avatar.tsx";
import { Field, Form } from "../layout.tsx";
import { type PageOptions, renderPage } from "../render-page.tsx";
import type { AccountPage } from "./enter.ts";

/** The parts of an account's page, in the order of their tabs. */
type AccountTab =
  | "overview"
  | "repositories"
  | "activity"
  | "stars"
  | "watching"
  | "followers"
  | "following"
  | "organizations"
  | "packages"
  | "members"
  | "teams"
  | "settings"
  | "cleanup";

/** How a page of an account is sent. */
interface AccountPageOptions extends Omit<PageOptions, "title" | "isPublic" | "meta" | "feeds"> {
  tab: AccountTab;
  /** The title, where it is not the account's name. */
  title?: string;
}

/** Sends a page of an account: who it is, its tabs, and the page below them. */
export function renderAccount(
  c: Context<WebEnv>,
  page: AccountPage,
  { tab, ...options }: AccountPageOptions,
  body: Child,
): Promise<Response> {
  const { ctx, account } = page;
  const { name, fullName, description, visibility } = account;
  const title = fullName === "" ? name : `${fullName} (${name})`;
  return renderPage(
    c,
    page,
    {
      title,
      isPublic: visibility === "public",
      meta: {
        url: ctx.rootUrl + accountPath(account),
        title,
        description,
        image: ctx.rootUrl + avatarPath(account),
      },
      feeds: [{ path: `${accountPath(account)}.atom`, title: `Activity of ${name}` }],
      ...options,
    },
    <>
      <Head page={page} />
      <Tabs page={page} tab={tab} />
      {body}
    </>,
  );
}

function Head({ page }: { page: AccountPage }) {
  const { account } = page;
  const { name, fullName, description, website, location, visibility, kind } = account;
  const path = accountPath(account);
  const isLink = /^https?:\/\//i.test(website);
  return (
    <div class="profile">
      <Avatar account={account} size={96} />
      <div class="grow">
        <h1>
          {fullName === "" ? name : fullName}{" "}
          {fullName === "" ? undefined : <span class="soft">{name}</span>}{" "}
          {kind === "organization" ? <span class="label">Organization</span> : undefined}{" "}
          {visibility === "public" ? undefined : (
            <span class="label">{visibility === "private" ? "Private" : "Limited"}</span>
          )}
        </h1>
        {description === "" ? undefined : <p>{description}</p>}
        <ul class="links soft">
          {location === "" ? undefined : <li>{location}</li>}
          {website === "" ? undefined : (
            <li>
              {isLink ? (
                <a href={website} rel="nofollow noopener me">
                  {website}
                </a>
              ) : (
                website
              )}
            </li>
          )}
          {kind === "user" ? (
            <>
              <li>
                <a href={`${path}?tab=followers`}>
                  {`${account.followerCount} follower${account.followerCount === 1 ? "" : "s"}`}
                </a>
              </li>
              <li>
                <a href={`${path}?tab=following`}>{`${account.followingCount} following`}</a>
              </li>
            </>
          ) : undefined}
        </ul>
      </div>
      <Relation page={page} />
    </div>
  );
}

/** The forms by which the reader follows and blocks the account. */
function Relation({ page: { ctx, account, facts, formToken } }: { page: AccountPage }) {
  const { user } = ctx.actor;
  if (!user || user.id === account.id) return <></>;
  const path = accountPath(account);
  const follow = facts.isFollowed
    ? ({ action: "unfollow", label: "Unfollow" } as const)
    : ({ action: "follow", label: "Follow" } as const);
  return (
    <div class="toggles">
      {facts.isBlocked ? undefined : (
        <Form action={path} formToken={formToken} class="inline">
          <input type="hidden" name="action" value={follow.action} />
          <button type="submit" class="small">
            {follow.label}
          </button>
        </Form>
      )}
      {account.kind === "user" ? <Block page={{ account, facts, formToken }} /> : undefined}
    </div>
  );
}

function Block({
  page: { account, facts, formToken },
}: {
  page: Pick<AccountPage, "account" | "facts" | "formToken">;
}) {
  const path = accountPath(account);
  if (facts.isBlocked) {
    return (
      <Form action={path} formToken={formToken} class="inline">
        <input type="hidden" name="action" value="unblock" />
        <button type="submit" class="small danger">
          Unblock
        </button>
      </Form>
    );
  }
  return (
    <details class="menu end">
      <summary class="button small">Block</summary>
      <div class="menu-body">
        <p class="hint">
          {`${account.name} will not be able to follow you, or to star, watch, fork or comment on what is yours.`}
        </p>
        <Form action={path} formToken={formToken}>
          <input type="hidden" name="action" value="block" />
          <Field label="Note for yourself" name="note" isOptional maxlength={250} />
          <button type="submit" class="small danger">
            {`Block ${account.name}`}
          </button>
        </Form>
      </div>
    </details>
  );
}

interface Tab {
  tab: AccountTab;
  label: string;
  path: string;
}

/** The tabs of an account that its reader may open. */
function tabsOf({ account, membership, facts, owner, ctx }: AccountPage): Tab[] {
  const path = accountPath(account);
  const part = (tab: AccountTab, label: string): Tab => ({
    tab,
    label,
    path: `${path}?tab=${tab}`,
  });
  const packages: Tab[] = ctx.config.packages.isOn
    ? [{ tab: "packages", label: "Packages", path: `${path}/-/packages` }]
    : [];
  const first = [
    ...(facts.profile ? [part("overview", "Overview")] : []),
    part("repositories", "Repositories"),
  ];
  if (account.kind === "user") {
    return [
      ...first,
      ...packages,
      part("activity", "Activity"),
      part("stars", "Stars"),
      part("watching", "Watching"),
      part("organizations", "Organizations"),
    ];
  }
  const below = `/org/${account.name}`;
  return [
    ...first,
    ...packages,
    part("activity", "Activity"),
    { tab: "members", label: "Members", path: `${below}/members` },
    ...(membership.isMember
      ? [{ tab: "teams" as const, label: "Teams", path: `${below}/teams` }]
      : []),
    ...(membership.isOwner
      ? [{ tab: "settings" as const, label: "Settings", path: `${below}/settings` }]
      : []),
    // Others than owners, who have them among the settings.
    ...(ctx.config.packages.isOn && !membership.isOwner && owner.access >= ACCESS.admin
      ? [{ tab: "cleanup" as const, label: "Cleanup rules", path: `${below}/settings/packages` }]
      : []),
  ];
}

function Tabs({ page, tab }: { page: AccountPage; tab: AccountTab }) {
  return (
    <nav aria-label={`Parts of ${page.account.name}`}>
      <ul class="tabs">
        {tabsOf(page).map((each) => (
          <li>
            <a href={each.path} aria-current={each.tab === tab ? "page" : undefined}>
              {each.label}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
