DROP INDEX `events_undispatched`;--> statement-breakpoint
DROP INDEX `events_undispatched_repo`;--> statement-breakpoint
DROP INDEX `events_consequences`;--> statement-breakpoint
DROP INDEX `events_consequences_repo`;--> statement-breakpoint
DROP INDEX `events_repo`;--> statement-breakpoint
DROP INDEX `events_owner`;--> statement-breakpoint
DROP INDEX `events_activity_actor`;--> statement-breakpoint
DROP INDEX `events_activity_repo`;--> statement-breakpoint
DROP INDEX `events_activity_owner`;--> statement-breakpoint
CREATE INDEX `events_pending` ON `events` (`id`) WHERE "events"."dispatch_at" is not null or "events"."consequences_at" is not null;--> statement-breakpoint
CREATE INDEX `events_leased` ON `events` (`repo_id`) WHERE "events"."dispatch_at" > "events"."created_at"
          or "events"."consequences_at" > "events"."created_at";--> statement-breakpoint
CREATE INDEX `events_repo` ON `events` (`repo_id`);--> statement-breakpoint
CREATE INDEX `events_owner` ON `events` (`owner_id`);--> statement-breakpoint
CREATE INDEX `events_activity_actor` ON `events` (`actor_id`,`created_at`) WHERE "events"."type" in ('repository.created', 'repository.forked', 'repository.renamed', 'repository.transferred', 'repository.pushed', 'star.created', 'watch.created', 'issue.opened', 'issue.closed', 'issue.reopened', 'comment.created', 'pull.merged', 'pull.ready', 'review.submitted', 'review.dismissed', 'release.published');--> statement-breakpoint
CREATE INDEX `events_activity_repo` ON `events` (`repo_id`,`created_at`) WHERE "events"."type" in ('repository.created', 'repository.forked', 'repository.renamed', 'repository.transferred', 'repository.pushed', 'star.created', 'watch.created', 'issue.opened', 'issue.closed', 'issue.reopened', 'comment.created', 'pull.merged', 'pull.ready', 'review.submitted', 'review.dismissed', 'release.published');--> statement-breakpoint
CREATE INDEX `events_activity_owner` ON `events` (`owner_id`,`created_at`) WHERE "events"."type" in ('repository.created', 'repository.forked', 'repository.renamed', 'repository.transferred', 'repository.pushed', 'star.created', 'watch.created', 'issue.opened', 'issue.closed', 'issue.reopened', 'comment.created', 'pull.merged', 'pull.ready', 'review.submitted', 'review.dismissed', 'release.published');--> statement-breakpoint
DROP INDEX `hook_deliveries_of_webhook_event`;--> statement-breakpoint
DROP INDEX `hook_deliveries_by_status`;--> statement-breakpoint
DROP INDEX `hook_deliveries_by_event`;--> statement-breakpoint
DROP INDEX `hook_deliveries_webhook_event`;--> statement-breakpoint
DROP INDEX `hook_deliveries_due`;--> statement-breakpoint
CREATE INDEX `hook_deliveries_hook` ON `hook_deliveries` (`hook_id`);--> statement-breakpoint
CREATE INDEX `hook_deliveries_failed` ON `hook_deliveries` (`hook_id`) WHERE "hook_deliveries"."status" = 'failed';--> statement-breakpoint
CREATE UNIQUE INDEX `hook_deliveries_webhook_event` ON `hook_deliveries` (`webhook_event_id`,`hook_id`);--> statement-breakpoint
CREATE INDEX `hook_deliveries_due` ON `hook_deliveries` (`hook_id`,`id`,`next_attempt_at`) WHERE "hook_deliveries"."next_attempt_at" is not null;--> statement-breakpoint
DROP INDEX `timeline_entries_issue_comments`;--> statement-breakpoint
DROP INDEX `timeline_entries_issue`;--> statement-breakpoint
DROP INDEX `timeline_entries_comments`;--> statement-breakpoint
CREATE INDEX `timeline_entries_issue` ON `timeline_entries` (`issue_id`);--> statement-breakpoint
CREATE INDEX `timeline_entries_comments` ON `timeline_entries` (`repo_id`) WHERE "timeline_entries"."kind" = 'comment';