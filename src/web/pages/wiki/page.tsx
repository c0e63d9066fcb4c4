import type { Context } from "hono";

import { findCommit } from "../../../domain/code/git/find-revision.ts";
import { findRenamedPage } from "../../../domain/code/wiki/find-renamed-page.ts";
import {
  findMeantPage,
  findWikiPage,
  type OpenWiki,
  readWiki,
} from "../../../domain/code/wiki/open-wiki.ts";
import {
  readWikiPage,
  type WikiPageEntry,
  type WikiText,
} from "../../../domain/code/wiki/read-page.ts";
import { notFound } from "../../../lib/failure.ts";
import { encodePath, htmlUrlOf } from "../../../shapes/urls.ts";
import { fileOfAddress, HOME, wholeTitleOf } from "../../../shapes/wiki/wiki-path.ts";
import type { WebEnv } from "../../env.ts";
import { wikiPath } from "../addresses.ts";
import { CopyButton, CopyIcon } from "../copy-button.tsx";
import { renderComments } from "../markup.ts";
import { UserText } from "../user-text.tsx";
import { Contents } from "./contents.tsx";
import { canChange, type EnteredWiki } from "./enter.ts";
import { renderWiki, WikiAuthor, WikiTools } from "./parts.tsx";

/** What an address of a wiki leads to. */
type Found =
  | { readonly kind: "page"; readonly entry: WikiPageEntry; readonly rev: string | undefined }
  /** Below the path of the wiki. */
  | { readonly kind: "moved"; readonly to: string };

/** Shows a page, or leads to what its address means. */
export async function showPage(c: Context<WebEnv>, page: EnteredWiki): Promise<Response> {
  const { ctx, repo, address } = page;
  const rev = c.req.query("rev");
  const found = await readWiki(ctx, repo, (wiki) => find(wiki, page, rev));
  if (!found) return showStart(c, page);
  if (found.kind === "moved") return c.redirect(`${wikiPath(repo)}${found.to}`, 303);
  const { entry } = found;
  const title = wholeTitleOf(address);
  const [html = "", sidebar = "", footer = ""] = await renderTexts(page, entry);
  const [path, last] = [wikiPath(repo, entry.file.address), entry.lastCommit];
  return renderWiki(
    c,
    page,
    title,
    <>
      <div class="code-bar">
        <h2 class="grow">{title}</h2>
        {found.rev === undefined && canChange(page) ? (
          <>
            <a class="button" href={`${path}?action=_edit`}>
              Edit
            </a>
            <a class="button" href={`${path}?action=_delete`}>
              Delete
            </a>
          </>
        ) : undefined}
        <a class="button" href={`${path}?action=_revision`}>
          {`History (${entry.commitCount})`}
        </a>
        <WikiTools page={page} />
      </div>
      {found.rev === undefined ? undefined : (
        <p class="notice">
          {`This is the page as of ${found.rev.slice(0, 10)}. `}
          <a href={path}>Show it as it is now.</a>
        </p>
      )}
      {last ? (
        <p class="soft">
          {"Last changed by "}
          <WikiAuthor entry={last} now={ctx.now} />
        </p>
      ) : undefined}
      <div class="split end">
        <div>
          <article class="box">
            <UserText html={html} />
          </article>
          {footer === "" ? undefined : (
            <aside class="box" aria-label="Footer of the wiki">
              <UserText html={footer} />
            </aside>
          )}
        </div>
        <aside class="side" aria-label="About this wiki">
          <Contents html={html} />
          {sidebar === "" ? undefined : (
            <div class="side-part">
              <UserText html={sidebar} />
            </div>
          )}
          <div class="side-part">
            <h2>Clone this wiki</h2>
            <p class="wrapped">
              <code>{cloneUrlOf(page)}</code> <CopyButton text={cloneUrlOf(page)} />
            </p>
          </div>
        </aside>
      </div>
    </>,
    { hasUserText: true },
  );
}

