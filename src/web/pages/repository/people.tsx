import { type Context, Hono } from "hono";

import type { User } from "../../../db/schema/index.ts";
import {
  listStargazers,
  listWatchers,
} from "../../../domain/repos/repository/list-stars-and-watches.ts";
import { createToggle, deleteToggle } from "../../../domain/repos/repository/toggle.ts";
import type { WebEnv } from "../../env.ts";
import { AccountList } from "../account-list.tsx";
import { repositoryPath } from "../addresses.ts";
import { readForm } from "../form.ts";
import { requireOwn } from "../open-page.ts";
import { Pager, readListPage } from "../pager.tsx";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import { enterRepositoryPage } from "./enter.ts";
import { renderRepository } from "./frame.tsx";

const PAGE_SIZE = 40;

/** The pages of those who follow a repository. */
export const people = new Hono<WebEnv>();

people.get("/:owner/:repo/stars", (c) => showPeople(c, "Stargazers", listStargazers));
people.get("/:owner/:repo/watchers", (c) => showPeople(c, "Watchers", listWatchers));

async function showPeople(
  c: Context<WebEnv>,
  title: string,
  list: typeof listStargazers,
): Promise<Response> {
  const page = await enterRepositoryPage(c, { mode: "read" });
  const { ctx, repo } = page;
  const listPage = readListPage(c, PAGE_SIZE);
  const { items, total }: { items: User[]; total: number } = await list(ctx, repo.row, listPage);
  return renderRepository(
    c,
    page,
    { tab: "code", title: `${title} - ${repo.owner.name}/${repo.row.name}` },
    <>
      <h2>{title}</h2>
      <AccountList accounts={items} empty="There is nobody yet." />
      <Pager url={c.req.url} page={listPage} total={total} />
    </>,
  );
}

const ACTIONS = {
  star: { toggle: "star", change: createToggle },
  unstar: { toggle: "star", change: deleteToggle },
  watch: { toggle: "watch", change: createToggle },
  unwatch: { toggle: "watch", change: deleteToggle },
} as const;

people.post(`/:owner/:repo/action/:action{${Object.keys(ACTIONS).join("|")}}`, async (c) => {
  const page = await enterRepositoryPage(c, { mode: "read" });
  const { ctx, user } = requireOwn(c, page);
  await readForm(c);
  const { toggle, change } = ACTIONS[c.req.param("action") as keyof typeof ACTIONS];
  await change(ctx, toggle, user, page.repo.row);
  return redirectAfterWrite(c, repositoryPath(page.repo));
});
