import type { ObjectKind } from "../git/object/kind.ts";
import type { Oid } from "../git/oid.ts";

/** Where the service was reached: the address of its root, without a slash at the end. */
interface Root {
  readonly rootUrl: string;
}

interface Named {
  readonly name: string;
}

interface RepositoryNames {
  readonly owner: Named;
  readonly row: Named;
}

/** The address of the API. */
export const apiRootOf = ({ rootUrl }: Root): string => `${rootUrl}/api/v1`;

/** The address of a user or organization for people. */
export const accountUrlOf = ({ name }: Named, { rootUrl }: Root): string => `${rootUrl}/${name}`;

/** @param userId 0 for an account that is gone. */
export const avatarUrlOf = (userId: number, { rootUrl }: Root): string =>
  `${rootUrl}/avatars/${userId}`;

/** The address of a repository in the API. */
export const apiUrlOf = ({ row, owner }: RepositoryNames, root: Root): string =>
  `${apiRootOf(root)}/repos/${owner.name}/${row.name}`;

/** The address of a repository for people. */
export const htmlUrlOf = ({ row, owner }: RepositoryNames, { rootUrl }: Root): string =>
  `${rootUrl}/${owner.name}/${row.name}`;

/** The address of an object of a repository in the API. */
export const objectUrlOf = (
  where: RepositoryNames,
  kind: ObjectKind,
  oid: Oid,
  root: Root,
): string => `${apiUrlOf(where, root)}/git/${kind}s/${oid}`;

/** A path as part of an address: each name encoded by itself. */
export const encodePath = (path: string): string =>
  path.toWellFormed().split("/").map(encodeURIComponent).join("/");
