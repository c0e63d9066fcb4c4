ALTER TABLE `hook_deliveries` ADD `is_archived` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `webhook_events` ADD `archive` text;--> statement-breakpoint
CREATE INDEX `webhook_events_unarchived` ON `webhook_events` (`id`) WHERE "webhook_events"."archive" is null;