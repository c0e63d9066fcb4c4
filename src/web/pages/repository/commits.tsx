import { Hono } from "hono";

import { listCommits } from "../../../domain/code/commits/list-commits.ts";
import { type CommitParts, readCommits } from "../../../domain/code/commits/read-commits.ts";
import { splitPath } from "../../../domain/code/contents/find-entry.ts";
import { findRefPath, REF_KINDS, type RefKind } from "../../../domain/code/git/find-ref-path.ts";
import { readSnapshot } from "../../../domain/code/git/open-snapshot.ts";
import { notFound } from "../../../lib/failure.ts";
import type { CommitEntry } from "../../../shapes/git/commit.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { WebEnv } from "../../env.ts";
import { commitPath, comparePath, repositoryPath, sourcePath } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { Pager, readListPage } from "../pager.tsx";
import { CommitAuthor, CommitMarks, subjectOf } from "./commit-line.tsx";
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

/** The history of a branch, tag or commit, or of a path in it. */
export const commits = new Hono<WebEnv>();

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
    { tab: "code", title: `Commits of ${subject} - ${repo.owner.name}/${repo.row.name}` },
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
      </div>
      <ol class="box commits">
        {entries.map((entry) => (
          <CommitRow page={page} entry={entry} path={below} />
        ))}
      </ol>
      <Pager url={c.req.url} page={list} total={total} />
    </>,
  );
});

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
        </a>
        <div class="soft">
          <CommitAuthor entry={entry} />{" "}
          <Ago at={commit.committer.timeSeconds * 1000} now={ctx.now} />
        </div>
      </div>
      <CommitMarks repo={repo} entry={entry} />
      <a class="oid" href={commitPath(repo, commitOid)}>
        {commitOid.slice(0, 10)}
      </a>
      <a class="soft" href={sourcePath(repo, "src", { kind: "commit", name: commitOid }, path)}>
        Browse
      </a>
    </li>
  );
}
