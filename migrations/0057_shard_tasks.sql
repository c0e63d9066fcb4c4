CREATE TABLE `shard_tasks` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`shard_id` integer NOT NULL,
	`task` text NOT NULL,
	`due_at` integer NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`shard_id`) REFERENCES `shards`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `shard_tasks_due` ON `shard_tasks` (`shard_id`,`due_at`,`id`);--> statement-breakpoint
ALTER TABLE `account_deletions` ADD `released_shard` integer DEFAULT 0 NOT NULL;