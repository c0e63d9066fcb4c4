import { Hono } from "hono";
import type { Context } from "hono";
import { raw } from "hono/html";
import type { PropsWithChildren } from "hono/jsx";

import { findContentRevision, splitPath } from "../../../domain/code/contents/find-entry.ts";
import { listCommits } from "../../../domain/code/commits/list-commits.ts";
import {
  readSourceView,
  type ShownFile,
  type SourceView,
} from "../../../domain/code/contents/read-source-view.ts";
import { loadLanguageColors } from "../../../domain/code/languages/language-colors.ts";
import { findRefPath, REF_KINDS, type RefKind } from "../../../domain/code/git/find-ref-path.ts";
import type { Revision } from "../../../domain/code/git/find-revision.ts";
import {
  hasRefs,
  readSnapshot,
  type RepositorySnapshot,
} from "../../../domain/code/git/open-snapshot.ts";
import { findPushedBranches } from "../../../domain/pulls/pull/find-pushed-branches.ts";
import { refreshInsights } from "../../../domain/repos/repository/repository-insights.ts";
import { isSubmoduleMode, isSymlinkMode, isTreeMode } from "../../../git/object/tree.ts";
import { notFound } from "../../../lib/failure.ts";
import type { ContentItem } from "../../../shapes/contents/contents.ts";
import type { WebEnv } from "../../env.ts";
import { commitPath, repositoryPath, sourcePath, toCommit } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { CopyButton } from "../copy-button.tsx";
import { formatBytes } from "../format-bytes.ts";
import { Icon } from "../icon.tsx";
import { Pager, readListPage } from "../pager.tsx";
import { ITEMS_PER_PAGE, renderInTurns } from "../render-in-turns.ts";
import { editorPath, hasEditor } from "../editor-path.ts";
import { Breadcrumbs } from "./breadcrumbs.tsx";
import { CommitLine } from "./commit-line.tsx";
import { commitFeedsOf } from "./commits.tsx";
import { EmptyRepository } from "./empty-repository.tsx";
import { enterRepositoryPage, READ_CODE, type EnteredRepository } from "./enter.ts";
import { renderRepository } from "./frame.tsx";
import { toShares } from "./language-bar.tsx";
import { languageOf } from "./languages.ts";
import { countLines, highlightText, Lines, toLines } from "./lines.tsx";
import { renderDocument } from "./render-document.ts";
import { PushedBranches } from "./pushed-branches.tsx";
import { readRefs, RefChooser } from "./ref-chooser.tsx";
import { CloneBox, Summary } from "./summary.tsx";
import { UserText } from "../user-text.tsx";

/** The pages of files and directories: `/alice/project`, `/alice/project/src/branch/main/docs`. */
export const source = new Hono<WebEnv>();

source.get("/:owner/:repo", async (c) => {
  const { owner, repo: name } = c.req.param();
  if (name.endsWith(".git")) return c.redirect(`/${owner}/${name.slice(0, -".git".length)}`, 301);
  const page = await enterRepositoryPage(c, { mode: "read" }, [], { showsInsights: true });
  return showSource(c, page, undefined, []);
});

source.get("/:owner/:repo/src", (c) => {
  const { owner, repo: name } = c.req.param();
  return c.redirect(`/${owner}/${name}`, 303);
});

source.get(`/:owner/:repo/src/:kind{${REF_KINDS.join("|")}}/:path{.+}`, async (c) => {
  const { kind, path } = c.req.param();
  const page = await enterRepositoryPage(c, READ_CODE);
  return showSource(c, page, kind as RefKind, splitPath(path));
});

