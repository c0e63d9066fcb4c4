import { Hono } from "hono";
import { raw } from "hono/html";

import { splitPath } from "../../../domain/code/contents/find-entry.ts";
import {
  type BlamedLines,
  type BlameView,
  readBlame,
  type VersionPath,
} from "../../../domain/code/contents/read-blame.ts";
import { findRefPath, REF_KINDS, type RefKind } from "../../../domain/code/git/find-ref-path.ts";
import type { Revision } from "../../../domain/code/git/find-revision.ts";
import { readSnapshot } from "../../../domain/code/git/open-snapshot.ts";
import { notFound } from "../../../lib/failure.ts";
import { decodeCommitText } from "../../../shapes/git/commit.ts";
import { gitTimeMs } from "../../../shapes/git/git-time.ts";
import type { WebEnv } from "../../env.ts";
import { commitPath, sourcePath, toCommit } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { formatBytes } from "../format-bytes.ts";
import { Pager, readListPage } from "../pager.tsx";
import { ITEMS_PER_PAGE, renderInTurns } from "../render-in-turns.ts";
import { Breadcrumbs } from "./breadcrumbs.tsx";
import { subjectOf } from "./commit-line.tsx";
import { enterRepositoryPage, READ_CODE, type EnteredRepository } from "./enter.ts";
import { renderRepository } from "./frame.tsx";
import { countLines, highlightText, toLines } from "./lines.tsx";
import { readRefs, RefChooser } from "./ref-chooser.tsx";

/** The lines of a file with the commits that they come from. */
export const blame = new Hono<WebEnv>();

blame.get(`/:owner/:repo/blame/:kind{${REF_KINDS.join("|")}}/:path{.+}`, async (c) => {
  const page = await enterRepositoryPage(c, READ_CODE);
  const { ctx, repo } = page;
  const { kind, path: refPath } = c.req.param();
  const read = await readSnapshot(ctx, repo, async (snapshot) => {
    const at = await findRefPath(snapshot, kind as RefKind, splitPath(refPath));
    const view = at && (await readBlame(ctx, snapshot, at.revision, at.names));
    return view && { ...at, view, refs: readRefs(snapshot) };
  });
  if (!read) throw notFound();
  const { revision, names, view, refs } = read;
  const path = names.join("/");
  const name = names.at(-1) ?? "";
  const html = view.text === undefined ? [] : await highlightText(ctx, name, view.text);
  // A large file may have as many blocks as lines.
  const list = readListPage(c, ITEMS_PER_PAGE);
  const shown = view.lines.slice(list.offset, list.offset + list.size);
  const blocks = await renderInTurns(shown, (lines) => (
    <li>
      <Origin page={page} lines={lines} />
      <pre class="code">
        {raw(toLines(html.slice(lines.line, lines.line + lines.count), lines.line + 1))}
      </pre>
    </li>
  ));
  return renderRepository(
    c,
    page,
    {
      tab: "code",
      title: `Blame of ${path} - ${repo.owner.name}/${repo.row.name}`,
      scripts: ["code.ts"],
    },
    <>
      <div class="code-bar" data-permalink={sourcePath(repo, "blame", toCommit(revision), path)}>
        <RefChooser page={page} revision={revision} refs={refs} view="blame" path={path} />
        <Breadcrumbs page={page} revision={revision} path={path} />
      </div>
      {view.lines.some(({ isOpen }) => isOpen) ? (
        <p class="notice">
          Some lines are older than the part of the history that was looked at. Load this page again
          to look further, or follow the link of such lines.
        </p>
      ) : undefined}
      <div class="box">
        <FileHead page={page} revision={revision} path={path} view={view} />
        <Blamed view={view} name={name} blocks={blocks} />
      </div>
      <Pager url={c.req.url} page={list} total={view.lines.length} />
    </>,
  );
});

interface FileHeadProps {
  page: EnteredRepository;
  revision: Revision;
  path: string;
  view: BlameView;
}

function FileHead({ page: { repo }, revision, path, view }: FileHeadProps) {
  const { text, sizeBytes } = view;
  const lineCount = countLines(text ?? "");
  const lines = `${lineCount} line${lineCount === 1 ? "" : "s"}, `;
  return (
    <div class="box-head">
      <span class="soft grow">{`${text === undefined ? "" : lines}${formatBytes(sizeBytes)}`}</span>
      <a href={sourcePath(repo, "src", revision, path)}>File</a>
      <a href={sourcePath(repo, "commits", revision, path)}>History</a>
      <a href={sourcePath(repo, "raw", revision, path)}>Raw</a>
      <a href={sourcePath(repo, "blame", toCommit(revision), path)}>Permalink</a>
    </div>
  );
}

interface BlamedProps {
  view: BlameView;
  name: string;
  /** HTML. */
  blocks: string;
}

function Blamed({ view, name, blocks }: BlamedProps) {
  if (view.text === undefined) {
    return <p class="inside">This file is no text, or it is too large: its lines are not shown.</p>;
  }
  if (view.text === "") return <p class="inside">This file is empty.</p>;
  return (
    <div class="scroll" tabindex={0} role="region" aria-label={`Lines of ${name}`}>
      <ol class="blame">{raw(blocks)}</ol>
    </div>
  );
}

/** The commit that lines come from, and the way to the version before it. */
function Origin({ page: { ctx, repo }, lines }: { page: EnteredRepository; lines: BlamedLines }) {
  const { entry, previous, isOpen } = lines;
  const { commit, commitOid } = entry;
  const pathAt = (version: VersionPath): string =>
    sourcePath(repo, "blame", { kind: "commit", name: version.commitOid }, version.path);
  if (isOpen) {
    return (
      <div class="soft">
        <a
          href={pathAt({ commitOid, path: lines.path })}
        >{`In ${commitOid.slice(0, 10)}, or older`}</a>
      </div>
    );
  }
  const author = decodeCommitText(commit, commit.author.name);
  return (
    <div class="soft">
      <a href={commitPath(repo, commitOid)}>{subjectOf(entry)}</a>
      <span>{author}</span>
      <Ago at={gitTimeMs(commit.author.timeSeconds)} now={ctx.now} />
      {previous ? (
        <a href={pathAt(previous)} title="Blame before this change">
          <span aria-hidden="true">↶</span>
          <span class="hidden">Blame before this change</span>
        </a>
      ) : (
        <span />
      )}
    </div>
  );
}
