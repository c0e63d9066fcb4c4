import type { RepositoryEntry } from "./repository.ts";
import type { Viewer } from "./viewer.ts";

/** The address of a repository in the API. */
export const apiUrlOf = (
  { repo, owner }: RepositoryEntry,
  { rootUrl }: Pick<Viewer, "rootUrl">,
): string => `${rootUrl}/api/v1/repos/${owner.name}/${repo.name}`;

/** The address of a repository for people. */
export const htmlUrlOf = ({ repo, owner }: RepositoryEntry, { rootUrl }: Viewer): string =>
  `${rootUrl}/${owner.name}/${repo.name}`;

/** A path as part of an address: each name encoded by itself. */
export const encodePath = (path: string): string =>
  path.toWellFormed().split("/").map(encodeURIComponent).join("/");
