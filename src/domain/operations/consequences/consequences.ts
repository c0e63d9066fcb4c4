import type { Consequence } from "../../../events/consequence.ts";
import { startWorkflows } from "../../actions/runs/start-workflows.ts";
import { detachFormerLabels } from "../../repos/labels/detach-former-labels.ts";
import { followPushes } from "../../exchange/mirrors/push/request-push.ts";
import { notify } from "../../issues/notifications/notify.ts";
import { removePullRefs } from "../../pulls/pull/remove-refs.ts";
import { cleanUpMerged } from "../../pulls/merge/clean-up-merged.ts";
import { closeByMerge } from "../../pulls/merge/close-by-merge.ts";
import { advanceMergeQueues } from "../../pulls/merge/queue/advance-merge-queues.ts";
import { runScheduledMerges } from "../../pulls/merge/run-scheduled-merges.ts";
import { synchronizePulls } from "../../pulls/sync/synchronize-pulls.ts";
import { referByCommits } from "../../issues/references/refer-by-commits.ts";
import { notifyRelease } from "../../issues/notifications/notify-release.ts";
import { withdrawUntagged } from "../../packages/releases/withdraw-untagged.ts";
import { referByText } from "../../issues/references/refer-by-text.ts";
import { askCodeOwners } from "../../pulls/code-review/ask-code-owners.ts";
import { followHeads } from "../../pulls/code-review/follow-heads.ts";

/**
 * Everything that follows from recorded events. Each event's consequences are drawn in this order.
 */
export const CONSEQUENCES: readonly Consequence[] = [
  withdrawUntagged,
  synchronizePulls,
  removePullRefs,
  followHeads,
  askCodeOwners,
  referByCommits,
  referByText,
  closeByMerge,
  cleanUpMerged,
  runScheduledMerges,
  advanceMergeQueues,
  detachFormerLabels,
  followPushes,
  notify,
  notifyRelease,
  startWorkflows,
];
