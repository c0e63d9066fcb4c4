import { Hono } from "hono";
import { raw } from "hono/html";

import { findNote } from "../../../domain/code/commits/find-note.ts";
import { listContaining } from "../../../domain/code/commits/list-containing.ts";
import { listFileDiffs } from "../../../domain/code/commits/list-file-diffs.ts";
import { findOwnTrees } from "../../../domain/code/commits/own-trees.ts";
import { readCommits } from "../../../domain/code/commits/read-commits.ts";
import { findCommit, type Revision } from "../../../domain/code/git/find-revision.ts";
import { readSnapshot, type RepositorySnapshot } from "../../../domain/code/git/open-snapshot.ts";
import { formatDiff } from "../../../domain/code/commits/format-diff.ts";
import { formatPatches } from "../../../domain/code/commits/format-patches.ts";
import { combineStatuses } from "../../../domain/code/statuses/list-statuses.ts";
import { decodeText, readByteText } from "../../../git/byte-text.ts";
import { parseCommit } from "../../../git/object/commit.ts";
import { notFound } from "../../../lib/failure.ts";
import { type CommitEntry, decodeCommitText } from "../../../shapes/git/commit.ts";
import { gitTimeMs } from "../../../shapes/git/git-time.ts";
import type { WebEnv } from "../../env.ts";
import { commitPath, sourcePath } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { CopyButton } from "../copy-button.tsx";
import { hasEditor, mayCommit, pickPath } from "../editor-path.ts";
import { Icon } from "../icon.tsx";
import { renderCommitMessage } from "../markup.ts";
import { CheckName, NO_MESSAGE, Person, Signature, StatusIcon, subjectOf } from "./commit-line.tsx";
import { Diff, DIFF_PAGE, showDiffs } from "./diff.tsx";
import { isFound, readDiffView } from "./diff-view.ts";
import { enterRepositoryPage, READ_CODE, type EnteredRepository } from "./enter.ts";
import { renderRepository } from "./frame.tsx";

const PARTS = { hasStat: false, hasFiles: false, hasVerification: true } as const;

/** Statuses that a commit's page lists. */
const STATUSES = { size: 100, offset: 0 };

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
    const texts = await readTexts(snapshot, found);
    // All ask the database, in one round.
    const [html, [entry], statuses] = await Promise.all([
      renderCommitMessage(ctx, repo, texts.message || NO_MESSAGE),
      readCommits(ctx, snapshot, [found.node], PARTS),
      combineStatuses(ctx, repo.row, found.commitOid, STATUSES),
    ]);
    return entry && { entry, html, note: texts.note, statuses, diffs };
  });
  if (!read) throw notFound();
  const { entry, html, note, statuses, diffs } = read;
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
      <CommitBox page={page} entry={entry} html={html} note={note} />
      {statuses.total === 0 ? undefined : <Statuses page={page} statuses={statuses} />}
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

commit.get("/:owner/:repo/commit/:id{[0-9a-fA-F]{4,40}}/branches-and-tags", async (c) => {
  const page = await enterRepositoryPage(c, READ_CODE);
  const { ctx, repo } = page;
  const read = await readSnapshot(ctx, repo, async (snapshot) => {
    const found = await findCommit(snapshot, c.req.param("id"));
    return found && { found, refs: await listContaining(snapshot, found.node) };
  });
  if (!read) throw notFound();
  const { commitOid } = read.found;
  const short = commitOid.slice(0, 10);
  const groups = [
    { kind: "branch", label: "Branches", ...read.refs.branches },
    { kind: "tag", label: "Tags", ...read.refs.tags },
  ] as const;
  return renderRepository(
    c,
    page,
    {
      tab: "code",
      title: `Branches and tags with ${short} - ${repo.owner.name}/${repo.row.name}`,
    },
    <>
      <h2>
        {"Branches and tags that contain "}
        <a class="oid" href={commitPath(repo, commitOid)}>
          {short}
        </a>
      </h2>
      {groups.map(({ kind, label, names, total }) => (
        <section class="box">
          <h3 class="box-head">{`${label} (${total})`}</h3>
          {total === 0 ? <p class="inside soft">None of them contains it.</p> : undefined}
          <ul class="commits">
            {names.map((name) => (
              <li>
                <a href={sourcePath(repo, "src", { kind, name })}>
                  <Icon name={kind} />
                  {name}
                </a>
              </li>
            ))}
          </ul>
          {total > names.length ? (
            <p class="inside soft">{`${total - names.length} more are not listed.`}</p>
          ) : undefined}
        </section>
      ))}
    </>,
  );
});

/** What people wrote about a commit, as text. */
interface CommitTexts {
  readonly message: string;
  /** The note of `git notes`. */
  readonly note: string | undefined;
}

async function readTexts(
  snapshot: RepositorySnapshot,
  { node, commitOid }: Revision,
): Promise<CommitTexts> {
  const { graph, objects } = snapshot.repository;
  const content = parseCommit(await objects.readAt(graph.location(node)));
  const note = await findNote(snapshot, commitOid);
  return {
    message: decodeCommitText(content, content.message).trim(),
    note: note && decodeText(readByteText(note.content)).trim(),
  };
}

interface CommitBoxProps {
  page: EnteredRepository;
  entry: CommitEntry;
  /** The message. */
  html: string;
  note: string | undefined;
}

function CommitBox({ page, entry, html, note }: CommitBoxProps) {
  const { repo, ctx } = page;
  // A link does not go beyond its line.
  const [subject = "", ...rest] = html.split("\n");
  const body = rest.join("\n").trim();
  const { commit: content, commitOid, parents, author, committer } = entry;
  const isOther = content.author.email !== content.committer.email;
  const path = commitPath(repo, commitOid);
  return (
    <section class="box">
      <div class="inside">
        <h2>{raw(subject)}</h2>
        {body === "" ? undefined : <pre class="message">{raw(body)}</pre>}
        {note === undefined ? undefined : (
          <>
            <h3 class="soft">Note</h3>
            <pre class="message">{note}</pre>
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
        <a href={`${path}/branches-and-tags`}>Branches and tags</a>
        <a href={`${path}.diff`}>Diff</a>
        <a href={`${path}.patch`}>Patch</a>
        {hasEditor(page) && mayCommit(repo) ? (
          <>
            <a href={pickPath(repo, commitOid, repo.row.defaultBranch, "revert")}>Revert</a>
            <a href={pickPath(repo, commitOid, repo.row.defaultBranch, "cherry-pick")}>
              Cherry-pick
            </a>
          </>
        ) : undefined}
      </div>
    </section>
  );
}

interface StatusesProps {
  page: EnteredRepository;
  statuses: Awaited<ReturnType<typeof combineStatuses>>;
}

/** The latest status of each check of a commit, with what its reporter says about it. */
function Statuses({ page: { ctx }, statuses: { items, total } }: StatusesProps) {
  return (
    <section class="box" id="statuses">
      <h2 class="box-head">{`${total} check${total === 1 ? "" : "s"}`}</h2>
      <ul class="commits">
        {items.map(({ status }) => (
          <li>
            <span>
              <StatusIcon state={status.state} /> {status.state}
            </span>
            <span class="grow">
              <CheckName check={status} />
            </span>
            <span class="soft">
              <Ago at={status.createdAt} now={ctx.now} />
            </span>
          </li>
        ))}
      </ul>
      {total > items.length ? (
        <p class="inside soft">{`${total - items.length} older ones are not listed.`}</p>
      ) : undefined}
    </section>
  );
}
