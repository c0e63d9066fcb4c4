import type { Context } from "hono";
import { raw } from "hono/html";

import { formatDiff } from "../../../domain/code/commits/format-diff.ts";
import { formatPatches } from "../../../domain/code/commits/format-patches.ts";
import { listFileDiffs } from "../../../domain/code/commits/list-file-diffs.ts";
import { findOwnTrees } from "../../../domain/code/commits/own-trees.ts";
import { findCommit, type Revision } from "../../../domain/code/git/find-revision.ts";
import { findWikiPage, type OpenWiki, readWiki } from "../../../domain/code/wiki/open-wiki.ts";
import { toWiki } from "../../../domain/code/wiki/to-wiki.ts";
import {
  listRevisions,
  readWikiCommits,
  type WikiCommitEntry,
} from "../../../domain/code/wiki/read-page.ts";
import { EMPTY_TREE_OID, isWholeId } from "../../../git/oid.ts";
import { notFound } from "../../../lib/failure.ts";
import { decodeCommitText } from "../../../shapes/git/commit.ts";
import { addressOfFile, wholeTitleOf } from "../../../shapes/wiki/wiki-path.ts";
import type { WebEnv } from "../../env.ts";
import { wikiPath } from "../addresses.ts";
import { CopyButton } from "../copy-button.tsx";
import { renderCommitMessage } from "../markup.ts";
import { Pager, readListPage } from "../pager.tsx";
import { Diff, DIFF_PAGE, showDiffs } from "../repository/diff.tsx";
import { isFound, readDiffView } from "../repository/diff-view.ts";
import type { EnteredWiki } from "./enter.ts";
import { renderWiki, WikiAuthor, wikiSubject, WikiTools } from "./parts.tsx";

const PAGE_SIZE = 50;

/** The history of a page, or how it differs between two of its revisions. */
export async function showRevisions(c: Context<WebEnv>, page: EnteredWiki): Promise<Response> {
  const [base, head] = [c.req.query("base"), c.req.query("head")];
  if (base !== undefined && head !== undefined) return showDifference(c, page, base, head);
  const { ctx, repo, address } = page;
  const list = readListPage(c, PAGE_SIZE);
  const read = await readWiki(ctx, repo, async (wiki) => {
    const file = findWikiPage(wiki, address);
    return file && { file, listed: await listRevisions(wiki, file, list) };
  });
  if (!read) throw notFound();
  const { items, total } = read.listed;
  const path = wikiPath(repo, read.file.address);
  const title = wholeTitleOf(read.file.address);
  return renderWiki(
    c,
    page,
    `History of ${title}`,
    <>
      <div class="code-bar">
        <h2 class="grow">
          {`${total} revision${total === 1 ? "" : "s"} of `}
          <a href={path}>{title}</a>
        </h2>
        <WikiTools page={page} />
      </div>
      <form action={path}>
        <input type="hidden" name="action" value="_revision" />
        <ol class="box commits">
          {items.map((entry, at) => (
            <Row page={page} entry={entry} path={path} at={at} />
          ))}
        </ol>
        {items.length > 1 ? <button type="submit">Compare the two</button> : undefined}
      </form>
      <Pager url={c.req.url} page={list} total={total} />
    </>,
  );
}

interface RowProps {
  page: EnteredWiki;
  entry: WikiCommitEntry;
  /** Of the wiki page. */
  path: string;
  /** The position in the list, of which the first two are compared by default. */
  at: number;
}

function Row({ page: { ctx, repo }, entry, path, at }: RowProps) {
  const { oid } = entry;
  const short = oid.slice(0, 10);
  return (
    <li>
      <label class="check">
        <input type="radio" name="base" value={oid} checked={at === 1} />
        From<span class="hidden">{` ${short}`}</span>
      </label>
      <label class="check">
        <input type="radio" name="head" value={oid} checked={at === 0} />
        To<span class="hidden">{` ${short}`}</span>
      </label>
      <div class="grow">
        <a class="subject" href={wikiPath(repo, `commit/${oid}`)}>
          {wikiSubject(entry)}
        </a>
        <div class="soft">
          <WikiAuthor entry={entry} now={ctx.now} />
        </div>
      </div>
      <a class="oid" href={wikiPath(repo, `commit/${oid}`)}>
        {short}
      </a>
      <a class="soft" href={`${path}?rev=${oid}`}>
        View<span class="hidden">{` ${short}`}</span>
      </a>
    </li>
  );
}

