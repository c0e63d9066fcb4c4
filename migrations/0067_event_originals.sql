ALTER TABLE `events` ADD `original_id` integer;--> statement-breakpoint
CREATE UNIQUE INDEX `events_original` ON `events` (`original_id`) WHERE "events"."original_id" is not null;