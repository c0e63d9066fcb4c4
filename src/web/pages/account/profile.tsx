import { type Context, Hono } from "hono";
import type { Child } from "hono/jsx";

import type { User } from "../../../db/schema/index.ts";
import { listFollowers, listFollowing } from "../../../domain/people/accounts/list-accounts.ts";
import { listStarred } from "../../../domain/repos/repository/list-stars-and-watches.ts";
import { ALL_REPOSITORIES } from "../../../domain/repos/repository/repository-query.ts";
import { searchRepositories } from "../../../domain/repos/repository/search-repositories.ts";
import { enterAccount } from "../../../entrance/enter-account.ts";
import type { WebEnv } from "../../env.ts";
import { AccountList } from "../account-list.tsx";
import { accountPath } from "../addresses.ts";
import { Avatar } from "../avatar.tsx";
import { type Page, readerRequest, toPublicPage } from "../open-page.ts";
import { type ListPage, Pager, readListPage } from "../pager.tsx";
import { readSearchText } from "../read-search-text.ts";
import { renderPage } from "../render-page.tsx";
import { RepositoryList } from "../repository-list.tsx";

const PAGE_SIZE = 20;

/** A page of an account, with its reader. */
interface AccountPage extends Page {
  account: User;
}

/** The part of an account's page that a tab shows, and how many items it has. */
type ShowPart = (
  page: AccountPage,
  text: string,
  list: ListPage,
) => Promise<{ body: Child; total: number }>;

const showRepositories: ShowPart = async ({ ctx, account }, text, list) => {
  const query = {
    ...ALL_REPOSITORIES,
    text,
    isDescriptionSearched: true,
    ownerId: account.id,
    isExclusive: true,
  };
  const { items, total } = await searchRepositories(ctx, query, list);
  const body = (
    <>
      <form class="filters" action={accountPath(account)}>
        <input
          type="search"
          name="q"
          value={text}
          aria-label="Search repositories of the account"
        />
        <button type="submit">Search</button>
      </form>
      <RepositoryList repositories={items} now={ctx.now} empty="No repository was found." />
    </>
  );
  return { body, total };
};

const showStars: ShowPart = async ({ ctx, account }, _text, list) => {
  const { items, total } = await listStarred(ctx, account, list);
  const body = (
    <RepositoryList repositories={items} now={ctx.now} empty="There are no stars yet." />
  );
  return { body, total };
};

const showFollowers: ShowPart = async ({ ctx, account }, _text, list) => {
  const { items, total } = await listFollowers(ctx, account, list);
  return { body: <AccountList accounts={items} empty="There is nobody yet." />, total };
};

const showFollowing: ShowPart = async ({ ctx, account }, _text, list) => {
  const { items, total } = await listFollowing(ctx, account, list);
  return { body: <AccountList accounts={items} empty="There is nobody yet." />, total };
};

/** The parts of a user's page; an organization has its repositories alone. */
const PARTS: Readonly<Record<string, { label: string; show: ShowPart }>> = {
  repositories: { label: "Repositories", show: showRepositories },
  stars: { label: "Stars", show: showStars },
  followers: { label: "Followers", show: showFollowers },
  following: { label: "Following", show: showFollowing },
};

/** The page of a user or an organization. */
export const profile = new Hono<WebEnv>();

profile.get("/:name", async (c) => {
  const page = await enterAccountPage(c);
  const { ctx, account } = page;
  const isUser = account.kind === "user";
  const requested = c.req.query("tab") ?? "";
  const tab = isUser && Object.hasOwn(PARTS, requested) ? requested : "repositories";
  const list = readListPage(c, PAGE_SIZE);
  const text = readSearchText(c);
  const { body, total } = await (PARTS[tab]?.show ?? showRepositories)(page, text, list);
  const title = account.fullName === "" ? account.name : `${account.fullName} (${account.name})`;
  return renderPage(
    c,
    page,
    {
      title,
      isPublic: true,
      meta: {
        url: `${ctx.rootUrl}${accountPath(account)}`,
        title,
        description: account.description,
      },
      feeds: [{ path: `${accountPath(account)}.atom`, title: `Activity of ${account.name}` }],
    },
    <>
      <Head account={account} />
      {isUser ? <Tabs account={account} tab={tab} /> : undefined}
      {body}
      <Pager url={c.req.url} page={list} total={total} />
    </>,
  );
});

/** Enters the account of a page's path. Cost: one round trip of the database. */
async function enterAccountPage(c: Context<WebEnv>): Promise<AccountPage> {
  const { ctx, account } = await enterAccount(readerRequest(c), {
    name: c.req.param("name") ?? "",
    scopes: [],
    anonymous: "by-setting",
    pathAt: accountPath,
  });
  return { ...(await toPublicPage(c, ctx)), account };
}

function Head({ account }: { account: User }) {
  const { name, fullName, description, website, location } = account;
  const isLink = /^https?:\/\//i.test(website);
  return (
    <div class="profile">
      <Avatar account={account} size={96} />
      <div class="grow">
        <h1>
          {fullName === "" ? name : fullName}{" "}
          {fullName === "" ? undefined : <span class="soft">{name}</span>}
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
        </ul>
      </div>
    </div>
  );
}

function Tabs({ account, tab }: { account: User; tab: string }) {
  return (
    <nav aria-label="Account parts">
      <ul class="tabs">
        {Object.entries(PARTS).map(([name, { label }]) => (
          <li>
            <a
              href={`${accountPath(account)}?tab=${name}`}
              aria-current={name === tab ? "page" : undefined}
            >
              {label}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
