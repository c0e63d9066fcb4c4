ALTER TABLE `code_facts` RENAME TO `repository_insights`;--> statement-breakpoint
ALTER TABLE `announcements` RENAME TO `webhook_events`;--> statement-breakpoint
ALTER TABLE `events` RENAME COLUMN "tell_at" TO "dispatch_at";--> statement-breakpoint
ALTER TABLE `events` RENAME COLUMN "tell_attempts" TO "dispatch_attempts";--> statement-breakpoint
ALTER TABLE `hooks` RENAME COLUMN "held_until" TO "backoff_until";--> statement-breakpoint
ALTER TABLE `hooks` RENAME COLUMN "busy_until" TO "leased_until";--> statement-breakpoint
ALTER TABLE `hook_deliveries` RENAME COLUMN "announcement_id" TO "webhook_event_id";--> statement-breakpoint
DROP INDEX `announcements_part`;--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_events_part` ON `webhook_events` (`event_id`,`part`);--> statement-breakpoint
DROP INDEX `events_untold`;--> statement-breakpoint
DROP INDEX `events_untold_repo`;--> statement-breakpoint
CREATE INDEX `events_undispatched` ON `events` (`id`,`dispatch_at`) WHERE "events"."dispatch_at" is not null;--> statement-breakpoint
CREATE INDEX `events_undispatched_repo` ON `events` (`repo_id`,`id`,`dispatch_at`) WHERE "events"."dispatch_at" is not null;--> statement-breakpoint
DROP INDEX `hook_deliveries_announcement`;--> statement-breakpoint
DROP INDEX `hook_deliveries_of_announcement`;--> statement-breakpoint
CREATE UNIQUE INDEX `hook_deliveries_webhook_event` ON `hook_deliveries` (`hook_id`,`webhook_event_id`);--> statement-breakpoint
CREATE INDEX `hook_deliveries_of_webhook_event` ON `hook_deliveries` (`webhook_event_id`);
