import type { IssueSettings, PullSettings } from "../../../db/schema/index.ts";

/** The pull request settings of a new repository. */
export const DEFAULT_PULL_SETTINGS: PullSettings = {
  ignoreWhitespaceConflicts: false,
  allowMergeCommits: true,
  allowRebase: true,
  allowRebaseExplicit: true,
  allowSquashMerge: true,
  allowFastForwardOnlyMerge: true,
  allowRebaseUpdate: true,
  allowManualMerge: false,
  autodetectManualMerge: false,
  defaultDeleteBranchAfterMerge: false,
  defaultMergeStyle: "merge",
  defaultAllowMaintainerEdit: false,
};

/** The issue settings of a new repository. */
export const DEFAULT_ISSUE_SETTINGS: IssueSettings = {
  enableTimeTracker: true,
  allowOnlyContributorsToTrackTime: true,
  enableIssueDependencies: true,
};
