import { Hono } from "hono";
import { raw } from "hono/html";

import type { Ctx } from "../../../context.ts";
import { findNote } from "../../../domain/code/commits/find-note.ts";
import { listFileDiffs } from "../../../domain/code/commits/list-file-diffs.ts";
import { findOwnTrees } from "../../../domain/code/commits/own-trees.ts";
import { readCommits } from "../../../domain/code/commits/read-commits.ts";
import { findCommit, type Revision } from "../../../domain/code/git/find-revision.ts";
import { readSnapshot, type RepositorySnapshot } from "../../../domain/code/git/open-snapshot.ts";
import { formatDiff } from "../../../domain/code/commits/format-diff.ts";
import { formatPatches } from "../../../domain/code/commits/format-patches.ts";
import { decodeText, readByteText } from "../../../git/byte-text.ts";
import { parseCommit } from "../../../git/object/commit.ts";
import { notFound } from "../../../lib/failure.ts";
import { type CommitEntry, decodeCommitText } from "../../../shapes/git/commit.ts";
import { gitTimeMs } from "../../../shapes/git/git-time.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { WebEnv } from "../../env.ts";
import { commitPath, sourcePath } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { CopyButton } from "../copy-button.tsx";
import { renderCommitMessage } from "../markup.ts";
import { NO_MESSAGE, Person, subjectOf } from "./commit-line.tsx";
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
    // Both ask the database, in one round.
    const [texts, [entry]] = await Promise.all([
      renderTexts(ctx, repo, snapshot, found),
      readCommits(ctx, snapshot, [found.node], PARTS),
    ]);
    return entry && { entry, texts, diffs };
  });
  if (!read) throw notFound();
  const { entry, texts, diffs } = read;
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
      <CommitBox page={page} entry={entry} texts={texts} />
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

/** What people wrote about a commit. */
interface CommitTexts {
  /** The first line of the message, and the others, as HTML. */
  readonly subject: string;
  readonly body: string;
  /** The note of `git notes`, as text. */
  readonly note: string | undefined;
}

async function renderTexts(
  ctx: Ctx,
  repo: RepositoryContext,
  snapshot: RepositorySnapshot,
  { node, commitOid }: Revision,
): Promise<CommitTexts> {
  const { graph, objects } = snapshot.repository;
  const content = parseCommit(await objects.readAt(graph.location(node)));
  const message = decodeCommitText(content, content.message).trim();
  const note = await findNote(snapshot, commitOid);
  const html = await renderCommitMessage(ctx, repo, message || NO_MESSAGE);
  // A link does not go beyond its line.
  const [subject = "", ...rest] = html.split("\n");
  const text = note && decodeText(readByteText(note.content)).trim();
  return { subject, body: rest.join("\n").trim(), note: text };
}

interface CommitBoxProps {
  page: EnteredRepository;
  entry: CommitEntry;
  texts: CommitTexts;
}

function CommitBox({ page: { repo, ctx }, entry, texts }: CommitBoxProps) {
  const { commit: content, commitOid, parents, author, committer } = entry;
  const isOther = content.author.email !== content.committer.email;
  const path = commitPath(repo, commitOid);
  return (
    <section class="box">
      <div class="inside">
        <h2>{raw(texts.subject)}</h2>
        {texts.body === "" ? undefined : <pre class="message">{raw(texts.body)}</pre>}
        {texts.note === undefined ? undefined : (
          <>
            <h3 class="soft">Note</h3>
            <pre class="message">{texts.note}</pre>
          </>
        )}
        <p class="soft">
          <Person account={author} name={decodeCommitText(content, content.author.name)} />{" "}
          <Ago at={gitTimeMs(content.author.timeSeconds)} now={ctx.now} />
          {isOther ? (
            <>
              {", committed by "}
              <Person
                account={committer}
                name={decodeCommitText(content, content.committer.name)}
              />{" "}
              <Ago at={gitTimeMs(content.committer.timeSeconds)} now={ctx.now} />
            </>
          ) : undefined}{" "}
          <Signature entry={entry} />
        </p>
      </div>
      <div class="box-head box-foot">
        <span class="grow">
          <code>{commitOid}</code> <CopyButton text={commitOid} />
        </span>
        {parents.length === 0 ? <span class="soft">no parent</span> : undefined}
        {parents.map(({ oid }) => (
          <span>
            parent{" "}
            <a class="oid" href={commitPath(repo, oid)}>
              {oid.slice(0, 10)}
            </a>
          </span>
        ))}
        <a href={sourcePath(repo, "src", { kind: "commit", name: commitOid })}>Browse files</a>
        <a href={`${path}.diff`}>Diff</a>
        <a href={`${path}.patch`}>Patch</a>
      </div>
    </section>
  );
}

/** Whether a commit is signed by whom it names; nothing for one without a signature. */
function Signature({ entry: { verification } }: { entry: CommitEntry }) {
  if (!verification?.split) return <></>;
  const { isVerified, reason } = verification;
  return (
    <span class={isVerified ? "label verified" : "label"} title={reason}>
      {isVerified ? "Verified" : "Unverified"}
    </span>
  );
}