async function showDifference(
  c: Context<WebEnv>,
  page: EnteredWiki,
  base: string,
  head: string,
): Promise<Response> {
  const { ctx, repo, address } = page;
  const view = readDiffView(c, ctx.actor.user);
  const read = await readWiki(ctx, repo, async (wiki) => {
    const [old, fresh] = [await findWhole(wiki, base), await findWhole(wiki, head)];
    const file = findWikiPage(wiki, address);
    if (!old || !fresh || !file) return undefined;
    const { repository } = wiki.snapshot;
    const { graph } = repository;
    const [oldTree, newTree] = [
      await graph.loadRootOid(old.node),
      (await graph.loadRootOid(fresh.node)) ?? EMPTY_TREE_OID,
    ];
    const query = { ...view.query, only: file.path };
    return { old, fresh, file, diffs: await listFileDiffs(repository, oldTree, newTree, query) };
  });
  if (!read) throw notFound();
  const { old, fresh, file, diffs } = read;
  const path = wikiPath(repo, file.address);
  const title = wholeTitleOf(file.address);
  const wiki = toWiki(repo);
  const sides = {
    old: { repo: wiki, commitOid: old.commitOid },
    fresh: { repo: wiki, commitOid: fresh.commitOid },
  };
  const [item] = diffs?.items ?? [];
  const shown = await showDiffs(ctx, item ? [item] : [], view);
  return renderWiki(
    c,
    page,
    `Changes of ${title}`,
    <>
      <div class="code-bar">
        <h2 class="grow">
          {"Changes of "}
          <a href={path}>{title}</a>
          {` from ${old.commitOid.slice(0, 10)} to ${fresh.commitOid.slice(0, 10)}`}
        </h2>
        <a class="button" href={`${path}?action=_revision`}>
          History
        </a>
      </div>
      {diffs && item ? (
        <Diff
          diffs={{ changes: [item], start: 0, items: [item] }}
          shown={shown}
          sides={sides}
          view={view}
        />
      ) : (
        <p>Both revisions have the same text.</p>
      )}
    </>,
    DIFF_PAGE,
  );
}

/** Finds a commit by its whole id, as the history names it. */
const findWhole = async ({ snapshot }: OpenWiki, oid: string): Promise<Revision | undefined> =>
  isWholeId(oid) ? findCommit(snapshot, oid) : undefined;

/** The changes of a commit of a wiki as text. */
export async function answerChanges(
  c: Context<WebEnv>,
  page: EnteredWiki,
  id: string,
  format: string,
): Promise<Response> {
  const text = await readWiki(page.ctx, page.repo, async ({ snapshot }) => {
    const found = await findCommit(snapshot, id);
    if (!found) return undefined;
    if (format === "patch") return formatPatches(snapshot, found.node);
    const trees = await findOwnTrees(snapshot.repository.graph, found.node);
    return formatDiff(snapshot.repository, trees.oldTreeOid, trees.newTreeOid);
  });
  if (!text) throw notFound();
  return c.body(text as Uint8Array<ArrayBuffer>, 200, {
    "Content-Type": "text/plain; charset=utf-8",
  });
}

/** A commit of a wiki with what it changes. */
export async function showCommit(
  c: Context<WebEnv>,
  page: EnteredWiki,
  id: string,
): Promise<Response> {
  const { ctx, repo } = page;
  const view = readDiffView(c, ctx.actor.user);
  const read = await readWiki(ctx, repo, async (wiki) => {
    const { repository } = wiki.snapshot;
    const found = await findCommit(wiki.snapshot, id);
    if (!found) return undefined;
    const trees = await findOwnTrees(repository.graph, found.node);
    const diffs = await listFileDiffs(repository, trees.oldTreeOid, trees.newTreeOid, view.query);
    if (diffs && !isFound(diffs, view)) return undefined;
    const [entry] = await readWikiCommits(wiki, [found.node]);
    return entry && { entry, diffs };
  });
  if (!read) throw notFound();
  const { entry, diffs } = read;
  const { oid, commit } = entry;
  const wiki = toWiki(repo);
  const [parentOid] = commit.parentOids;
  const sides = {
    old: parentOid === undefined ? undefined : { repo: wiki, commitOid: parentOid },
    fresh: { repo: wiki, commitOid: oid },
  };
  const [shown, html] = await Promise.all([
    showDiffs(ctx, diffs?.items ?? [], view),
    renderCommitMessage(
      ctx,
      repo,
      decodeCommitText(commit, commit.message).trim() || wikiSubject(entry),
    ),
  ]);
  const [subject = "", ...rest] = html.split("\n");
  const body = rest.join("\n").trim();
  const path = wikiPath(repo, `commit/${oid}`);
  return renderWiki(
    c,
    page,
    `${wikiSubject(entry)} · ${oid.slice(0, 10)}`,
    <>
      <section class="box">
        <div class="inside">
          <h2>{raw(subject)}</h2>
          {body === "" ? undefined : <pre class="message">{raw(body)}</pre>}
          <p class="soft">
            <WikiAuthor entry={entry} now={ctx.now} />
          </p>
        </div>
        <div class="box-head box-foot">
          <span class="grow">
            <code>{oid}</code> <CopyButton text={oid} />
          </span>
          {commit.parentOids.map((parent) => (
            <span>
              {"parent "}
              <a class="oid" href={wikiPath(repo, `commit/${parent}`)}>
                {parent.slice(0, 10)}
              </a>
            </span>
          ))}
          <Changed page={page} paths={(diffs?.changes ?? []).map(({ path: file }) => file)} />
          <a href={`${path}.diff`}>Diff</a>
          <a href={`${path}.patch`}>Patch</a>
        </div>
      </section>
      {diffs ? (
        <Diff diffs={diffs} shown={shown} sides={sides} view={view} />
      ) : (
        <p class="notice">
          This commit changes too many files to be shown.{" "}
          <a href={`${path}.diff`}>Get the diff as text.</a>
        </p>
      )}
    </>,
    DIFF_PAGE,
  );
}

/** The way to the page that a commit changes, if it is one. */
function Changed({ page: { repo }, paths }: { page: EnteredWiki; paths: readonly string[] }) {
  const [path = "", ...others] = paths;
  const address = others.length === 0 ? addressOfFile(path) : undefined;
  if (address === undefined) return <></>;
  return <a href={wikiPath(repo, address)}>{wholeTitleOf(address)}</a>;
}