/** @param kind The kind of the ref that `names` begins with; undefined for the default branch. */
async function showSource(
  c: Context<WebEnv>,
  page: EnteredRepository,
  kind: RefKind | undefined,
  names: readonly string[],
): Promise<Response> {
  const { ctx, repo } = page;
  const isHome = kind === undefined;
  const read = await readSnapshot(ctx, repo, async (snapshot) => {
    if (!hasRefs(snapshot.state)) return undefined;
    const at = kind
      ? await findRefPath(snapshot, kind, names)
      : await findContentRevision(snapshot, repo, "").then(
          (revision) => revision && { revision, names },
        );
    const [found, pushed] = await Promise.all([
      at && readSourceView(ctx, repo, snapshot, at.revision, at.names),
      isHome ? findPushedBranches(ctx, repo) : [],
    ]);
    if (!found || !at) return undefined;
    // It takes a walk over the history.
    const commitCount = isHome ? await countCommits(snapshot, at.revision) : undefined;
    return { found, refs: readRefs(snapshot), commitCount, pushed };
  });
  if (!read) {
    // Only the default branch of a repository may be one that does not exist yet.
    if (kind) throw notFound();
    return renderRepository(
      c,
      page,
      { tab: "code", title: titleOf(page) },
      <EmptyRepository page={page} />,
    );
  }
  const { found, refs, commitCount, pushed } = read;
  const { revision, path } = found;
  const isRoot = path === "";
  const isSource = c.req.query("display") === "source";
  const rendered = await renderText(page, found, isSource);
  const language = found.file?.text === undefined ? undefined : await languageOf(found.file.name);
  const list = readListPage(c, ITEMS_PER_PAGE);
  const shown = found.items.slice(list.offset, list.offset + list.size);
  const entries = await renderInTurns(shown, (item) => (
    <Entry page={page} found={found} item={item} now={ctx.now} />
  ));
  const { languages } = isHome
    ? refreshInsights(ctx, repo, page.insights, revision.commitOid)
    : { languages: [] };
  const colors = languages.length > 0 ? await loadLanguageColors() : {};
  return renderRepository(
    c,
    page,
    {
      tab: "code",
      title: isRoot ? titleOf(page) : pathTitleOf(page, found),
      hasUserText: true,
      loadsParts: found.file?.text !== undefined,
      feeds: commitFeedsOf(repo, revision, path),
      scripts: ["code.ts"],
    },
    <>
      <PushedBranches page={page} pushed={pushed} />
      {commitCount !== undefined ? (
        <Summary
          page={page}
          refs={refs}
          commits={{ path: sourcePath(repo, "commits", revision), count: commitCount }}
          languages={toShares(languages, colors)}
        />
      ) : undefined}
      <div class="code-bar" data-permalink={sourcePath(repo, "src", toCommit(revision), path)}>
        <RefChooser page={page} revision={revision} refs={refs} view="src" path={path} />
        <Breadcrumbs page={page} revision={revision} path={path} />
        <a class="button" data-key="t" href={sourcePath(repo, "find", revision)}>
          Find a file
        </a>
        {isRoot ? (
          <a class="button" href={`${repositoryPath(repo)}/search`}>
            Search
          </a>
        ) : undefined}
        {found.file ? undefined : <AddMenu page={page} found={found} />}
        {isRoot ? <CloneBox page={page} revision={revision} /> : undefined}
      </div>
      {found.file ? (
        <File
          page={page}
          found={found}
          file={found.file}
          language={language}
          rendered={rendered}
          isSource={isSource}
        />
      ) : (
        <Directory page={page} found={found} entries={entries} rendered={rendered}>
          <Pager url={c.req.url} page={list} total={found.items.length} />
        </Directory>
      )}
    </>,
  );
}

/** The ways to add files to a directory of a branch. */
function AddMenu({ page, found }: { page: EnteredRepository; found: SourceView }) {
  const { repo } = page;
  const { revision, path } = found;
  if (revision.kind !== "branch" || !hasEditor(page)) return <></>;
  const links = [
    ["New file", editorPath(repo, "_new", revision.name, path)],
    ["Upload files", editorPath(repo, "_upload", revision.name, path)],
    ["Apply a patch", editorPath(repo, "_diffpatch", revision.name)],
  ] as const;
  return (
    <details class="menu">
      <summary class="button">Add</summary>
      <ul class="menu-body">
        {links.map(([label, href]) => (
          <li>
            <a href={href}>{label}</a>
          </li>
        ))}
      </ul>
    </details>
  );
}

async function countCommits(snapshot: RepositorySnapshot, { node }: Revision): Promise<number> {
  const { total } = await listCommits(snapshot, { tips: [node] }, { size: 0, offset: 0 });
  return total;
}

const titleOf = ({ repo: { row, owner } }: EnteredRepository): string =>
  `${owner.name}/${row.name}${row.description === "" ? "" : `: ${row.description}`}`;

const pathTitleOf = (
  { repo: { row } }: EnteredRepository,
  { path, revision }: SourceView,
): string => {
  const ref = revision.kind === "commit" ? revision.name.slice(0, 10) : revision.name;
  return `${row.name}/${path.slice(path.lastIndexOf("/") + 1)} at ${ref}`;
};

