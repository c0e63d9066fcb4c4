import { Hono } from "hono";

import { listFileDiffs } from "../../../domain/code/commits/list-file-diffs.ts";
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
import { CommitAuthor, subjectOf } from "./commit-line.tsx";
import { Diff, DIFF_PAGE, showDiffs } from "./diff.tsx";
import { isFound, readDiffView } from "./diff-view.ts";
import { enterRepositoryPage, READ_CODE, type EnteredRepository } from "./enter.ts";
import { renderRepository } from "./frame.tsx";

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
  const view = readDiffView(c, ctx.actor.user);
  const read = await readSnapshot(ctx, repo, async (snapshot) => {
    const found = await findCommit(snapshot, c.req.param("id"));
    if (!found) return undefined;
    const trees = await findOwnTrees(snapshot.repository.graph, found.node);
    const diffs = await listFileDiffs(
      snapshot.repository,
      trees.oldTreeOid,
      trees.newTreeOid,
      view.query,
    );
    if (diffs && !isFound(diffs, view)) return undefined;
    const [entry] = await readCommits(ctx, snapshot, [found.node], PARTS);
    return entry && { entry, diffs };
  });
  if (!read) throw notFound();
  const { entry, diffs } = read;
  const oid = entry.commitOid;
  const [parent] = entry.parents;
  const sides = {
    old: parent && { repo, commitOid: parent.oid },
    fresh: { repo, commitOid: oid },
  };
  const shown = await showDiffs(ctx, diffs?.items ?? [], view);
  return renderRepository(
    c,
    page,
    { tab: "code", title: `${subjectOf(entry)} · ${oid.slice(0, 10)}`, ...DIFF_PAGE },
    <>
      <CommitBox page={page} entry={entry} />
      {diffs ? (
        <Diff diffs={diffs} shown={shown} sides={sides} view={view} />
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
