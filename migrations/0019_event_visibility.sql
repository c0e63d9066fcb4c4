ALTER TABLE `events` ADD `visibility` text DEFAULT 'private' NOT NULL;--> statement-breakpoint
ALTER TABLE `events` ADD `is_private` integer DEFAULT true NOT NULL;