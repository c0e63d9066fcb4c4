import { isAllowed } from "../../../auth/access/permission.ts";
import { isUnitOn } from "../../../auth/access/unit-switches.ts";
import type { Tracker } from "../../../render/references.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";

/**
 * The external tracker of a repository; undefined if it has none, or if the caller may not see it.
 */
export function toTracker(repo: RepositoryContext | undefined): Tracker | undefined {
  const external = repo?.row.issueSettings.external;
  if (!repo || !external || external.format === "" || !isUnitOn(repo.row, "ext_issues")) {
    return undefined;
  }
  if (!isAllowed(repo, { unit: "ext_issues", mode: "read" })) return undefined;
  const { format, style, regexpPattern } = external;
  const isKnown = style === "alphanumeric" || style === "regexp";
  return { format, style: isKnown ? style : "numeric", regexpPattern };
}
