import type { ObjectKind } from "../git/object/kind.ts";
import type { Oid } from "../git/oid.ts";

/** Where the service was reached. */
export interface Root {
  /** Without a trailing slash. */
  readonly rootUrl: string;
}

interface Named {
  readonly name: string;
}

interface RepositoryNames {
  readonly owner: Named;
  readonly row: Named;
}

/** The base URL of the API. */
export const apiRootOf = ({ rootUrl }: Root): string => `${rootUrl}/api/v1`;

/** The path of the page about findings in pushed objects. */
export const OBJECT_CHECKS_PATH = "/-/docs/object-checks";

/** The URL of the page about findings in pushed objects. */
export const objectChecksUrlOf = ({ rootUrl }: Root): string => `${rootUrl}${OBJECT_CHECKS_PATH}`;

/** The URL of the web page of a user or organization. */
export const accountUrlOf = ({ name }: Named, { rootUrl }: Root): string => `${rootUrl}/${name}`;

/**
 * The URL of an account's avatar: the uploaded image, or one generated from the id.
 *
 * @param account With id 0 for a deleted account.
 */
export const avatarUrlOf = (
  { id, avatarHash }: { readonly id: number; readonly avatarHash: string },
  { rootUrl }: Root,
): string => `${rootUrl}/avatars/${avatarHash || id}`;

/** The URL of a repository's avatar; "" if it has none. */
export const repositoryAvatarUrlOf = (
  { avatarHash }: { readonly avatarHash: string },
  { rootUrl }: Root,
): string => (avatarHash === "" ? "" : `${rootUrl}/avatars/${avatarHash}`);

/** The API URL of a repository. */
export const apiUrlOf = ({ row, owner }: RepositoryNames, root: Root): string =>
  `${apiRootOf(root)}/repos/${owner.name}/${row.name}`;

/** The URL of a repository's web page. */
export const htmlUrlOf = ({ row, owner }: RepositoryNames, { rootUrl }: Root): string =>
  `${rootUrl}/${owner.name}/${row.name}`;

/** The API URL of a git object. */
export const objectUrlOf = (
  repo: RepositoryNames,
  kind: ObjectKind,
  oid: Oid,
  root: Root,
): string => `${apiUrlOf(repo, root)}/git/${kind}s/${oid}`;

/** Percent-encodes each segment of a path. */
export const encodePath = (path: string): string =>
  path.toWellFormed().split("/").map(encodeURIComponent).join("/");

/** The API URL of a release. */
export const releaseApiUrlOf = (repo: RepositoryNames, id: number, root: Root): string =>
  `${apiUrlOf(repo, root)}/releases/${id}`;

/** The URL of the web page of a release. */
export const releaseHtmlUrlOf = (repo: RepositoryNames, tagName: string, root: Root): string =>
  `${htmlUrlOf(repo, root)}/releases/tag/${encodePath(tagName)}`;

/** The URL of the web page of a version of a package. */
export const packageHtmlUrlOf = (
  pkg: {
    readonly owner: Named;
    readonly type: string;
    readonly name: string;
    readonly version: string;
  },
  { rootUrl }: Root,
): string => {
  const path = [pkg.owner.name, "-", "packages", pkg.type, pkg.name, pkg.version];
  return `${rootUrl}/${path.map((each) => encodeURIComponent(each.toWellFormed())).join("/")}`;
};
