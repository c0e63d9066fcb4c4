import { Hono } from "hono";

import { listBranches } from "../../../domain/code/branches/list-branches.ts";
import { listTags } from "../../../domain/code/tags/list-tags.ts";
import { readSnapshot } from "../../../domain/code/git/open-snapshot.ts";
import { decodeText } from "../../../git/byte-text.ts";
import { decodeCommitText } from "../../../shapes/git/commit.ts";
import { gitTimeMs } from "../../../shapes/git/git-time.ts";
import { encodePath } from "../../../shapes/urls.ts";
import type { WebEnv } from "../../env.ts";
import { commitPath, comparePath, repositoryPath, sourcePath } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { Icon } from "../icon.tsx";
import { Pager, readListPage } from "../pager.tsx";
import { enterRepositoryPage, READ_CODE } from "./enter.ts";
import { renderRepository } from "./frame.tsx";

const PAGE_SIZE = 50;

/** The pages of all branches and of all tags. */
export const branches = new Hono<WebEnv>();

branches.get("/:owner/:repo/branches", async (c) => {
  const page = await enterRepositoryPage(c, READ_CODE);
  const { ctx, repo } = page;
  const list = readListPage(c, PAGE_SIZE);
  const { items, total } = await readSnapshot(ctx, repo, (snapshot) =>
    listBranches(ctx, repo, snapshot, list),
  );
  return renderRepository(
    c,
    page,
    { tab: "code", title: `Branches - ${repo.owner.name}/${repo.row.name}` },
    <>
      <h2>{`${total} branch${total === 1 ? "" : "es"}`}</h2>
      <ul class="box commits">
        {items.map(({ name, head: { commit, commitOid }, rules }) => (
          <li>
            <div class="grow">
              <Icon name="branch" />
              <a href={sourcePath(repo, "src", { kind: "branch", name })}>{name}</a>{" "}
              {name === repo.row.defaultBranch ? <span class="label">Default</span> : undefined}{" "}
              {rules.length > 0 ? <span class="label">Protected</span> : undefined}
              <div class="soft">
                <a class="oid" href={commitPath(repo, commitOid)}>
                  {commitOid.slice(0, 10)}
                </a>{" "}
                {decodeCommitText(commit, commit.message).split("\n", 1)[0]}
              </div>
            </div>
            <span class="soft">
              <Ago at={gitTimeMs(commit.committer.timeSeconds)} now={ctx.now} />
            </span>
            <a href={sourcePath(repo, "commits", { kind: "branch", name })}>History</a>
            {name === repo.row.defaultBranch ? undefined : (
              <a href={comparePath(repo, repo.row.defaultBranch, name)}>Compare</a>
            )}
          </li>
        ))}
      </ul>
      <Pager url={c.req.url} page={list} total={total} />
    </>,
  );
});

branches.get("/:owner/:repo/tags", async (c) => {
  const page = await enterRepositoryPage(c, READ_CODE);
  const { ctx, repo } = page;
  const list = readListPage(c, PAGE_SIZE);
  const { items, total } = await readSnapshot(ctx, repo, (snapshot) => listTags(snapshot, list));
  const path = repositoryPath(repo);
  return renderRepository(
    c,
    page,
    { tab: "code", title: `Tags - ${repo.owner.name}/${repo.row.name}` },
    <>
      <h2>{`${total} tag${total === 1 ? "" : "s"}`}</h2>
      {total === 0 ? <p>This repository has no tags yet.</p> : undefined}
      <ul class="box commits">
        {items.map(({ name, commitOid, message, timeSeconds }) => (
          <li>
            <div class="grow">
              <Icon name="tag" />
              <a href={sourcePath(repo, "src", { kind: "tag", name })}>{name}</a>
              <div class="soft">
                <a class="oid" href={commitPath(repo, commitOid)}>
                  {commitOid.slice(0, 10)}
                </a>{" "}
                {decodeText(message).trimStart().split("\n", 1)[0]}
              </div>
            </div>
            <span class="soft">
              <Ago at={gitTimeMs(timeSeconds)} now={ctx.now} />
            </span>
            <a href={`${path}/archive/${encodePath(name)}.zip`}>ZIP</a>
            <a href={`${path}/archive/${encodePath(name)}.tar.gz`}>tar.gz</a>
          </li>
        ))}
      </ul>
      <Pager url={c.req.url} page={list} total={total} />
    </>,
  );
});
