import { Hono } from "hono";

import { findContentRevision } from "../../../domain/code/contents/find-entry.ts";
import {
  type FileSearch,
  type MatchingFile,
  searchFiles,
} from "../../../domain/code/contents/search-files.ts";
import type { Revision } from "../../../domain/code/git/find-revision.ts";
import { readSnapshot } from "../../../domain/code/git/open-snapshot.ts";
import type { WebEnv } from "../../env.ts";
import { sourcePath } from "../addresses.ts";
import { Count } from "../count.tsx";
import { readSearchText } from "../read-search-text.ts";
import { enterRepositoryPage, READ_CODE, type EnteredRepository } from "./enter.ts";
import { renderRepository } from "./frame.tsx";

/** Maximum length of a path after which a search goes on, in characters. */
const AFTER_CHARS_MAX = 4096;

/** The page that searches the files of the default branch for a text. */
export const search = new Hono<WebEnv>();

search.get("/:owner/:repo/search", async (c) => {
  const page = await enterRepositoryPage(c, READ_CODE);
  const { ctx, repo } = page;
  const text = readSearchText(c);
  const after = (c.req.query("after") ?? "").slice(0, AFTER_CHARS_MAX);
  const read = await readSnapshot(ctx, repo, async (snapshot) => {
    const revision = await findContentRevision(snapshot, repo, "");
    if (!revision || text === "") return undefined;
    return { revision, found: await searchFiles(snapshot.repository, revision, text, after) };
  });
  return renderRepository(
    c,
    page,
    { tab: "code", title: `Search - ${repo.owner.name}/${repo.row.name}` },
    <>
      <h2>{`Search the files of ${repo.row.defaultBranch}`}</h2>
      <form class="filters" role="search">
        <input type="search" name="q" value={text} aria-label="Text in files" placeholder="Text" />
        <button type="submit">Search</button>
      </form>
      {read ? (
        <Found page={page} revision={read.revision} found={read.found} text={text} />
      ) : undefined}
    </>,
  );
});

interface FoundProps {
  page: EnteredRepository;
  revision: Revision;
  found: FileSearch;
  text: string;
}

function Found({ page, revision, found, text }: FoundProps) {
  const { files, searchedCount, largeCount, next } = found;
  const more =
    next === undefined ? "" : `?${new URLSearchParams({ q: text, after: next }).toString()}`;
  return (
    <>
      <p class="soft">
        {`${files.length} file${files.length === 1 ? " has" : "s have"} this text, of `}
        <Count of={searchedCount} />
        {" that were searched. Files that are no text are not searched"}
        {largeCount === 0 ? "." : `, nor are ${largeCount} of more than 1 MiB.`}
      </p>
      {files.map((file) => (
        <FileHits page={page} revision={revision} file={file} text={text} />
      ))}
      {next === undefined ? undefined : (
        <p>
          {`Files after ${next} were not searched yet. `}
          <a class="button" rel="next" href={more}>
            Search further
          </a>
        </p>
      )}
    </>
  );
}

interface FileHitsProps {
  page: EnteredRepository;
  revision: Revision;
  file: MatchingFile;
  text: string;
}

function FileHits({ page: { repo }, revision, file, text }: FileHitsProps) {
  const { path, lines, lineCount } = file;
  const href = sourcePath(repo, "src", revision, path);
  // Where a document is rendered, its lines have no addresses.
  const source = `${href}?display=source`;
  return (
    <section class="box">
      <h3 class="box-head">
        <a class="grow" href={href}>
          {path}
        </a>
        <span class="soft">{`${lineCount} line${lineCount === 1 ? "" : "s"}`}</span>
      </h3>
      <div class="scroll" tabindex={0} role="region" aria-label={`Lines of ${path}`}>
        <pre class="code">
          {lines.map(({ number, text: line }) => (
            <span>
              <a href={`${source}#L${number}`}>{number}</a>
              <Marked line={line} text={text} />
              {"\n"}
            </span>
          ))}
        </pre>
      </div>
    </section>
  );
}

/** A line, with what was searched for marked. */
function Marked({ line, text }: { line: string; text: string }) {
  const [folded, query] = [line.toLowerCase(), text.toLowerCase()];
  const at = folded.indexOf(query);
  // In some scripts, a text changes its length with its case.
  if (at < 0 || folded.length !== line.length) return <>{line}</>;
  const end = at + query.length;
  return (
    <>
      {line.slice(0, at)}
      <mark>{line.slice(at, end)}</mark>
      {line.slice(end)}
    </>
  );
}