const cloneUrlOf = ({ ctx, repo }: EnteredWiki): string => `${htmlUrlOf(repo, ctx)}.wiki.git`;

/** @param rev The commit of which the page is shown; undefined for the newest. */
async function find(
  wiki: OpenWiki,
  { address, isNamed }: EnteredWiki,
  rev: string | undefined,
): Promise<Found> {
  const revision = rev === undefined ? wiki.revision : await findCommit(wiki.snapshot, rev);
  if (!revision) throw notFound();
  const file = findWikiPage(wiki, address) ?? (rev && { address, path: fileOfAddress(address) });
  const entry = file ? await readWikiPage(wiki, file, revision) : undefined;
  if (entry) {
    // One page has one address.
    const isElsewhere = entry.file.address !== address;
    return isElsewhere && rev === undefined
      ? { kind: "moved", to: `/${entry.file.address}` }
      : { kind: "page", entry, rev: rev && revision.commitOid };
  }
  if (rev !== undefined) throw notFound();
  return { kind: "moved", to: await findMoved(wiki, address, isNamed) };
}

/** Where an address leads that no page has. */
async function findMoved(wiki: OpenWiki, address: string, isNamed: boolean): Promise<string> {
  const path = fileOfAddress(address).replace(/\.md$/, "");
  const file = wiki.files.find((each) => each === path || each === wholeTitleOf(address));
  if (file !== undefined) return `/raw/${encodePath(file)}`;
  if (!isNamed) return "?action=_pages";
  const renamed = await findRenamedPage(wiki, address);
  const to = renamed ?? findMeantPage(wiki, address)?.address;
  if (to !== undefined && to !== address) return `/${to}`;
  return `?${new URLSearchParams({ action: "_pages", missing: wholeTitleOf(address) }).toString()}`;
}

/** Renders a page, the sidebar and the footer, each as HTML; "" for those that do not exist. */
async function renderTexts(
  { ctx, repo }: EnteredWiki,
  { file: { address }, text, sidebar, footer }: WikiPageEntry,
): Promise<string[]> {
  const { MARKUP_CHARS_MAX } = await import("../../../render/markup.ts");
  const texts = [text, sidebar, footer].map((each) => toMarkup(each, MARKUP_CHARS_MAX));
  const wikiFolder = address.slice(0, Math.max(0, address.lastIndexOf("/")));
  const options = { mode: "wiki", wikiFolder } as const;
  const [[own = ""], beside] = await Promise.all([
    renderComments(ctx, repo, texts.slice(0, 1), options),
    renderComments(ctx, repo, texts.slice(1), { mode: "wiki" }),
  ]);
  return [own, ...beside].map((html) => (html.trim() === "" ? "" : html));
}

/** The Markdown of a text; of one that is too long or is none, why it is not shown. */
function toMarkup(text: WikiText | undefined, charsMax: number): string {
  if (!text) return "";
  const markdown = new TextDecoder().decode(text.content);
  return markdown.length <= charsMax
    ? markdown
    : "*This text is too long to be shown: see the raw file.*";
}

/** The wiki of a repository before its first page. */
async function showStart(c: Context<WebEnv>, page: EnteredWiki): Promise<Response> {
  const commands = `git clone ${cloneUrlOf(page)}`;
  const path = `${wikiPath(page.repo)}?action=_new&title=${HOME}`;
  return renderWiki(
    c,
    page,
    "Wiki",
    <section class="card">
      <h2>This wiki has no pages yet</h2>
      {canChange(page) ? (
        <>
          <p>
            A wiki holds what readers of the project need to know, as pages that link one another.
          </p>
          <p>
            <a class="button primary" href={path}>
              Write the first page
            </a>
          </p>
          <p>
            {"Or write it with an editor of yours, as Markdown files, and push it: "}
            <CopyIcon text={commands} subject="the command" />
          </p>
          <pre class="secret">{commands}</pre>
        </>
      ) : (
        <p>Nobody has written one.</p>
      )}
    </section>,
  );
}
