import type { BranchProtection } from "../../../db/schema/index.ts";

/** What a rule for branches demands, in a line below its name. */
export function RuleSummary({ rule: { settings } }: { rule: BranchProtection }) {
  const { push, requiredApprovals: approvals, statusContexts } = settings;
  const demands = [
    settings.isPushEnabled
      ? push.isRestricted
        ? "some may push"
        : "all writers may push"
      : "no pushes",
    settings.requireSignedCommits ? "signed commits" : "",
    approvals === 0 ? "" : `${approvals} approval${approvals === 1 ? "" : "s"}`,
    settings.isStatusCheckEnabled ? `checks: ${statusContexts.join(", ") || "all"}` : "",
    settings.isMergeQueueEnabled ? "a merge queue" : "",
    settings.blockAdminMergeOverride ? "administrators are bound" : "",
  ];
  const [first = "", ...rest] = demands.filter((demand) => demand !== "");
  return (
    <div class="soft">{[first.slice(0, 1).toUpperCase() + first.slice(1), ...rest].join("; ")}</div>
  );
}
