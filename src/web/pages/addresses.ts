import type { ArchiveFormat } from "../../domain/code/archives/archive-format.ts";
import type { Revision } from "../../domain/code/git/find-revision.ts";
import { type IssueNames, issueHtmlUrlOf } from "../../shapes/issues/issue.ts";
import { addressOfFile } from "../../shapes/wiki/wiki-path.ts";
import { encodePath } from "../../shapes/urls.ts";

interface Names {
  readonly owner: { readonly name: string };
  readonly row: { readonly name: string };
}

/** The revision that the addresses of a page name. */
export type NamedRevision = Pick<Revision, "kind" | "name">;

/** The commit of a revision, whose addresses show the same for good. */
export const toCommit = ({ commitOid }: Pick<Revision, "commitOid">): NamedRevision => ({
  kind: "commit",
  name: commitOid,
});

/** The path of an account's page. */
export const accountPath = ({ name }: { readonly name: string }): string => `/${name}`;

/** The path of a repository's page, without a trailing slash. */
export const repositoryPath = ({ owner, row }: Names): string => `/${owner.name}/${row.name}`;

/** The pages about a path of a revision. */
export type SourceRoute =
  | "src"
  | "raw"
  | "media"
  | "blame"
  | "commits"
  | "find"
  | "tree-list"
  | "atom";

/**
 * The path of a page about a path of a revision: `/alice/project/src/branch/main/docs`.
 *
 * @param path Without leading or trailing slash; "" for the root.
 */
export function sourcePath(
  repo: Names,
  view: SourceRoute,
  { kind, name }: NamedRevision,
  path = "",
): string {
  const base = `${repositoryPath(repo)}/${view}/${kind}/${encodePath(name)}`;
  return path === "" ? base : `${base}/${encodePath(path)}`;
}

/**
 * The path of a comparison.
 *
 * @param dots Two compare with the base itself, three with what both have in common.
 */
export const comparePath = (repo: Names, base: string, head: string, dots = "..."): string =>
  `${repositoryPath(repo)}/compare/${encodePath(base)}${dots}${encodePath(head)}`;

/** The path of an archive of a revision. */
export const archivePath = (repo: Names, revision: string, format: ArchiveFormat): string =>
  `${repositoryPath(repo)}/archive/${encodePath(revision)}.${format}`;

/** The path of a commit's page. */
export const commitPath = (repo: Names, oid: string): string =>
  `${repositoryPath(repo)}/commit/${oid}`;

/**
 * The path of a page of a wiki: `/alice/project/wiki/Home`.
 *
 * @param address As wiki pages have it; "" for the page that the wiki begins with.
 */
export const wikiPath = (repo: Names, address = ""): string =>
  `${repositoryPath(repo)}/wiki${address === "" ? "" : `/${address}`}`;

/**
 * The path of what shows a file of a wiki at a commit: its page, or the file itself.
 *
 * @param isRaw Whether the file itself, whatever it is.
 */
export function wikiFilePath(repo: Names, file: string, commitOid: string, isRaw = false): string {
  const address = isRaw ? undefined : addressOfFile(file);
  const path = address === undefined ? `raw/${encodePath(file)}` : address;
  return `${wikiPath(repo, path)}?rev=${commitOid}`;
}

/** The path of the page of an issue or pull request. */
export const issuePath = (issue: IssueNames): string => issueHtmlUrlOf(issue, { rootUrl: "" });
