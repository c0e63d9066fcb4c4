import { Hono } from "hono";

import { listCommits } from "../../../domain/code/commits/list-commits.ts";
import { type CommitParts, readCommits } from "../../../domain/code/commits/read-commits.ts";
import { type CommitSearch, searchCommits } from "../../../domain/code/commits/search-commits.ts";
import { splitPath } from "../../../domain/code/contents/find-entry.ts";
import { findRefPath, REF_KINDS, type RefKind } from "../../../domain/code/git/find-ref-path.ts";
import type { Revision } from "../../../domain/code/git/find-revision.ts";
import { findBranchTips } from "../../../domain/code/git/ref-names.ts";
import { readSnapshot } from "../../../domain/code/git/open-snapshot.ts";
import { notFound } from "../../../lib/failure.ts";
import type { CommitEntry } from "../../../shapes/git/commit.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { WebEnv } from "../../env.ts";
import { commitPath, comparePath, repositoryPath, sourcePath } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { CopyIcon } from "../copy-button.tsx";
import { Count } from "../count.tsx";
import type { Feed } from "../layout.tsx";
import { Pager, readListPage } from "../pager.tsx";
import { readSearchText } from "../read-search-text.ts";
import { CommitAuthor, CommitMarks, MessageBody, subjectOf } from "./commit-line.tsx";
import { enterRepositoryPage, READ_CODE, type EnteredRepository } from "./enter.ts";
import { renderRepository } from "./frame.tsx";
import { readRefs, RefChooser } from "./ref-chooser.tsx";

/** Commits of a page, as many as Gitea shows. */
const PAGE_SIZE = 50;

/** The parts of commits that lists of a repository show. */
export const toListParts = ({ row }: RepositoryContext): CommitParts => ({
  hasStat: false,
  hasFiles: false,
  hasVerification: true,
  statusesOf: row,
});

/** The history of a branch, tag or commit, or of a path in it, and the search for its commits. */
export const commits = new Hono<WebEnv>();

commits.get(`/:owner/:repo/commits/:kind{${REF_KINDS.join("|")}}/:path{.+}/search`, async (c) => {
  const { kind, path } = c.req.param();
  const page = await enterRepositoryPage(c, READ_CODE);
  const { ctx, repo } = page;
  const text = readSearchText(c);
  const isOfAll = c.req.query("all") === "true";
  const after = c.req.query("from") ?? "";
  const read = await readSnapshot(ctx, repo, async (snapshot) => {
    const at = await findRefPath(snapshot, kind as RefKind, splitPath(path));
    if (!at || at.names.length > 0) return undefined;
    const { repository } = snapshot;
    const { revision } = at;
    const tips = isOfAll ? findBranchTips(snapshot) : [revision.node];
    const found = text === "" ? NOTHING : await searchCommits(repository, tips, text, after);
    const nodes = found.oids.map((oid) => repository.graph.find(oid));
    const entries = await readCommits(ctx, snapshot, nodes, toListParts(repo));
    return { revision, found, entries, refs: readRefs(snapshot) };
  });
  if (!read) throw notFound();
  const { revision, found, entries, refs } = read;
  if (text === "") return c.redirect(sourcePath(repo, "commits", revision), 303);
  return renderRepository(
    c,
    page,
    { tab: "code", title: `Search commits - ${repo.owner.name}/${repo.row.name}` },
    <>
      <div class="code-bar">
        <RefChooser page={page} revision={revision} refs={refs} view="commits" path="" />
        <h2>Search commits</h2>
      </div>
      <SearchForm page={page} revision={revision} text={text} isOfAll={isOfAll} />
      <p class="soft">
        {`${entries.length} commit${entries.length === 1 ? "" : "s"} found, of `}
        <Count of={found.searchedCount} />
        {found.next === undefined ? " that were searched." : " that were searched so far."}
      </p>
      {entries.length === 0 ? undefined : (
        <ol class="box commits">
          {entries.map((entry) => (
            <CommitRow page={page} entry={entry} path="" />
          ))}
        </ol>
      )}
      {found.next === undefined ? undefined : (
        <p>
          {"Earlier commits were not searched yet. "}
          <a
            class="button"
            rel="next"
            href={`?${new URLSearchParams({ q: text, ...(isOfAll && { all: "true" }), from: found.next }).toString()}`}
          >
            Search further
          </a>
        </p>
      )}
    </>,
  );
});

const NOTHING: CommitSearch = { oids: [], searchedCount: 0, next: undefined };

interface SearchFormProps {
  page: EnteredRepository;
  revision: Revision;
  text: string;
  /** Whether the commits of all branches are searched. */
  isOfAll: boolean;
}

