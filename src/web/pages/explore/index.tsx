import { type Context, Hono } from "hono";
import type { Child } from "hono/jsx";

import { loadLanguages } from "../../../domain/code/languages/language-table.ts";
import { listOrganizations } from "../../../domain/people/orgs/list-organizations.ts";
import { searchUsers } from "../../../domain/people/accounts/search-users.ts";
import { searchRepositories } from "../../../domain/repos/repository/search-repositories.ts";
import { ALL_REPOSITORIES } from "../../../domain/repos/repository/repository-query.ts";
import { searchTopics } from "../../../domain/repos/topics/search-topics.ts";
import { countAnonymousAction } from "../../../entrance/count-action.ts";
import type { WebEnv } from "../../env.ts";
import { AccountList } from "../account-list.tsx";
import { openPublicPage, type Page } from "../open-page.ts";
import { Pager, readListPage } from "../pager.tsx";
import { readSearchText } from "../read-search-text.ts";
import { renderPage } from "../render-page.tsx";
import { RepositoryList } from "../repository-list.tsx";
import { readRepositoryOrder, RepositoryOrderField } from "../repository-order.tsx";

const PAGE_SIZE = 20;
const TOPICS_SIZE = 100;
/** No language of linguist has a longer name. */
const LANGUAGE_CHARS_MAX = 100;

/** The pages that lead from nowhere to repositories, users and organizations. */
export const explore = new Hono<WebEnv>();

explore.get("/explore", (c) => c.redirect("/explore/repos", 303));

const FILTERS = {
  archived: "Archived",
  template: "Templates",
  private: "Private",
} as const;

/** A filter that the query sets to 1 or 0; undefined if it does neither. */
const readFilter = (c: Context, name: keyof typeof FILTERS): boolean | undefined => {
  const text = c.req.query(name);
  return text === "1" ? true : text === "0" ? false : undefined;
};

/** The language that the query names, as linguist calls it; a name that it lacks stays as it is. */
async function readLanguage(c: Context): Promise<string | undefined> {
  const name = (c.req.query("language") ?? "").slice(0, LANGUAGE_CHARS_MAX);
  return name === "" ? undefined : ((await loadLanguages()).find(name)?.name ?? name);
}

explore.get("/explore/repos", async (c) => {
  const { page, text } = await openSearch(c);
  const { ctx } = page;
  const list = readListPage(c, PAGE_SIZE);
  const { order, sort, isDescending } = readRepositoryOrder(c);
  const isTopic = c.req.query("topic") === "1";
  const language = await readLanguage(c);
  const isOwn = c.req.query("yours") === "1" && ctx.actor.user !== undefined;
  const query = {
    ...ALL_REPOSITORIES,
    text,
    isTopic,
    isDescriptionSearched: !isTopic,
    reachedById: isOwn ? ctx.actor.user?.id : undefined,
    isPrivate: readFilter(c, "private"),
    isTemplate: readFilter(c, "template"),
    isArchived: readFilter(c, "archived"),
    language,
    sort,
    isDescending,
  };
  const { items, total } = await searchRepositories(ctx, query, list);
  return renderExplore(c, page, "repos", text, {
    options: (
      <>
        <RepositoryOrderField order={order} />
        <span class="pair">
          <label for="language">Language</label>
          <input
            id="language"
            name="language"
            value={language ?? ""}
            autocapitalize="none"
            spellcheck={false}
          />
        </span>
        {ctx.actor.user ? (
          <label class="check">
            <input type="checkbox" name="yours" value="1" checked={isOwn} />
            Yours, and of your teams
          </label>
        ) : undefined}
        {Object.entries(FILTERS).map(([name, label]) => (
          <label class="check">
            <input type="checkbox" name={name} value="1" checked={c.req.query(name) === "1"} />
            {label}
          </label>
        ))}
        <label class="check">
          <input type="checkbox" name="topic" value="1" checked={isTopic} />
          By topic
        </label>
      </>
    ),
    results: (
      <>
        <RepositoryList repositories={items} now={ctx.now} empty="No repository was found." />
        <Pager url={c.req.url} page={list} total={total} />
      </>
    ),
  });
});

explore.get("/explore/users", async (c) => {
  const { page, text } = await openSearch(c);
  const list = readListPage(c, PAGE_SIZE);
  const { items, total } = await searchUsers(page.ctx, text, undefined, list);
  return renderExplore(c, page, "users", text, {
    results: (
      <>
        <AccountList accounts={items} empty="No user was found." />
        <Pager url={c.req.url} page={list} total={total} />
      </>
    ),
  });
});

explore.get("/explore/organizations", async (c) => {
  const { page, text } = await openSearch(c);
  const list = readListPage(c, PAGE_SIZE);
  const { items, total } = await listOrganizations(page.ctx, list, text);
  return renderExplore(c, page, "organizations", text, {
    placeholder: "Beginning of a name",
    results: (
      <>
        <AccountList accounts={items} empty="No organization was found." />
        <Pager url={c.req.url} page={list} total={total} />
      </>
    ),
  });
});

explore.get("/explore/topics", async (c) => {
  const { page, text } = await openSearch(c);
  const list = readListPage(c, TOPICS_SIZE);
  const { items, total } = await searchTopics(page.ctx, text, list);
  return renderExplore(c, page, "topics", text, {
    results: (
      <>
        {total === 0 ? <p class="soft">No topic was found.</p> : undefined}
        <ul class="topics">
          {items.map(({ name, repoCount }) => (
            <li>
              <a href={`/explore/repos?q=${encodeURIComponent(name)}&topic=1`}>
                {`${name} ${repoCount}`}
              </a>
            </li>
          ))}
        </ul>
        <Pager url={c.req.url} page={list} total={total} />
      </>
    ),
  });
});

/** @throws Failure `too_many` for an anonymous reader who searches too often. */
async function openSearch(c: Context<WebEnv>): Promise<{ page: Page; text: string }> {
  const page = await openPublicPage(c, "by-setting");
  const { base } = c.var;
  await countAnonymousAction({ var: { base, ctx: page.ctx } }, "ANONYMOUS_SEARCHES");
  return { page, text: readSearchText(c) };
}

const PARTS = {
  repos: "Repositories",
  users: "Users",
  organizations: "Organizations",
  topics: "Topics",
} as const;

function renderExplore(
  c: Context<WebEnv>,
  page: Page,
  part: keyof typeof PARTS,
  text: string,
  { placeholder, options, results }: { placeholder?: string; options?: Child; results: Child },
): Response | Promise<Response> {
  return renderPage(
    c,
    page,
    { title: "Explore", isPublic: true },
    <>
      <h1>Explore</h1>
      <nav aria-label="Explore">
        <ul class="tabs">
          {Object.entries(PARTS).map(([name, label]) => (
            <li>
              <a href={`/explore/${name}`} aria-current={name === part ? "page" : undefined}>
                {label}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <form class="filters" action={`/explore/${part}`}>
        <input
          type="search"
          name="q"
          value={text}
          aria-label={`Search ${PARTS[part]}`}
          placeholder={placeholder}
        />
        {options}
        <button type="submit">Search</button>
      </form>
      {results}
    </>,
  );
}
