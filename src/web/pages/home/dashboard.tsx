import type { Context } from "hono";

import type { User } from "../../../db/schema/index.ts";
import { listUserActivities } from "../../../domain/exchange/activities/list-activities.ts";
import { ALL_ISSUES, type PersonRole } from "../../../domain/issues/lists/issue-query.ts";
import { searchIssues } from "../../../domain/issues/lists/search-issues.ts";
import { listOrganizationsOf } from "../../../domain/people/accounts/list-accounts.ts";
import { listRecentRepositories } from "../../../domain/repos/repository/list-recent-repositories.ts";
import { ALL_REPOSITORIES } from "../../../domain/repos/repository/repository-query.ts";
import { searchRepositories } from "../../../domain/repos/repository/search-repositories.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { WebEnv } from "../../env.ts";
import { ActivityList } from "../activity-list.tsx";
import { accountPath, issuePath, repositoryPath } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { Avatar } from "../avatar.tsx";
import { Icon } from "../icon.tsx";
import type { Page } from "../open-page.ts";
import { Pager, readListPage } from "../pager.tsx";
import { renderPage } from "../render-page.tsx";

const FEED_SIZE = 20;
/** Items of each list beside the feed. */
const LIST_SIZE = 6;

/**
 * The first page of a reader who is signed in: their repositories and organizations, what waits for
 * them, and the feed.
 *
 * Cost: one round trip of the database, of six calls.
 */
export async function renderDashboard(
  c: Context<WebEnv>,
  page: Page,
  user: User,
): Promise<Response> {
  const { ctx } = page;
  const list = readListPage(c, FEED_SIZE);
  const some = { size: LIST_SIZE, offset: 0 };
  const [own, organizations, recent, feed, reviews, assigned] = await Promise.all([
    searchRepositories(ctx, { ...ALL_REPOSITORIES, reachedById: user.id }, some),
    listOrganizationsOf(ctx, user, some),
    listRecentRepositories(ctx, user, LIST_SIZE),
    listUserActivities(ctx, user, { isOwnOnly: false }, list),
    searchIssues(ctx, openIssuesOf(user, "review_requested"), some),
    searchIssues(ctx, openIssuesOf(user, "assignee"), some),
  ]);
  const ownIds = new Set(own.items.map(({ row }) => row.id));
  const others = recent.filter(({ row }) => !ownIds.has(row.id));
  return renderPage(
    c,
    page,
    { title: `${user.name} - Dashboard` },
    <>
      <h1 class="hidden">Dashboard</h1>
      <div class="split">
        <div class="aside">
          <section class="box" aria-labelledby="own">
            <div class="box-head">
              <h2 id="own" class="grow">
                Your repositories
              </h2>
              <a class="button small primary" href="/repo/create">
                New
              </a>
            </div>
            <Repositories
              repositories={own.items}
              empty="You have no repository yet, of your own or by a team. Create one, or push to a new name."
            />
            {own.total > own.items.length ? (
              <p class="inside more">
                <a href="/explore/repos?yours=1">{`All ${own.total}`}</a>
              </p>
            ) : undefined}
          </section>
          {organizations.total === 0 ? undefined : (
            <section class="box" aria-labelledby="organizations">
              <h2 id="organizations" class="box-head">
                Your organizations
              </h2>
              <ul class="commits">
                {organizations.items.map((account) => (
                  <li>
                    <Avatar account={account} size={24} />
                    <a class="grow" href={accountPath(account)}>
                      {account.name}
                    </a>
                  </li>
                ))}
              </ul>
              {organizations.total > organizations.items.length ? (
                <p class="inside more">
                  <a href={`${accountPath(user)}?tab=organizations`}>
                    {`All ${organizations.total}`}
                  </a>
                </p>
              ) : undefined}
            </section>
          )}
          {others.length === 0 ? undefined : (
            <section class="box" aria-labelledby="recent">
              <h2 id="recent" class="box-head">
                Recently used
              </h2>
              <Repositories repositories={others} empty="" />
            </section>
          )}
          <Issues
            title="Reviews requested of you"
            icon="pull"
            issues={reviews.items}
            total={reviews.total}
            now={ctx.now}
          />
          <Issues
            title="Assigned to you"
            icon="issue"
            issues={assigned.items}
            total={assigned.total}
            now={ctx.now}
          />
        </div>
        <section aria-labelledby="feed">
          <h2 id="feed">Activity</h2>
          <ActivityList
            entries={feed.items}
            now={ctx.now}
            empty="Nothing happened yet. What you do is listed here, and what happens in the repositories that you watch."
          />
          <Pager url={c.req.url} page={list} total={feed.total} />
        </section>
      </div>
    </>,
  );
}

/** A search for the open issues and pull requests in which a user has a role. */
const openIssuesOf = ({ name }: User, role: PersonRole) => ({
  filter: {
    ...ALL_ISSUES,
    isClosed: false,
    people: [{ role, name }],
    sort: "recentupdate" as const,
  },
  scope: { owner: undefined, team: undefined },
  priorityRepoId: undefined,
});

interface RepositoriesProps {
  repositories: readonly RepositoryContext[];
  empty: string;
}

function Repositories({ repositories, empty }: RepositoriesProps) {
  if (repositories.length === 0) return <p class="inside soft">{empty}</p>;
  return (
    <ul class="commits">
      {repositories.map((repo) => (
        <li>
          <a class="grow" href={repositoryPath(repo)}>
            <Icon name={repo.row.isPrivate ? "lock" : repo.row.isFork ? "fork" : "book"} />
            {`${repo.owner.name}/${repo.row.name}`}
          </a>
        </li>
      ))}
    </ul>
  );
}

interface IssuesProps {
  title: string;
  icon: string;
  issues: readonly IssueContext[];
  total: number;
  now: number;
}

function Issues({ title, icon, issues, total, now }: IssuesProps) {
  if (total === 0) return <></>;
  return (
    <section class="box" aria-labelledby={icon}>
      <h2 id={icon} class="box-head">
        {title} <span class="soft">{total}</span>
      </h2>
      <ul class="commits">
        {issues.map((issue) => (
          <li>
            <div class="grow">
              <Icon name={issue.row.isPull ? "pull" : "issue"} />
              <a href={issuePath(issue)}>{issue.row.title}</a>
              <div class="soft">
                {`${issue.repo.owner.name}/${issue.repo.row.name}#${issue.row.number}, changed `}
                <Ago at={issue.row.updatedAt} now={now} />
              </div>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
