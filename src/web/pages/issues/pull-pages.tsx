import { type Context, Hono } from "hono";
import type { Child } from "hono/jsx";

import { listCommits } from "../../../domain/code/commits/list-commits.ts";
import { listFileDiffs } from "../../../domain/code/commits/list-file-diffs.ts";
import { readCommits } from "../../../domain/code/commits/read-commits.ts";
import { openPull } from "../../../domain/pulls/pull/open-pull.ts";
import { commitRangeOf } from "../../../domain/pulls/pull/pull-changes.ts";
import { EMPTY_TREE_OID } from "../../../git/oid.ts";
import { notFound } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { issuePath } from "../addresses.ts";
import { IssueHead } from "./issue-head.tsx";
import { Pager, readListPage } from "../pager.tsx";
import { CommitRow, toListParts } from "../repository/commits.tsx";
import { Diff, DIFF_PAGE, showDiffs } from "../repository/diff.tsx";
import { isFound, readDiffView } from "../repository/diff-view.ts";
import { type EnteredPull, enterPullPage } from "../repository/enter.ts";
import { renderRepository, type RepositoryPageOptions } from "../repository/frame.tsx";
import { PullTabs } from "./pull-tabs.tsx";
import { TEXT_PAGE } from "../text-field.tsx";
import { ReviewForm } from "./review-form.tsx";

const PAGE_SIZE = 50;

/** The commits and the files of a pull request. */
export const pullPages = new Hono<WebEnv>();

const PULL = "/:owner/:repo/pulls/:number{[0-9]{1,15}}";

pullPages.get(`${PULL}/commits`, async (c) => {
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

pullPages.get(`${PULL}/files`, async (c) => {
  const page = await enterPullPage(c);
  const { ctx, repo, pull } = page;
  const view = readDiffView(c, ctx.actor.user);
  const { snapshot, head, mergeBase } = await openPull(ctx, pull);
  const { repository } = snapshot;
  const { graph } = repository;
  const diffs = await listFileDiffs(
    repository,
    mergeBase === undefined ? undefined : await graph.loadRootOid(mergeBase),
    (await graph.loadRootOid(head)) ?? EMPTY_TREE_OID,
    view.query,
  );
  if (diffs && !isFound(diffs, view)) throw notFound();
  const shown = await showDiffs(ctx, diffs?.items ?? [], view);
  return renderPull(
    c,
    page,
    "files",
    { ...TEXT_PAGE, scripts: [...DIFF_PAGE.scripts, ...TEXT_PAGE.scripts] },
    <>
      {diffs && diffs.changes.length > 0 ? (
        <Diff
          diffs={diffs}
          shown={shown}
          sides={{
            old: mergeBase === undefined ? undefined : { repo, commitOid: graph.oid(mergeBase) },
            fresh: { repo, commitOid: graph.oid(head) },
          }}
          view={view}
        />
      ) : (
        <p>
          {diffs
            ? "No file differs from the base."
            : "Too many files differ to be shown: more than 3000."}
        </p>
      )}
      <ReviewForm page={page} pull={pull} sending={sendingOf(page)} />
    </>,
  );
});

const sendingOf = ({ pull, formToken }: EnteredPull) => ({ path: issuePath(pull), formToken });

function renderPull(
  c: Context<WebEnv>,
  page: EnteredPull,
  current: "commits" | "files",
  options: Partial<RepositoryPageOptions>,
  body: Child,
): Response | Promise<Response> {
  const { pull } = page;
  return renderRepository(
    c,
    page,
    { ...options, tab: "pulls", title: `#${pull.row.number} - ${pull.row.title}` },
    <>
      <IssueHead c={c} page={page} issue={pull} sending={sendingOf(page)} />
      <PullTabs pull={pull} current={current} />
      {body}
    </>,
  );
}
