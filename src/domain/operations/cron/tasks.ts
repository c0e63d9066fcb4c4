import type { Ctx } from "../../../context.ts";
import { continueDeletions } from "../deletions/delete-user.ts";
import { continueRemovals } from "../../repos/repository/remove-remains.ts";
import { sweepAudit } from "../../people/audit/sweep-audit.ts";
import { removeLooseAttachments } from "../../issues/attachments/remove-loose-attachments.ts";
import { removeUnusedImages } from "../../people/avatars/remove-unused-images.ts";
import { forwardEvents } from "../../exchange/event-stream/forward-events.ts";
import { sweepEvents } from "../../exchange/event-stream/sweep-events.ts";
import { maintainDeleted } from "../../code/git/maintain-deleted.ts";
import { sendDueImports } from "../../exchange/imports/send-due-imports.ts";
import { removeLooseFiles } from "../../code/lfs/remove-loose-files.ts";
import { sendDueMirrors } from "../../exchange/mirrors/send-due-mirrors.ts";
import { sendAllDueMails } from "../mail-delivery/send-due-mails.ts";
import { sweepNotifications } from "../../issues/notifications/sweep-notifications.ts";
import { cleanUpPackages } from "../../packages/cleanup/run-cleanup.ts";
import { removeLooseBlobs } from "../../packages/package/remove-loose-blobs.ts";
import { sweepImages } from "../../packages/images/sweep-images.ts";
import { purgeGrants } from "../../people/oauth/purge-grants.ts";
import { runDueQueues } from "../../pulls/merge/queue/run-due-queues.ts";
import { purgeSignIns } from "../../people/sessions/purge-sign-ins.ts";
import { requeueDue } from "../../exchange/webhooks/delivery/requeue-due.ts";
import { sweepDeliveries } from "../../exchange/webhooks/delivery/sweep-deliveries.ts";
import { resealSecrets } from "../../exchange/webhooks/hooks/reseal-secrets.ts";

/**
 * A task of the schedule. Each may be repeated, may run twice at once, and leaves what is too much
 * to its next run.
 */
interface CronTask {
  /** Gitea's name where Gitea has the task. */
  readonly name: string;
  /** One of the cron triggers in wrangler.toml. */
  readonly schedule: string;
  readonly run: (ctx: Ctx) => Promise<unknown>;
}

const EVERY_MINUTE = "* * * * *";
const EVERY_TEN_MINUTES = "*/10 * * * *";

/** Loaded on first use: the schedule is a part of the start-up. */
const loadResealing = () => import("../../actions/secrets/reseal-action-secrets.ts");
const loadSettling = () => import("../../actions/runs/settle-left.ts");
const loadStart = () => import("../../actions/runs/start-by-hand.ts");
const loadEnds = () => import("../../actions/tasks/end-tasks.ts");
const loadApplicationPurge = () => import("../../people/oauth/purge-applications.ts");
const loadExpiries = () => import("../expiries/send-due-expiries.ts");
const loadArchiving = () => import("../../exchange/webhooks/delivery/archive-deliveries.ts");
const loadCleanup = () => import("../../actions/clean-up-actions.ts");

/** All tasks of the schedule, in the order in which administrators see them. */
export const CRON_TASKS: readonly CronTask[] = [
  { name: "requeue_webhooks", schedule: EVERY_MINUTE, run: requeueDue },
  { name: "forward_events", schedule: EVERY_MINUTE, run: forwardEvents },
  { name: "send_mails", schedule: EVERY_MINUTE, run: sendAllDueMails },
  { name: "advance_merge_queues", schedule: EVERY_MINUTE, run: runDueQueues },
  {
    name: "start_schedule_tasks",
    schedule: EVERY_MINUTE,
    run: async (ctx) => (await loadStart()).startScheduled(ctx),
  },
  {
    name: "settle_runs",
    schedule: EVERY_MINUTE,
    run: async (ctx) => (await loadSettling()).settleLeft(ctx),
  },
  { name: "update_mirrors", schedule: EVERY_MINUTE, run: sendDueMirrors },
  { name: "continue_migrations", schedule: EVERY_MINUTE, run: sendDueImports },
  { name: "delete_accounts", schedule: EVERY_MINUTE, run: continueDeletions },
  { name: "delete_repository_rows", schedule: EVERY_MINUTE, run: continueRemovals },
  {
    name: "end_repositories",
    schedule: EVERY_MINUTE,
    run: async (ctx) => (await loadExpiries()).sendDueExpiries(ctx),
  },
  {
    name: "stop_zombie_tasks",
    schedule: EVERY_MINUTE,
    run: async (ctx) => (await loadEnds()).endSilentTasks(ctx),
  },
  {
    name: "stop_endless_tasks",
    schedule: EVERY_TEN_MINUTES,
    run: async (ctx) => (await loadEnds()).endEndlessTasks(ctx),
  },
  {
    name: "cancel_abandoned_jobs",
    schedule: EVERY_TEN_MINUTES,
    run: async (ctx) => {
      const { cancelAbandonedJobs, cancelUnapprovedRuns } = await loadEnds();
      await cancelAbandonedJobs(ctx);
      await cancelUnapprovedRuns(ctx);
    },
  },
  {
    name: "close_action_logs",
    schedule: EVERY_MINUTE,
    run: async (ctx) => (await loadEnds()).closeLogs(ctx),
  },
  {
    name: "cleanup_actions",
    schedule: EVERY_TEN_MINUTES,
    run: async (ctx) => (await loadCleanup()).cleanUpActions(ctx),
  },
  { name: "delete_repositories", schedule: EVERY_TEN_MINUTES, run: maintainDeleted },
  { name: "gc_lfs", schedule: EVERY_TEN_MINUTES, run: removeLooseFiles },
  { name: "delete_unused_avatars", schedule: EVERY_TEN_MINUTES, run: removeUnusedImages },
  { name: "delete_unused_attachments", schedule: EVERY_TEN_MINUTES, run: removeLooseAttachments },
  { name: "delete_unused_packages", schedule: EVERY_TEN_MINUTES, run: removeLooseBlobs },
  { name: "cleanup_packages", schedule: EVERY_TEN_MINUTES, run: cleanUpPackages },
  { name: "delete_unused_images", schedule: EVERY_TEN_MINUTES, run: sweepImages },
  { name: "delete_old_actions", schedule: EVERY_TEN_MINUTES, run: sweepEvents },
  { name: "cleanup_hook_task_table", schedule: EVERY_TEN_MINUTES, run: sweepDeliveries },
  {
    name: "archive_hook_tasks",
    schedule: EVERY_TEN_MINUTES,
    run: async (ctx) => (await loadArchiving()).archiveDeliveries(ctx),
  },
  {
    name: "reseal_secrets",
    schedule: EVERY_TEN_MINUTES,
    run: async (ctx) => {
      await resealSecrets(ctx);
      await (await loadResealing()).resealActionSecrets(ctx);
    },
  },
  {
    name: "cleanup_oauth_grants",
    schedule: EVERY_TEN_MINUTES,
    run: async (ctx) => {
      await purgeGrants(ctx);
      await (await loadApplicationPurge()).purgeApplications(ctx);
    },
  },
  { name: "cleanup_sign_ins", schedule: EVERY_TEN_MINUTES, run: purgeSignIns },
  { name: "cleanup_notifications", schedule: EVERY_TEN_MINUTES, run: sweepNotifications },
  { name: "cleanup_audit_log", schedule: EVERY_TEN_MINUTES, run: sweepAudit },
];
