CREATE TABLE `lfs_locks` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`repo_id` integer NOT NULL,
	`path` text NOT NULL,
	`owner_id` integer NOT NULL,
	`locked_at` integer NOT NULL,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`owner_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `lfs_locks_path` ON `lfs_locks` (`repo_id`,`path`);--> statement-breakpoint
CREATE INDEX `lfs_locks_repo` ON `lfs_locks` (`repo_id`,`id`);--> statement-breakpoint
CREATE INDEX `lfs_locks_owner` ON `lfs_locks` (`owner_id`);--> statement-breakpoint
CREATE TABLE `lfs_loose_files` (
	`upload_id` text PRIMARY KEY NOT NULL,
	`oid` text NOT NULL,
	`network_name` text NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `lfs_loose_files_expiry` ON `lfs_loose_files` (`expires_at`);--> statement-breakpoint
CREATE INDEX `lfs_loose_files_network` ON `lfs_loose_files` (`network_name`,`expires_at`);--> statement-breakpoint
CREATE TABLE `lfs_objects` (
	`repo_id` integer NOT NULL,
	`oid` text NOT NULL,
	`size_bytes` integer NOT NULL,
	`upload_id` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`repo_id`, `oid`),
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `lfs_objects_upload` ON `lfs_objects` (`upload_id`);--> statement-breakpoint
ALTER TABLE `repositories` ADD `lfs_size_bytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `repositories_by_lfs_size` ON `repositories` (`visibility`,`lfs_size_bytes`);--> statement-breakpoint
CREATE INDEX `repositories_by_total_size` ON `repositories` (`visibility`,("size_bytes" + "lfs_size_bytes"));