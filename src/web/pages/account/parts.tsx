import type { Context } from "hono";
import type { Child } from "hono/jsx";

import {
  countContributions,
  listOrganizationActivities,
  listUserActivities,
} from "../../../domain/exchange/activities/list-activities.ts";
import {
  listFollowers,
  listFollowing,
  listOrganizationsOf,
} from "../../../domain/people/accounts/list-accounts.ts";
import {
  listStarred,
  listWatched,
} from "../../../domain/repos/repository/list-stars-and-watches.ts";
import {
  ALL_REPOSITORIES,
  type RepositoryQuery,
} from "../../../domain/repos/repository/repository-query.ts";
import { searchRepositories } from "../../../domain/repos/repository/search-repositories.ts";
import type { Listed } from "../../../domain/slice.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { User } from "../../../db/schema/index.ts";
import type { WebEnv } from "../../env.ts";
import { AccountList } from "../account-list.tsx";
import { ActivityList } from "../activity-list.tsx";
import { accountPath } from "../addresses.ts";
import type { ListPage } from "../pager.tsx";
import { readSearchText } from "../read-search-text.ts";
import { RepositoryList } from "../repository-list.tsx";
import { readRepositoryOrder, RepositoryOrderField } from "../repository-order.tsx";
import type { AccountPage } from "./enter.ts";
import { Heatmap } from "./heatmap.tsx";

/** The part of an account's page that a tab shows, and how many items it has. */
type ShowPart = (
  c: Context<WebEnv>,
  page: AccountPage,
  list: ListPage,
) => Promise<{ body: Child; total: number }>;

/** The kinds of repositories that a list may be narrowed to. */
const TYPES: Readonly<Record<string, { label: string; filter: Partial<RepositoryQuery> }>> = {
  sources: { label: "Sources", filter: { mode: "source" } },
  forks: { label: "Forks", filter: { mode: "fork" } },
  mirrors: { label: "Mirrors", filter: { mode: "mirror" } },
  templates: { label: "Templates", filter: { isTemplate: true } },
  archived: { label: "Archived", filter: { isArchived: true } },
  private: { label: "Private", filter: { isPrivate: true } },
};

/** Whether the reader may create repositories of the account, for all but its limit. */
const mayCreateIn = ({ ctx, account, membership }: AccountPage): boolean =>
  account.kind === "organization"
    ? ctx.actor.user !== undefined && membership.canCreateRepository
    : ctx.actor.user?.id === account.id;

const creationPath = ({ account }: AccountPage): string =>
  account.kind === "organization"
    ? `/repo/create?owner=${encodeURIComponent(account.name)}`
    : "/repo/create";

const showRepositories: ShowPart = async (c, page, list) => {
  const { ctx, account } = page;
  const text = readSearchText(c);
  const { order, sort, isDescending } = readRepositoryOrder(c);
  const requested = c.req.query("type") ?? "";
  const type = Object.hasOwn(TYPES, requested) ? requested : "";
  const query: RepositoryQuery = {
    ...ALL_REPOSITORIES,
    text,
    isDescriptionSearched: true,
    ownerId: account.id,
    isExclusive: true,
    ...TYPES[type]?.filter,
    sort,
    isDescending,
  };
  const { items, total } = await searchRepositories(ctx, query, list);
  const body = (
    <>
      <form class="filters" action={accountPath(account)}>
        <input type="hidden" name="tab" value="repositories" />
        <input
          type="search"
          name="q"
          value={text}
          aria-label="Search repositories of the account"
          placeholder="Search"
        />
        <span class="pair">
          <label for="type">Type</label>
          <select id="type" name="type">
            <option value="">All</option>
            {Object.entries(TYPES).map(([name, { label }]) => (
              <option value={name} selected={name === type}>
                {label}
              </option>
            ))}
          </select>
        </span>
        <RepositoryOrderField order={order} />
        <button type="submit">Search</button>
        {mayCreateIn(page) ? (
          <a class="button" href={creationPath(page)}>
            New repository
          </a>
        ) : undefined}
      </form>
      <RepositoryList
        repositories={items}
        now={ctx.now}
        empty={
          text === "" && type === ""
            ? "There are no repositories to show yet."
            : "No repository was found."
        }
      />
    </>
  );
  return { body, total };
};

/** A part that lists repositories. */
const repositoriesOf =
  (
    list: (
      ctx: AccountPage["ctx"],
      account: User,
      slice: ListPage,
    ) => Promise<Listed<RepositoryContext>>,
    empty: string,
  ): ShowPart =>
  async (_c, { ctx, account }, page) => {
    const { items, total } = await list(ctx, account, page);
    return { body: <RepositoryList repositories={items} now={ctx.now} empty={empty} />, total };
  };

/** A part that lists accounts. */
const accountsOf =
  (
    list: (ctx: AccountPage["ctx"], account: User, slice: ListPage) => Promise<Listed<User>>,
    empty: string,
  ): ShowPart =>
  async (_c, { ctx, account }, page) => {
    const { items, total } = await list(ctx, account, page);
    return { body: <AccountList accounts={items} empty={empty} />, total };
  };

const showActivity: ShowPart = async (c, { ctx, account }, list) => {
  const date = c.req.query("date") ?? "";
  const dayAt = /^\d{4}-\d\d-\d\d$/.test(date) ? Date.parse(date) : Number.NaN;
  const day = Number.isNaN(dayAt) ? {} : { dayAt };
  const isUser = account.kind === "user";
  const [{ items, total }, contributions] = await Promise.all([
    isUser
      ? listUserActivities(ctx, account, { ...day, isOwnOnly: true }, list)
      : listOrganizationActivities(ctx, account, day, list),
    isUser ? countContributions(ctx, account) : [],
  ]);
  const body = (
    <>
      {isUser ? <Heatmap contributions={contributions} now={ctx.now} /> : undefined}
      <form class="filters" action={accountPath(account)}>
        <input type="hidden" name="tab" value="activity" />
        <span class="pair">
          <label for="date">Day</label>
          <input id="date" type="date" name="date" value={"dayAt" in day ? date : ""} />
        </span>
        <button type="submit">Show</button>
        <a href={`${accountPath(account)}.rss`}>RSS</a>
        <a href={`${accountPath(account)}.atom`}>Atom</a>
      </form>
      <ActivityList entries={items} now={ctx.now} empty="There is no activity to show." />
    </>
  );
  return { body, total };
};

/** Parts of users and organizations, and parts of users alone. */
const COMMON = { repositories: showRepositories, activity: showActivity };
const OF_USERS = {
  stars: repositoriesOf(listStarred, "There are no stars yet."),
  watching: repositoriesOf(listWatched, "No repository is watched."),
  followers: accountsOf(listFollowers, "Nobody follows this account yet."),
  following: accountsOf(listFollowing, "This account follows nobody yet."),
  organizations: accountsOf(listOrganizationsOf, "There is no organization to show."),
};

/** The parts of an account's page by the names of their tabs. */
export const PARTS = { ...COMMON, ...OF_USERS } as const satisfies Record<string, ShowPart>;

/** Whether an account has a part. */
export const isPart = (name: string, { account }: AccountPage): name is keyof typeof PARTS =>
  Object.hasOwn(account.kind === "user" ? PARTS : COMMON, name);
