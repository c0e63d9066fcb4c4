/** Maximum number of conflicting paths that a refusal names. */
const CONFLICTS_SHOWN_MAX = 10;

/** Names the paths of a merge that conflict: `merge conflicts in a.txt and 3 more`. */
export function nameConflicts(paths: readonly string[]): string {
  const names = [...new Set(paths)];
  const rest = names.length - CONFLICTS_SHOWN_MAX;
  const shown = names.slice(0, CONFLICTS_SHOWN_MAX).join(", ");
  return `merge conflicts in ${shown}${rest > 0 ? ` and ${rest} more` : ""}`.toWellFormed();
}