function SearchForm({ page: { repo }, revision, text, isOfAll }: SearchFormProps) {
  return (
    <form class="filters" role="search" action={`${sourcePath(repo, "commits", revision)}/search`}>
      <input
        type="search"
        name="q"
        value={text}
        aria-label="Words of messages, author:name, committer:name, after:day, before:day"
        placeholder="Words, author:name, after:2026-01-31"
      />
      <label class="check">
        <input type="checkbox" name="all" value="true" checked={isOfAll} />
        All branches
      </label>
      <button type="submit">Search</button>
    </form>
  );
}

commits.get(`/:owner/:repo/commits/:kind{${REF_KINDS.join("|")}}/:path{.+}`, async (c) => {
  const { kind, path } = c.req.param();
  const page = await enterRepositoryPage(c, READ_CODE);
  const { ctx, repo } = page;
  const list = readListPage(c, PAGE_SIZE);
  const read = await readSnapshot(ctx, repo, async (snapshot) => {
    const at = await findRefPath(snapshot, kind as RefKind, splitPath(path));
    if (!at) return undefined;
    const { revision, names } = at;
    const below = names.length === 0 ? {} : { path: names.join("/") };
    const { items, total } = await listCommits(snapshot, { tips: [revision.node], ...below }, list);
    // A path without a history does not exist.
    if (total === 0) return undefined;
    const entries = await readCommits(ctx, snapshot, items, toListParts(repo));
    return { revision, path: names.join("/"), entries, total, refs: readRefs(snapshot) };
  });
  if (!read) throw notFound();
  const { revision, path: below, entries, total, refs } = read;
  const subject = below === "" ? revision.name : below;
  return renderRepository(
    c,
    page,
    {
      tab: "code",
      title: `Commits of ${subject} - ${repo.owner.name}/${repo.row.name}`,
      feeds: commitFeedsOf(repo, revision, below),
    },
    <>
      <div class="code-bar">
        <RefChooser page={page} revision={revision} refs={refs} view="commits" path={below} />
        <h2>
          {`${total} commit${total === 1 ? "" : "s"}`}
          {below === "" ? undefined : (
            <>
              {" of "}
              <a href={sourcePath(repo, "src", revision, below)}>{below}</a>
            </>
          )}
        </h2>
        {below === "" ? (
          <>
            <a href={comparePath(repo, repo.row.defaultBranch, revision.name)}>Compare</a>
            <a href={`${repositoryPath(repo)}/graph`}>Graph</a>
          </>
        ) : undefined}
        {revision.kind === "branch" ? (
          <a href={sourcePath(repo, "atom", revision, below)}>Feed</a>
        ) : undefined}
      </div>
      {below === "" ? (
        <SearchForm page={page} revision={revision} text="" isOfAll={false} />
      ) : undefined}
      <ol class="box commits">
        {entries.map((entry) => (
          <CommitRow page={page} entry={entry} path={below} />
        ))}
      </ol>
      <Pager url={c.req.url} page={list} total={total} />
    </>,
  );
});

/** The feeds of the commits of a branch, or of a path in it. Tags and commits have none. */
export const commitFeedsOf = (
  repo: RepositoryContext,
  revision: Revision,
  path: string,
): readonly Feed[] =>
  revision.kind === "branch"
    ? [
        {
          path: sourcePath(repo, "atom", revision, path),
          title: `Commits of ${path === "" ? revision.name : path}`,
        },
      ]
    : [];

interface CommitRowProps {
  page: Pick<EnteredRepository, "repo" | "ctx">;
  entry: CommitEntry;
  /** The path whose history is listed. */
  path: string;
}

/** A commit of a list. */
export function CommitRow({ page: { repo, ctx }, entry, path }: CommitRowProps) {
  const { commitOid, commit } = entry;
  return (
    <li>
      <div class="grow">
        <a class="subject" href={commitPath(repo, commitOid)}>
          {subjectOf(entry)}
        </a>{" "}
        <MessageBody entry={entry} />
        <div class="soft">
          <CommitAuthor entry={entry} />{" "}
          <Ago at={commit.committer.timeSeconds * 1000} now={ctx.now} />
        </div>
      </div>
      <CommitMarks repo={repo} entry={entry} />
      <span>
        <a class="oid" href={commitPath(repo, commitOid)}>
          {commitOid.slice(0, 10)}
        </a>
        <CopyIcon text={commitOid} subject="the id" />
      </span>
      <a class="soft" href={sourcePath(repo, "src", { kind: "commit", name: commitOid }, path)}>
        Browse
      </a>
    </li>
  );
}
