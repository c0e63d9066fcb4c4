import { z } from "@hono/zod-openapi";

import type { Commit } from "../../git/object/commit.ts";
import type { Oid } from "../../git/oid.ts";
import { formatBase64 } from "../../lib/base64.ts";
import { CommitUser, decodeCommitText, toCommitUser } from "../git/commit.ts";
import { Int64 } from "../json.ts";
import { htmlUrlOf, type Root } from "../urls.ts";
import type { RepositoryContext } from "../repos/repository.ts";
import { titleOf } from "./wiki-path.ts";

const WikiCommit = z
  .object({
    sha: z.string(),
    author: CommitUser,
    commiter: CommitUser.openapi({ description: "The committer, under Gitea's name" }),
    message: z.string(),
  })
  .openapi("WikiCommit");

export const WikiPageMetaData = z
  .object({
    title: z.string().openapi({ description: "Without the folders that the page is in" }),
    html_url: z.string().openapi({ format: "uri" }),
    sub_url: z.string().openapi({ description: "The address below the wiki's" }),
    last_commit: WikiCommit.nullable().openapi({
      description: "Null until the history is searched so far back",
    }),
  })
  .openapi("WikiPageMetaData");

export const WikiPage = WikiPageMetaData.extend({
  content_base64: z.string(),
  commit_count: Int64.openapi({ description: "The number of commits that changed the page" }),
  sidebar: z.string().openapi({ description: "`_Sidebar` in base64; empty if there is none" }),
  footer: z.string().openapi({ description: "`_Footer` in base64; empty if there is none" }),
}).openapi("WikiPage");

export const WikiCommitList = z
  .object({ commits: z.array(WikiCommit), count: Int64 })
  .openapi("WikiCommitList");

/** A commit of a wiki as it is read. */
interface CommitOfWiki {
  readonly oid: Oid;
  readonly commit: Commit;
}

/** A page as a list has it. */
interface PageOfList {
  readonly address: string;
  readonly lastCommit: CommitOfWiki | undefined;
}

/** A page with what stands beside it. */
interface PageWithText {
  readonly file: { readonly address: string };
  readonly text: { readonly content: Uint8Array };
  readonly sidebar: { readonly content: Uint8Array } | undefined;
  readonly footer: { readonly content: Uint8Array } | undefined;
  readonly commitCount: number;
  readonly lastCommit: CommitOfWiki | undefined;
}

type Names = Pick<RepositoryContext, "row" | "owner">;

/** The URL of a page of a wiki. */
const wikiPageUrlOf = (repo: Names, address: string, root: Root): string =>
  `${htmlUrlOf(repo, root)}/wiki/${address}`;

export function toWikiCommit({ oid, commit }: CommitOfWiki): z.infer<typeof WikiCommit> {
  const decode = (text: typeof commit.message): string => decodeCommitText(commit, text);
  return {
    sha: oid,
    author: toCommitUser(commit.author, decode),
    commiter: toCommitUser(commit.committer, decode),
    message: decode(commit.message),
  };
}

export const toWikiPageMetaData = (
  repo: Names,
  { address, lastCommit }: PageOfList,
  root: Root,
): z.infer<typeof WikiPageMetaData> => ({
  title: titleOf(address),
  html_url: wikiPageUrlOf(repo, address, root),
  sub_url: address,
  last_commit: lastCommit ? toWikiCommit(lastCommit) : null,
});

export function toWikiPage(
  repo: Names,
  { file: { address }, text, sidebar, footer, commitCount, lastCommit }: PageWithText,
  root: Root,
): z.infer<typeof WikiPage> {
  const encode = (of: { readonly content: Uint8Array } | undefined): string =>
    of ? formatBase64(of.content) : "";
  return {
    ...toWikiPageMetaData(repo, { address, lastCommit }, root),
    content_base64: encode(text),
    commit_count: commitCount,
    sidebar: encode(sidebar),
    footer: encode(footer),
  };
}
