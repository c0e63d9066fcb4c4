CREATE TABLE `hidden_repositories` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`repo_id` integer NOT NULL,
	`until` integer NOT NULL,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `hidden_repositories_repo` ON `hidden_repositories` (`repo_id`);--> statement-breakpoint
CREATE INDEX `hidden_repositories_until` ON `hidden_repositories` (`until`);--> statement-breakpoint
ALTER TABLE `shard_copies` ADD `hidden_id` integer DEFAULT 0 NOT NULL;