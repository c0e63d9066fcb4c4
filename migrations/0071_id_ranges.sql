CREATE TABLE `id_ranges` (
	`number` integer PRIMARY KEY NOT NULL,
	`shard_id` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `id_ranges_shard` ON `id_ranges` (`shard_id`,`number`);--> statement-breakpoint
ALTER TABLE `repository_moves` ADD `given_copies` text DEFAULT '[]' NOT NULL;