ALTER TABLE `events` ADD `consequences_at` integer;--> statement-breakpoint
ALTER TABLE `events` ADD `consequence_attempts` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `events` ADD `consequence_progress` text;--> statement-breakpoint
CREATE INDEX `events_consequences` ON `events` (`id`,`consequences_at`) WHERE "events"."consequences_at" is not null;--> statement-breakpoint
CREATE INDEX `events_consequences_repo` ON `events` (`repo_id`,`id`,`consequences_at`) WHERE "events"."consequences_at" is not null;