import { Hono } from "hono";
import type { Context } from "hono";

import { splitPath } from "../../../domain/code/contents/find-entry.ts";
import { findPaths, listPaths, type PathList } from "../../../domain/code/contents/list-paths.ts";
import { findRefPath, REF_KINDS, type RefKind } from "../../../domain/code/git/find-ref-path.ts";
import type { Revision } from "../../../domain/code/git/find-revision.ts";
import { readSnapshot, type RepositorySnapshot } from "../../../domain/code/git/open-snapshot.ts";
import { notFound } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { repositoryPath, sourcePath } from "../addresses.ts";
import { Count } from "../count.tsx";
import { readSearchText } from "../read-search-text.ts";
import { enterRepositoryPage, READ_CODE, type EnteredRepository } from "./enter.ts";
import { renderRepository } from "./frame.tsx";
import { readRefs, RefChooser } from "./ref-chooser.tsx";

/** Files that are shown at once. The script shows as many. */
const FOUND_MAX = 50;

const REF = `:kind{${REF_KINDS.join("|")}}/:path{.+}`;

/** The page that finds a file of a revision by a part of its path. */
export const find = new Hono<WebEnv>();

find.get(`/:owner/:repo/find/${REF}`, async (c) => {
  const page = await enterRepositoryPage(c, READ_CODE);
  const { repo } = page;
  const { revision, list, refs } = await readList(c, page, readRefs);
  const text = readSearchText(c);
  const { items, total } = await findPaths(list, text, FOUND_MAX);
  return renderRepository(
    c,
    page,
    {
      tab: "code",
      title: `Find a file - ${repo.owner.name}/${repo.row.name}`,
      scripts: ["find.ts"],
      loadsParts: true,
    },
    <>
      <div class="code-bar">
        <RefChooser page={page} revision={revision} refs={refs} view="find" path="" />
        <h2>Find a file</h2>
        <a href={`${repositoryPath(repo)}/search`}>Search in files</a>
      </div>
      <form class="filters" role="search">
        <input
          type="search"
          name="q"
          value={text}
          aria-label="Part of a path"
          placeholder="Part of a path"
          autocomplete="off"
          autofocus
          data-paths={sourcePath(repo, "tree-list", revision)}
          data-files={sourcePath(repo, "src", revision)}
        />
        <button type="submit">Find</button>
      </form>
      <p class="soft" id="found-count" aria-live="polite">
        <Count of={total} />
        {` file${total === 1 ? "" : "s"}`}
      </p>
      {list.isComplete ? undefined : (
        <p class="notice">This revision has more files than can be searched here.</p>
      )}
      <ul class="box found" id="found">
        {items.map((path) => (
          <li>
            <a href={sourcePath(repo, "src", revision, path)}>{path}</a>
          </li>
        ))}
      </ul>
    </>,
  );
});

// For the script of the page: all paths of a revision.
find.get(`/:owner/:repo/tree-list/${REF}`, async (c) => {
  const page = await enterRepositoryPage(c, READ_CODE);
  const { list } = await readList(c, page, () => undefined);
  c.header("Cache-Control", "no-store");
  return c.json(list.paths);
});

/** @throws Failure `not_found` for a path that is no whole name of a branch, tag or commit. */
async function readList<Refs>(
  c: Context<WebEnv>,
  { ctx, repo }: EnteredRepository,
  refsOf: (snapshot: RepositorySnapshot) => Refs,
): Promise<{ revision: Revision; list: PathList; refs: Refs }> {
  const { kind = "", path = "" } = c.req.param() as Record<string, string>;
  const read = await readSnapshot(ctx, repo, async (snapshot) => {
    const at = await findRefPath(snapshot, kind as RefKind, splitPath(path));
    if (!at || at.names.length > 0) return undefined;
    const { revision } = at;
    const list = await listPaths(snapshot.repository, revision);
    return { revision, list, refs: refsOf(snapshot) };
  });
  if (!read) throw notFound();
  return read;
}
