import type { Context } from "hono";
import type { Child } from "hono/jsx";

import { isAllowed } from "../../../auth/access/permission.ts";
import type { Requirement } from "../../../auth/access/requirement.ts";
import { isUnitOn } from "../../../auth/access/unit-switches.ts";
import type { Repository } from "../../../db/schema/index.ts";
import { requestPath } from "../../../lib/request-path.ts";
import { htmlUrlOf } from "../../../shapes/urls.ts";
import type { WebEnv } from "../../env.ts";
import { accountPath, repositoryPath } from "../addresses.ts";
import { avatarPath } from "../avatar.tsx";
import { Count } from "../count.tsx";
import { Icon } from "../icon.tsx";
import { Form } from "../layout.tsx";
import { type PageOptions, renderPage } from "../render-page.tsx";
import { Banners } from "./banners.tsx";
import {
  type EnteredRepository,
  READ_ACTIONS,
  READ_CODE,
  READ_ISSUES,
  READ_PULLS,
  READ_WIKI,
} from "./enter.ts";

/** The permission for the packages that are linked to a repository. */
export const READ_PACKAGES: Requirement = { unit: "packages", mode: "read" };

/** A part of a repository, with its tab. */
interface Tab {
  label: string;
  /** Below that of the repository. */
  path: string;
  requirement: Requirement;
  /** The number of things that the tab shows at first. */
  count?: (repo: Repository) => number;
}

/** The parts of a repository, in the order of their tabs. */
const TABS = {
  code: { label: "Code", path: "", requirement: READ_CODE },
  issues: {
    label: "Issues",
    path: "/issues",
    requirement: READ_ISSUES,
    count: (row) => row.openIssueCount,
  },
  tracker: {
    label: "Issues",
    path: "/issues",
    requirement: { unit: "ext_issues", mode: "read" },
  },
  pulls: {
    label: "Pull requests",
    path: "/pulls",
    requirement: READ_PULLS,
    count: (row) => row.openPullCount,
  },
  actions: { label: "Actions", path: "/actions", requirement: READ_ACTIONS },
  releases: {
    label: "Releases",
    path: "/releases",
    requirement: { unit: "releases", mode: "read" },
  },
  packages: { label: "Packages", path: "/packages", requirement: READ_PACKAGES },
  wiki: { label: "Wiki", path: "/wiki", requirement: READ_WIKI },
  wikiElsewhere: {
    label: "Wiki",
    path: "/wiki",
    requirement: { unit: "ext_wiki", mode: "read" },
  },
  activity: { label: "Activity", path: "/activity", requirement: { mode: "read" } },
  settings: { label: "Settings", path: "/settings", requirement: { mode: "admin" } },
} as const satisfies Record<string, Tab>;

/** How a page of a repository is sent. */
export interface RepositoryPageOptions extends Omit<PageOptions, "meta"> {
  tab: keyof typeof TABS;
}

/** Sends a page of a repository: its name, its tabs, and the page below them. */
export function renderRepository(
  c: Context<WebEnv>,
  page: EnteredRepository,
  { tab, feeds = [], ...options }: RepositoryPageOptions,
  body: Child,
): Response | Promise<Response> {
  const { ctx, repo } = page;
  const { row, owner } = repo;
  const path = repositoryPath(repo);
  return renderPage(
    c,
    page,
    {
      ...options,
      isPublic: row.visibility === "public",
      meta: {
        url: ctx.rootUrl + requestPath(c.req.url),
        title: options.title,
        description: row.description,
        image: ctx.rootUrl + avatarPath(owner),
        cloneUrl: `${htmlUrlOf(repo, ctx)}.git`,
      },
      feeds: [{ path: `${path}.atom`, title: `Activity of ${owner.name}/${row.name}` }, ...feeds],
    },
    <>
      <div class="repo-head">
        <h1 class="repo-name">
          <Icon name={row.isPrivate ? "lock" : "book"} />
          <a href={accountPath(owner)}>{owner.name}</a>
          <span aria-hidden="true">/</span>
          <a href={path}>
            <strong>{row.name}</strong>
          </a>
          <Labels page={page} />
        </h1>
        <Toggles page={page} />
      </div>
      <Banners page={page} />
      <nav aria-label="Repository">
        <ul class="tabs">
          {Object.entries<Tab>(TABS)
            .filter(([, { requirement }]) => isAllowed(repo, requirement) && isOn(row, requirement))
            .filter(([name]) => name !== "packages" || ctx.config.packages.isOn)
            .map(([name, { label, path: below, count }]) => (
              <li>
                <a href={path + below} aria-current={name === tab ? "page" : undefined}>
                  {label}
                  {count && count(row) > 0 ? (
                    <>
                      {" "}
                      <span class="label">
                        <Count of={count(row)} />
                      </span>
                    </>
                  ) : undefined}
                </a>
              </li>
            ))}
        </ul>
      </nav>
      {body}
    </>,
  );
}

/** Whether a tab's unit is on: administrators may read those that are off, which have no tab. */
const isOn = (row: Repository, { unit }: Requirement): boolean =>
  unit === undefined || isUnitOn(row, unit);

function Labels({ page: { repo } }: { page: EnteredRepository }) {
  const { row, owner } = repo;
  const isInternal = !row.isPrivate && owner.visibility !== "public";
  const labels = [
    row.isPrivate ? "Private" : isInternal ? "Internal" : "Public",
    ...(row.archivedAt === null ? [] : ["Archived"]),
    ...(row.isTemplate ? ["Template"] : []),
    ...(row.isMirror ? ["Mirror"] : []),
  ];
  return labels.map((label) => <span class="label">{label}</span>);
}

/** The counts of a repository, each with the form that adds the reader to it, or takes them off. */
function Toggles({ page }: { page: EnteredRepository }) {
  const { ctx, repo, facts, formToken } = page;
  const { row } = repo;
  const toggles = [
    {
      icon: "eye",
      action: facts.isWatching ? "unwatch" : "watch",
      label: facts.isWatching ? "Unwatch" : "Watch",
      list: "watchers",
      count: row.watcherCount,
    },
    {
      icon: "star",
      action: facts.hasStarred ? "unstar" : "star",
      label: facts.hasStarred ? "Unstar" : "Star",
      list: "stars",
      count: row.starCount,
    },
  ];
  const path = repositoryPath(repo);
  return (
    <div class="toggles">
      {toggles.map(({ icon, action, label, list, count }) => (
        <div class="toggle">
          {ctx.actor.user ? (
            <Form action={`${path}/action/${action}`} formToken={formToken} class="inline">
              <button type="submit">
                <Icon name={icon} />
                {label}
              </button>
            </Form>
          ) : (
            <a class="button" href={`/user/login?redirect_to=${encodeURIComponent(path)}`}>
              <Icon name={icon} />
              {label}
            </a>
          )}
          <a class="count" href={`${path}/${list}`} aria-label={`${count} ${list}`}>
            {count}
          </a>
        </div>
      ))}
      <div class="toggle">
        <a class="button" href={`${path}/fork`}>
          <Icon name="fork" />
          Fork
        </a>
        <a class="count" href={`${path}/forks`} aria-label={`${row.forkCount} forks`}>
          {row.forkCount}
        </a>
      </div>
    </div>
  );
}
