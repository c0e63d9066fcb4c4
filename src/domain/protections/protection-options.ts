import type { Allowed, ProtectionSettings } from "../../db/schema/index.ts";

const NOBODY: Allowed = { isRestricted: false, userIds: [], teamIds: [], deployKeys: false };

/** The settings of a rule without any option: nobody pushes, and merges need nothing. */
export const NO_SETTINGS: ProtectionSettings = {
  isPushEnabled: false,
  push: NOBODY,
  isForcePushEnabled: false,
  forcePush: NOBODY,
  merge: NOBODY,
  approval: NOBODY,
  requiredApprovals: 0,
  isStatusCheckEnabled: false,
  statusContexts: [],
  blockOnRejectedReviews: false,
  blockOnOfficialReviewRequests: false,
  blockOnOutdatedBranch: false,
  dismissStaleApprovals: false,
  ignoreStaleApprovals: false,
  requireSignedCommits: false,
  protectedFilePatterns: "",
  unprotectedFilePatterns: "",
  blockAdminMergeOverride: false,
};
