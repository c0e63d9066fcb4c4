import { Hono } from "hono";

import { type FileDiff, listFileDiffs } from "../../../domain/code/commits/list-file-diffs.ts";
import { findOwnTrees } from "../../../domain/code/commits/own-trees.ts";
import { readCommits } from "../../../domain/code/commits/read-commits.ts";
import { findCommit } from "../../../domain/code/git/find-revision.ts";
import { readSnapshot } from "../../../domain/code/git/open-snapshot.ts";
import { formatDiff } from "../../../domain/code/commits/format-diff.ts";
import { formatPatches } from "../../../domain/code/commits/format-patches.ts";
import { notFound } from "../../../lib/failure.ts";
import { type CommitEntry, decodeCommitText } from "../../../shapes/git/commit.ts";
import { gitTimeMs } from "../../../shapes/git/git-time.ts";
import type { WebEnv } from "../../env.ts";
import { commitPath, sourcePath } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { Pager, readListPage } from "../pager.tsx";
import { CommitAuthor, subjectOf } from "./commit-line.tsx";
import { Diff, type PlacedDiff, placeDiffs } from "./diff.tsx";
import { enterRepositoryPage, READ_CODE, type EnteredRepository } from "./enter.ts";
import { renderRepository } from "./frame.tsx";

/** Files of a page of a diff. */
const FILES_PER_PAGE = 50;

const PARTS = { hasStat: false, hasFiles: false, hasVerification: true } as const;

/** The pages of single commits, and their diffs and patches as text. */
export const commit = new Hono<WebEnv>();

commit.get("/:owner/:repo/commit/:id{[0-9a-fA-F]{4,40}\\.(?:diff|patch)}", async (c) => {
  const { ctx, repo } = await enterRepositoryPage(c, READ_CODE);
  const [id = "", format] = c.req.param("id").split(".");
  const text = await readSnapshot(ctx, repo, async (snapshot) => {
    const found = await findCommit(snapshot, id);
    if (!found) throw notFound();
    if (format === "patch") return formatPatches(snapshot, found.node);
    const trees = await findOwnTrees(snapshot.repository.graph, found.node);
    return formatDiff(snapshot.repository, trees.oldTreeOid, trees.newTreeOid);
  });
  return c.body(text as Uint8Array<ArrayBuffer>, 200, {
    "Content-Type": "text/plain; charset=utf-8",
  });
});

commit.get("/:owner/:repo/commit/:id{[0-9a-fA-F]{4,40}}", async (c) => {
  const page = await enterRepositoryPage(c, READ_CODE);
  const { ctx, repo } = page;
  const list = readListPage(c, FILES_PER_PAGE);
  const read = await readSnapshot(ctx, repo, async (snapshot) => {
    const found = await findCommit(snapshot, c.req.param("id"));
    if (!found) return undefined;
    const trees = await findOwnTrees(snapshot.repository.graph, found.node);
    const files = await listFileDiffs(
      snapshot.repository,
      trees.oldTreeOid,
      trees.newTreeOid,
      list,
    );
    const [entry] = await readCommits(ctx, snapshot, [found.node], PARTS);
    return entry && { entry, files };
  });
  if (!read) throw notFound();
  const { entry, files } = read;
  const placed = await placeDiffs(files?.items ?? []);
  const oid = entry.commitOid;
  return renderRepository(
    c,
    page,
    { tab: "code", title: `${subjectOf(entry)} · ${oid.slice(0, 10)}` },
    <>
      <CommitBox page={page} entry={entry} />
      {files ? (
        <>
          <CommitDiff page={page} entry={entry} diffs={placed} total={files.total} />
          <Pager url={c.req.url} page={list} total={files.total} />
        </>
      ) : (
        <p class="notice">
          This commit changes too many files to be shown.{" "}
          <a href={`${commitPath(repo, oid)}.diff`}>Get the diff as text.</a>
        </p>
      )}
    </>,
  );
});

function CommitBox({
  page: { repo, ctx },
  entry,
}: {
  page: EnteredRepository;
  entry: CommitEntry;
}) {
  const { commit: content, commitOid, parents, verification } = entry;
  const message = decodeCommitText(content, content.message).trim();
  const body = message.split("\n").slice(1).join("\n").trim();
  const isOther = content.author.email !== content.committer.email;
  return (
    <section class="box">
      <div class="inside">
        <h2>{subjectOf(entry)}</h2>
        {body === "" ? undefined : <pre class="message">{body}</pre>}
        <p class="soft">
          <CommitAuthor entry={entry} />{" "}
          <Ago at={gitTimeMs(content.author.timeSeconds)} now={ctx.now} />
          {isOther ? (
            <>
              {`, committed by ${decodeCommitText(content, content.committer.name)} `}
              <Ago at={gitTimeMs(content.committer.timeSeconds)} now={ctx.now} />
            </>
          ) : undefined}
          {verification?.isVerified ? <span class="label">Verified</span> : undefined}
        </p>
      </div>
      <div class="box-head">
        <span class="grow">
          <code>{commitOid}</code>
        </span>
        {parents.map(({ oid }) => (
          <span>
            parent{" "}
            <a class="oid" href={commitPath(repo, oid)}>
              {oid.slice(0, 10)}
            </a>
          </span>
        ))}
        <a href={sourcePath(repo, "src", { kind: "commit", name: commitOid })}>Browse files</a>
        <a href={`${commitPath(repo, commitOid)}.diff`}>Diff</a>
        <a href={`${commitPath(repo, commitOid)}.patch`}>Patch</a>
      </div>
    </section>
  );
}

interface CommitDiffProps {
  page: EnteredRepository;
  entry: CommitEntry;
  diffs: readonly PlacedDiff[];
  total: number;
}

function CommitDiff({ page: { repo }, entry, diffs, total }: CommitDiffProps) {
  const [parent] = entry.parents;
  const pathOf = ({ kind, path }: FileDiff): string => {
    const oid = kind === "deleted" && parent ? parent.oid : entry.commitOid;
    return sourcePath(repo, "src", { kind: "commit", name: oid }, path);
  };
  return <Diff diffs={diffs} total={total} pathOf={pathOf} />;
}
