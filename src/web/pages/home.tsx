import { Hono } from "hono";

import { ALL_REPOSITORIES } from "../../domain/repos/repository/repository-query.ts";
import { searchRepositories } from "../../domain/repos/repository/search-repositories.ts";
import type { WebEnv } from "../env.ts";
import { openPublicPage } from "./open-page.ts";
import { Pager, readListPage } from "./pager.tsx";
import { renderPage } from "./render-page.tsx";
import { RepositoryList } from "./repository-list.tsx";

const PAGE_SIZE = 20;

/** The first page: what the service is, or the repositories of the reader. */
export const home = new Hono<WebEnv>();

home.get("/", async (c) => {
  const page = await openPublicPage(c, "always");
  const { ctx } = page;
  const { user } = ctx.actor;
  if (!user) {
    const { appName, isSignInRequired } = ctx.config;
    return renderPage(
      c,
      page,
      { title: "Home", isPublic: true },
      <section class="card">
        <h1>{appName}</h1>
        <p>
          Repositories with issues, pull requests, releases and packages, for people and programs.
        </p>
        <div class="row">
          {isSignInRequired ? undefined : (
            <a class="button" href="/explore/repos">
              Explore repositories
            </a>
          )}
          <a class="button" href="/user/login">
            Sign in
          </a>
        </div>
      </section>,
    );
  }
  const list = readListPage(c, PAGE_SIZE);
  const query = { ...ALL_REPOSITORIES, ownerId: user.id };
  const { items, total } = await searchRepositories(ctx, query, list);
  return renderPage(
    c,
    page,
    { title: `${user.name} - Dashboard` },
    <>
      <h1>Your repositories</h1>
      <RepositoryList
        repositories={items}
        now={ctx.now}
        empty="You have no repository yet: create one by the API, or by a push to a new name."
      />
      <Pager url={c.req.url} page={list} total={total} />
    </>,
  );
});

home.get("/user/settings", (c) => c.redirect("/user/settings/account", 303));