/** A text of the repository as HTML. */
interface Rendered {
  readonly html: string;
  /** Whether it is a document as its markup says, or the lines of the text. */
  readonly isDocument: boolean;
}

/**
 * Renders the text that a page shows: that of a file, or of a directory's document.
 *
 * @param isSource Whether a document is shown as its text.
 */
async function renderText(
  { ctx, repo }: EnteredRepository,
  { file, readme, revision }: SourceView,
  isSource: boolean,
): Promise<Rendered | undefined> {
  const shown = file ?? readme;
  if (shown?.text === undefined || shown.kind === "symlink") return undefined;
  const document = file && isSource ? undefined : await renderDocument(ctx, repo, revision, shown);
  if (document !== undefined) return { html: document, isDocument: true };
  const lines = await highlightText(ctx, shown.name, shown.text);
  return { html: toLines(lines), isDocument: false };
}

interface DirectoryProps {
  page: EnteredRepository;
  found: SourceView;
  /** The rows of the entries on this page of the list, as HTML. */
  entries: string;
  /** The directory's document. */
  rendered: Rendered | undefined;
}

function Directory({
  page,
  found,
  entries,
  rendered,
  children,
}: PropsWithChildren<DirectoryProps>) {
  const { repo } = page;
  const { path, items, revision, readme } = found;
  const history = { path: sourcePath(repo, "commits", revision, path), label: "History" };
  const above = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
  return (
    <>
      <div class="box">
        <CommitLine page={page} entry={found.lastCommit} history={history} />
        <table class="files">
          <caption class="hidden">{`Entries of ${path === "" ? "the root directory" : path}`}</caption>
          <thead>
            <tr>
              {["Name", "Last commit", "Changed"].map((title) => (
                <th scope="col">
                  <span class="hidden">{title}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {path === "" ? undefined : (
              <tr>
                <td>
                  <a href={sourcePath(repo, "src", revision, above)}>
                    <span class="hidden">Directory above: </span>..
                  </a>
                </td>
                <td />
                <td />
              </tr>
            )}
            {raw(entries)}
          </tbody>
        </table>
        {items.some(({ lastCommit }) => lastCommit === undefined) ? (
          <p class="inside soft">
            Some last commits are still being looked for: <a href="">look again</a>
          </p>
        ) : undefined}
      </div>
      {children}
      {readme && rendered ? (
        <article class="box" id="readme">
          <h2 class="box-head">
            <a href={sourcePath(repo, "src", revision, readme.path)}>{readme.name}</a>
          </h2>
          {rendered.isDocument ? (
            <UserText html={rendered.html} />
          ) : (
            <Lines name={readme.name} html={rendered.html} />
          )}
        </article>
      ) : undefined}
    </>
  );
}

interface EntryProps {
  page: EnteredRepository;
  found: SourceView;
  item: ContentItem;
  now: number;
}

function Entry({ page: { repo }, found: { revision }, item, now }: EntryProps) {
  const { path, mode, lastCommit, target, oid, submoduleUrl } = item;
  const name = path.slice(path.lastIndexOf("/") + 1);
  const subject = lastCommit?.message?.split("\n", 1)[0] ?? "";
  return (
    <tr>
      <td>
        <Icon name={iconOf(mode)} />
        <a href={sourcePath(repo, "src", revision, path)}>{name}</a>
        {isSymlinkMode(mode) && target !== null ? (
          <span class="soft">{` → ${target}`}</span>
        ) : undefined}
        {isSubmoduleMode(mode) ? (
          <span class="soft" title={submoduleUrl ?? ""}>{` @ ${oid.slice(0, 10)}`}</span>
        ) : undefined}
      </td>
      <td>
        {lastCommit ? (
          <a class="soft" href={commitPath(repo, lastCommit.oid)}>
            {subject}
          </a>
        ) : undefined}
      </td>
      <td class="soft">
        {lastCommit ? <Ago at={lastCommit.committerSeconds * 1000} now={now} /> : undefined}
      </td>
    </tr>
  );
}

function iconOf(mode: number): string {
  if (isTreeMode(mode)) return "folder";
  if (isSubmoduleMode(mode)) return "module";
  return isSymlinkMode(mode) ? "link" : "file";
}

interface FileProps {
  page: EnteredRepository;
  found: SourceView;
  file: ShownFile;
  /** The language of a text. */
  language: string | undefined;
  rendered: Rendered | undefined;
  /** Whether a document is shown as its text. */
  isSource: boolean;
}

const KIND_NAMES = {
  file: undefined,
  executable: "Executable",
  symlink: "Symbolic link",
  submodule: "Submodule",
} as const;

/** Whether the lines of a file are those of its blob. */
const isBlamed = ({ kind, isLfs }: ShownFile): boolean =>
  !isLfs && (kind === "file" || kind === "executable");

function File({ page, found, file, language, rendered, isSource }: FileProps) {
  const { repo } = page;
  const { revision, path } = found;
  const history = { path: sourcePath(repo, "commits", revision, path), label: "History" };
  const lineCount = file.text === undefined ? 0 : countLines(file.text);
  const facts = [
    ...(file.text === undefined ? [] : [`${lineCount} line${lineCount === 1 ? "" : "s"}`]),
    ...(file.kind === "submodule" ? [] : [formatBytes(file.sizeBytes)]),
    ...(language === undefined ? [] : [language]),
    ...(KIND_NAMES[file.kind] ? [KIND_NAMES[file.kind]] : []),
    ...(file.isLfs ? ["Stored with Git LFS"] : []),
  ];
  const hasBlame = file.text !== undefined && isBlamed(file);
  const links = [
    ...(hasBlame ? [["Blame", sourcePath(repo, "blame", revision, path)] as const] : []),
    ["Raw", sourcePath(repo, file.isLfs ? "media" : "raw", revision, path)],
    ["Permalink", sourcePath(repo, "src", toCommit(revision), path)],
    ...(revision.kind === "branch"
      ? [["Feed", sourcePath(repo, "atom", revision, path)] as const]
      : []),
    ...(revision.kind === "branch" && hasEditor(page)
      ? ([
          ["Edit", editorPath(repo, "_edit", revision.name, path)],
          ["Delete", editorPath(repo, "_delete", revision.name, path)],
        ] as const)
      : []),
  ] as const;
  return (
    <div class="box">
      <CommitLine page={page} entry={found.lastCommit} history={history} />
      <div class="box-head">
        <span class="soft grow">{facts.join(", ")}</span>
        {rendered?.isDocument || isSource ? (
          <a href={isSource ? "?" : "?display=source"}>{isSource ? "Rendered" : "Source"}</a>
        ) : undefined}
        {(file.kind === "submodule" ? links.filter(([label]) => label === "Delete") : links).map(
          ([label, href]) => (
            <a href={href}>{label}</a>
          ),
        )}
        {file.text === undefined || file.kind === "submodule" ? undefined : (
          <CopyButton file={sourcePath(repo, file.isLfs ? "media" : "raw", revision, path)} />
        )}
      </div>
      <Content page={page} found={found} file={file} rendered={rendered} />
    </div>
  );
}

function Content({
  page: { repo },
  found: { revision, path },
  file,
  rendered,
}: Omit<FileProps, "isSource" | "language">) {
  const { name, type, submodule } = file;
  if (submodule) {
    return (
      <p class="inside">
        {`Submodule at commit ${submodule.oid.slice(0, 10)}`}
        {submodule.url === "" ? "" : ` of ${submodule.url}`}
      </p>
    );
  }
  const src = sourcePath(repo, "media", revision, path);
  if (file.kind === "symlink")
    return <p class="inside">{`This link leads to ${file.text ?? ""}`}</p>;
  if (file.text === "") return <p class="inside">This file is empty.</p>;
  if (rendered?.isDocument) return <UserText html={rendered.html} />;
  if (rendered) return <Lines name={name} html={rendered.html} />;
  if (type.startsWith("image/")) {
    return (
      <p class="inside picture">
        <img src={src} alt={name} />
      </p>
    );
  }
  if (/\.(?:mp4|webm|ogv|mov)$/i.test(name)) {
    return (
      <p class="inside picture">
        <video src={src} controls preload="metadata" />
      </p>
    );
  }
  if (/\.(?:mp3|oga|ogg|opus|wav|flac|m4a)$/i.test(name)) {
    return (
      <p class="inside">
        <audio src={src} controls preload="metadata" />
      </p>
    );
  }
  if (type === "application/pdf") {
    return (
      <p class="inside">
        <a href={src}>{`Open ${name} (${formatBytes(file.sizeBytes)})`}</a>
      </p>
    );
  }
  return (
    <p class="inside">
      {type.startsWith("text/")
        ? "This file is too large to be shown here."
        : "This file is no text."}{" "}
      <a href={src} download>
        {`Download ${name} (${formatBytes(file.sizeBytes)})`}
      </a>
    </p>
  );
}
