import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { listRepositoriesOf } from "../../../domain/repos/repository/list-repositories.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { WebEnv } from "../../env.ts";
import { repositoryPath } from "../addresses.ts";
import { formatBytes } from "../format-bytes.ts";
import { Icon } from "../icon.tsx";
import { openOwnPage } from "../open-page.ts";
import { Pager, readListPage } from "../pager.tsx";
import { renderSettings } from "./settings-page.tsx";

const PATH = "/user/settings/repos";
const PAGE_SIZE = 50;

/** The repositories that the reader owns, with their sizes. */
export const repositories = new Hono<WebEnv>({ router: new TrieRouter() });

repositories.get(PATH, async (c) => {
  const page = await openOwnPage(c);
  const list = readListPage(c, PAGE_SIZE);
  const { items, total } = await listRepositoriesOf(page.ctx, page.user, list);
  return renderSettings(
    c,
    page,
    { part: "repos" },
    <section class="card" aria-labelledby="repositories">
      <h2 id="repositories">Repositories</h2>
      {total === 0 ? <p>You own no repository.</p> : undefined}
      <ul class="list">
        {items.map((repo) => (
          <Owned repo={repo} />
        ))}
      </ul>
      <Pager url={c.req.url} page={list} total={total} />
      <a class="button" href="/repo/create">
        New repository
      </a>
    </section>,
  );
});

const Owned = ({ repo }: { repo: RepositoryContext }) => (
  <li>
    <div class="grow">
      <Icon name={repo.row.isPrivate ? "lock" : repo.row.isFork ? "fork" : "book"} />
      <a href={repositoryPath(repo)}>{repo.row.name}</a>{" "}
      {repo.row.isPrivate ? <span class="label">Private</span> : undefined}{" "}
      {repo.row.archivedAt === null ? undefined : <span class="label">Archived</span>}
    </div>
    <span class="soft">{formatBytes(repo.row.sizeBytes + repo.row.lfsSizeBytes)}</span>
    <a class="button small" href={`/user/settings/export${repositoryPath(repo)}`} download="">
      Export<span class="hidden">{` ${repo.row.name}`}</span>
    </a>
  </li>
);
