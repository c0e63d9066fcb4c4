import { unitAsCode } from "../../../auth/access/unit-as-code.ts";
import type { Repository } from "../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { wikiObjectName } from "../../../storage/object-names.ts";
import type { RepositoryLocation } from "../../../storage/repository-records.ts";

/** The branch of a wiki that nothing was pushed to, as of a new repository. */
const FIRST_BRANCH = "main";

/** Where the git data of a repository's wiki is: it shares nothing with forks. */
export function wikiLocation({ objectName }: Pick<Repository, "objectName">): RepositoryLocation {
  if (objectName === "") throw new Error("a wiki of a repository without git data");
  const name = wikiObjectName(objectName);
  return { objectName: name, networkName: name };
}

/**
 * The wiki of a repository as a repository whose code it is, with the caller's mode in the wiki
 * unit as that in the code: what reads and writes files, commits and refs does the same with it.
 *
 * SECURITY: the row has the id of the repository itself. What writes rows by it, such as statuses,
 * pull requests or rules, is not for wikis.
 */
export function toWiki(repo: RepositoryContext): RepositoryContext {
  const { row } = repo;
  const wiki = unitAsCode(repo, "wiki");
  return {
    ...wiki,
    isWiki: true,
    rules: undefined,
    row: {
      ...wiki.row,
      ...wikiLocation(row),
      defaultBranch: row.wikiBranch || FIRST_BRANCH,
      isEmpty: row.wikiBranch === "",
      sizeBytes: row.wikiSizeBytes,
    },
  };
}
