CREATE TABLE `copied_changes` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`table_name` text NOT NULL,
	`key` text NOT NULL,
	`shard_id` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `copied_changes_shard` ON `copied_changes` (`shard_id`,`id`);--> statement-breakpoint
CREATE INDEX `copied_changes_row` ON `copied_changes` (`table_name`,`key`,`id`);--> statement-breakpoint
CREATE TABLE `shard_copies` (
	`shard_id` integer PRIMARY KEY NOT NULL,
	`change_id` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `shard_repositories` (
	`shard_id` integer NOT NULL,
	`repo_id` integer NOT NULL,
	PRIMARY KEY(`shard_id`, `repo_id`),
	FOREIGN KEY (`shard_id`) REFERENCES `shards`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `shard_repositories_repo` ON `shard_repositories` (`repo_id`);--> statement-breakpoint
CREATE TABLE `shards` (
	`id` integer PRIMARY KEY NOT NULL,
	`seed_table` integer DEFAULT 0 NOT NULL,
	`seed_key` text,
	`seeded_at` integer,
	`copied_change_id` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL
);
