import { Hono } from "hono";

import { listCommits } from "../../../domain/code/commits/list-commits.ts";
import { readCommits } from "../../../domain/code/commits/read-commits.ts";
import { openPull } from "../../../domain/pulls/pull/open-pull.ts";
import { commitRangeOf } from "../../../domain/pulls/pull/pull-changes.ts";
import type { WebEnv } from "../../env.ts";
import { Pager, readListPage } from "../pager.tsx";
import { CommitRow, toListParts } from "../repository/commits.tsx";
import { enterPullPage } from "../repository/enter.ts";
import { renderPull } from "./render-pull.tsx";

const PAGE_SIZE = 50;

/** The commits of a pull request. */
export const pullCommits = new Hono<WebEnv>();

pullCommits.get("/:owner/:repo/pulls/:number{[0-9]{1,15}}/commits", async (c) => {
  const page = await enterPullPage(c);
  const { ctx, repo, pull } = page;
  const list = readListPage(c, PAGE_SIZE);
  const opened = await openPull(ctx, pull);
  const { items, total } = await listCommits(opened.snapshot, commitRangeOf(pull, opened), list);
  const commits = await readCommits(ctx, opened.snapshot, items, toListParts(repo));
  return renderPull(
    c,
    page,
    "commits",
    {},
    <>
      {total === 0 ? <p>The base has all commits of the head.</p> : undefined}
      <ol class="box commits">
        {commits.map((entry) => (
          <CommitRow page={page} entry={entry} path="" />
        ))}
      </ol>
      <Pager url={c.req.url} page={list} total={total} />
    </>,
  );
});
