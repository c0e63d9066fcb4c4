-- Shards get copies of the rows, and have no tokens: no foreign key to them.
CREATE TABLE `__new_access_token_repositories` (
	`token_id` integer NOT NULL,
	`repo_id` integer NOT NULL,
	PRIMARY KEY(`token_id`, `repo_id`),
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
INSERT INTO `__new_access_token_repositories`("token_id", "repo_id") SELECT "token_id", "repo_id" FROM `access_token_repositories`;--> statement-breakpoint
DROP TABLE `access_token_repositories`;--> statement-breakpoint
ALTER TABLE `__new_access_token_repositories` RENAME TO `access_token_repositories`;--> statement-breakpoint
CREATE INDEX `access_token_repositories_repo` ON `access_token_repositories` (`repo_id`);--> statement-breakpoint
ALTER TABLE `shard_copies` ADD `is_copying` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `shards` ADD `avoided_until` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `shards` ADD `compare_table` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `shards` ADD `compare_key` text;--> statement-breakpoint
ALTER TABLE `shards` ADD `compared_at` integer;