CREATE TABLE `account_shards` (
	`account_id` integer NOT NULL,
	`shard_id` integer NOT NULL,
	PRIMARY KEY(`account_id`, `shard_id`),
	FOREIGN KEY (`account_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`shard_id`) REFERENCES `shards`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `account_shards_shard` ON `account_shards` (`shard_id`);--> statement-breakpoint
CREATE TABLE `noted_accounts` (
	`account_id` integer PRIMARY KEY NOT NULL,
	`is_copied` integer DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE INDEX `noted_accounts_uncopied` ON `noted_accounts` (`account_id`) WHERE not "noted_accounts"."is_copied";