import type { BranchProtection, TagProtection } from "../../db/schema/index.ts";

/** The rules that a repository's branches and tags are under, as one query returns them. */
export interface RepositoryRules {
  /** The repository's own rules for branches. */
  readonly branches: readonly BranchProtection[];
  /** The rulesets of its organization that apply to the repository. */
  readonly rulesets: readonly BranchProtection[];
  readonly tags: readonly TagProtection[];
  /** The teams of the repository's owner that the caller is in. */
  readonly callerTeamIds: readonly number[];
}
