import { Hono } from "hono";

import { isAllowed } from "../../../auth/access/permission.ts";
import { type ForkTree, listForkTrees } from "../../../domain/repos/repository/list-fork-tree.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { WebEnv } from "../../env.ts";
import { comparePath } from "../addresses.ts";
import { Pager, readListPage } from "../pager.tsx";
import { RepositorySummary } from "../repository-list.tsx";
import { enterRepositoryPage, type EnteredRepository, READ_CODE } from "./enter.ts";
import { renderRepository } from "./frame.tsx";

const PAGE_SIZE = 40;

/** The page of a repository's forks, and of theirs. */
export const forks = new Hono<WebEnv>();

forks.get("/:owner/:repo/forks", async (c) => {
  const page = await enterRepositoryPage(c, { mode: "read" });
  const { ctx, repo } = page;
  const list = readListPage(c, PAGE_SIZE);
  const { items, total, isCut } = await listForkTrees(ctx, repo, list);
  return renderRepository(
    c,
    page,
    { tab: "code", title: `Forks - ${repo.owner.name}/${repo.row.name}` },
    <>
      <h2>Forks</h2>
      {items.length === 0 ? (
        <p class="soft">There are no forks yet.</p>
      ) : (
        <ul class="box commits forks">
          {items.map((tree) => (
            <Fork page={page} tree={tree} />
          ))}
        </ul>
      )}
      {isCut ? (
        <p class="soft">Some forks of these forks are not listed: their own pages do.</p>
      ) : undefined}
      <Pager url={c.req.url} page={list} total={total} />
    </>,
  );
});

function Fork({
  page,
  tree: { repo: fork, forks: below },
}: {
  page: EnteredRepository;
  tree: ForkTree;
}) {
  const { ctx, repo } = page;
  const hasCommits = (each: RepositoryContext): boolean =>
    isAllowed(each, READ_CODE) && !each.row.isEmpty;
  const { owner, row } = fork;
  return (
    <li>
      <RepositorySummary repo={fork} now={ctx.now} />
      {hasCommits(repo) && hasCommits(fork) ? (
        <a
          class="soft"
          href={comparePath(
            repo,
            repo.row.defaultBranch,
            `${owner.name}/${row.name}:${row.defaultBranch}`,
          )}
        >
          Compare<span class="hidden">{` ${owner.name}/${row.name}`}</span>
        </a>
      ) : undefined}
      {below.length === 0 ? undefined : (
        <ul class="commits">
          {below.map((each) => (
            <Fork page={page} tree={each} />
          ))}
        </ul>
      )}
    </li>
  );
}
