import type { RepositoryEntry } from "./repository.ts";
import type { Viewer } from "./viewer.ts";

/** The address of a repository in the API. */
export const apiUrlOf = ({ repo, owner }: RepositoryEntry, { rootUrl }: Viewer): string =>
  `${rootUrl}/api/v1/repos/${owner.name}/${repo.name}`;
