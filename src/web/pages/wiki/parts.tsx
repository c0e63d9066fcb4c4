import type { Context } from "hono";
import type { Child } from "hono/jsx";

import type { WikiCommitEntry } from "../../../domain/code/wiki/read-page.ts";
import { decodeCommitText } from "../../../shapes/git/commit.ts";
import { gitTimeMs } from "../../../shapes/git/git-time.ts";
import type { WebEnv } from "../../env.ts";
import { wikiPath } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import type { PageOptions } from "../render-page.tsx";
import { renderRepository } from "../repository/frame.tsx";
import { canChange, type EnteredWiki } from "./enter.ts";

/** Sends a page of a wiki. */
export const renderWiki = async (
  c: Context<WebEnv>,
  page: EnteredWiki,
  title: string,
  body: Child,
  options: Partial<PageOptions> = {},
): Promise<Response> => {
  const { owner, row } = page.repo;
  const names = `${owner.name}/${row.name}`;
  return renderRepository(c, page, { ...options, tab: "wiki", title: `${title} - ${names}` }, body);
};

/** The text of a page; undefined for bytes that are none. */
export function toText(content: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    // It is no UTF-8: an editor would change more than what is edited.
    return undefined;
  }
}

/** The first line of a commit's message. */
export function wikiSubject({ commit }: WikiCommitEntry): string {
  const [subject = ""] = decodeCommitText(commit, commit.message).trim().split("\n", 1);
  return subject === "" ? "(no message)" : subject;
}

/** Who made a commit, and when. */
export function WikiAuthor({ entry: { commit }, now }: { entry: WikiCommitEntry; now: number }) {
  return (
    <>
      <strong>{decodeCommitText(commit, commit.author.name)}</strong>{" "}
      <Ago at={gitTimeMs(commit.committer.timeSeconds)} now={now} />
    </>
  );
}

/** The way to all pages, and to a new one for who may write it. */
export function WikiTools({ page }: { page: EnteredWiki }) {
  return (
    <>
      <a class="button" href={`${wikiPath(page.repo)}?action=_pages`}>
        Pages
      </a>
      {canChange(page) ? (
        <a class="button primary" href={`${wikiPath(page.repo)}?action=_new`}>
          New page
        </a>
      ) : undefined}
    </>
  );
}
