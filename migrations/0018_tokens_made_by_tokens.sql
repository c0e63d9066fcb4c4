ALTER TABLE `access_tokens` ADD `made_by_id` integer REFERENCES access_tokens(id) ON DELETE cascade;--> statement-breakpoint
CREATE INDEX `access_tokens_made_by` ON `access_tokens` (`made_by_id`);