import type { Context } from "hono";

import {
  type FileSearch,
  type MatchingFile,
  searchFiles,
} from "../../../domain/code/contents/search-files.ts";
import { type ListedPage, listPages } from "../../../domain/code/wiki/list-pages.ts";
import { readWiki } from "../../../domain/code/wiki/open-wiki.ts";
import {
  addressOfFile,
  FOOTER,
  SIDEBAR,
  toAddress,
  wholeTitleOf,
} from "../../../shapes/wiki/wiki-path.ts";
import { encodePath } from "../../../shapes/urls.ts";
import type { WebEnv } from "../../env.ts";
import { wikiPath } from "../addresses.ts";
import { Count } from "../count.tsx";
import { Pager, readListPage } from "../pager.tsx";
import { readSearchText } from "../read-search-text.ts";
import { canChange, type EnteredWiki } from "./enter.ts";
import { renderWiki, WikiAuthor, wikiSubject, WikiTools } from "./parts.tsx";

const PAGE_SIZE = 50;
/** Maximum characters of the title of a page that is missing, and of a path to search on from. */
const TITLE_CHARS_MAX = 255;
const AFTER_CHARS_MAX = 4096;
/** Files that are not pages, which are listed at most. */
const FILES_MAX = 200;

/** The pages of a wiki by name, or those that have a text. */
export async function showPages(c: Context<WebEnv>, page: EnteredWiki): Promise<Response> {
  const { ctx, repo } = page;
  const list = readListPage(c, PAGE_SIZE);
  const text = readSearchText(c);
  const after = (c.req.query("after") ?? "").slice(0, AFTER_CHARS_MAX);
  const missing = (c.req.query("missing") ?? "").slice(0, TITLE_CHARS_MAX);
  const read = await readWiki(ctx, repo, async (wiki) => {
    const pages = wiki.pages.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    if (text === "") {
      return { listed: await listPages(wiki, list, pages), files: wiki.files, search: undefined };
    }
    const { repository } = wiki.snapshot;
    const search = await searchFiles(repository, wiki.revision, text, after);
    return { listed: { items: [], total: pages.length }, files: [], search };
  });
  const { listed, files, search } = read ?? {
    listed: { items: [], total: 0 },
    files: [],
    search: undefined,
  };
  return renderWiki(
    c,
    page,
    "Pages",
    <>
      {missing === "" ? undefined : <Missing page={page} title={missing} />}
      <div class="code-bar">
        <h2 class="grow">
          <Count of={listed.total} />
          {` page${listed.total === 1 ? "" : "s"}`}
        </h2>
        <WikiTools page={page} />
      </div>
      <form class="filters" role="search" action={wikiPath(repo)}>
        <input type="hidden" name="action" value="_pages" />
        <input
          type="search"
          name="q"
          value={text}
          aria-label="Text in pages"
          placeholder="Text in pages"
        />
        <button type="submit">Search</button>
      </form>
      {search ? (
        <Hits page={page} search={search} text={text} />
      ) : (
        <ul class="box commits">
          {listed.items.map((item) => (
            <Row page={page} item={item} />
          ))}
        </ul>
      )}
      {search ? undefined : <Pager url={c.req.url} page={list} total={listed.total} />}
      {files.length === 0 ? undefined : <Files page={page} files={files} />}
    </>,
  );
}

/** The order of pages: by title, those that stand beside all others last. */
const keyOf = ({ address }: { address: string }): string =>
  `${address === SIDEBAR || address === FOOTER ? "1" : "0"}${wholeTitleOf(address).toLowerCase()}`;

function Missing({ page, title }: { page: EnteredWiki; title: string }) {
  const query = new URLSearchParams({ action: "_new", title }).toString();
  return (
    <p class="notice" role="status">
      {`There is no page ${title}. `}
      {canChange(page) && toAddress(title) !== "" ? (
        <a href={`${wikiPath(page.repo)}?${query}`}>Write it.</a>
      ) : undefined}
    </p>
  );
}

function Row({ page: { ctx, repo }, item }: { page: EnteredWiki; item: ListedPage }) {
  const { address, lastCommit } = item;
  return (
    <li>
      <div class="grow">
        <a class="subject" href={wikiPath(repo, address)}>
          {wholeTitleOf(address)}
        </a>
        {lastCommit ? (
          <div class="soft">
            <WikiAuthor entry={lastCommit} now={ctx.now} />
            {": "}
            <a href={wikiPath(repo, `commit/${lastCommit.oid}`)}>{wikiSubject(lastCommit)}</a>
          </div>
        ) : undefined}
      </div>
      <a class="soft" href={`${wikiPath(repo, address)}?action=_revision`}>
        History<span class="hidden">{` of ${wholeTitleOf(address)}`}</span>
      </a>
    </li>
  );
}

/** The files that pages show or link to. */
function Files({ page: { repo }, files }: { page: EnteredWiki; files: readonly string[] }) {
  return (
    <details>
      <summary>{`${files.length} other file${files.length === 1 ? "" : "s"}`}</summary>
      <ul class="plain-list">
        {files.slice(0, FILES_MAX).map((file) => (
          <li>
            <a href={wikiPath(repo, `raw/${encodePath(file)}`)}>{file}</a>
          </li>
        ))}
      </ul>
      {files.length > FILES_MAX ? (
        <p class="soft">{`${files.length - FILES_MAX} more are not listed.`}</p>
      ) : undefined}
    </details>
  );
}

interface HitsProps {
  page: EnteredWiki;
  search: FileSearch;
  text: string;
}

function Hits({ page, search: { files, next }, text }: HitsProps) {
  const pages = files.flatMap((file) => {
    const address = addressOfFile(file.path);
    return address === undefined ? [] : [{ ...file, address }];
  });
  const query = { action: "_pages", q: text, ...(next !== undefined && { after: next }) };
  return (
    <>
      <p class="soft">{`${pages.length} page${pages.length === 1 ? " has" : "s have"} this text.`}</p>
      {pages.map((each) => (
        <Hit page={page} file={each} address={each.address} />
      ))}
      {next === undefined ? undefined : (
        <p>
          <a class="button" rel="next" href={`?${new URLSearchParams(query).toString()}`}>
            Search further
          </a>
        </p>
      )}
    </>
  );
}

interface HitProps {
  page: EnteredWiki;
  file: MatchingFile;
  address: string;
}

function Hit({ page: { repo }, file: { lines, lineCount }, address }: HitProps) {
  return (
    <section class="box">
      <h3 class="box-head">
        <a class="grow" href={wikiPath(repo, address)}>
          {wholeTitleOf(address)}
        </a>
        <span class="soft">{`${lineCount} line${lineCount === 1 ? "" : "s"}`}</span>
      </h3>
      <ul class="plain-list inside">
        {lines.map(({ text }) => (
          <li class="wrapped">{text}</li>
        ))}
      </ul>
    </section>
  );
}
