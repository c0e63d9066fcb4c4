CREATE TABLE `merge_queue_entries` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`queue_id` integer NOT NULL,
	`issue_id` integer NOT NULL,
	`doer_id` integer NOT NULL,
	`style` text NOT NULL,
	`title` text DEFAULT '' NOT NULL,
	`message` text DEFAULT '' NOT NULL,
	`is_branch_deleted` integer DEFAULT false NOT NULL,
	`head_oid` text NOT NULL,
	`is_in_batch` integer DEFAULT false NOT NULL,
	`is_suspect` integer DEFAULT false NOT NULL,
	`built_on_oid` text DEFAULT '' NOT NULL,
	`result_oid` text DEFAULT '' NOT NULL,
	`merge_base_oid` text DEFAULT '' NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`queue_id`) REFERENCES `merge_queues`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`issue_id`) REFERENCES `pulls`(`issue_id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`doer_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `merge_queue_entries_issue` ON `merge_queue_entries` (`issue_id`);--> statement-breakpoint
CREATE INDEX `merge_queue_entries_queue` ON `merge_queue_entries` (`queue_id`,`id`);--> statement-breakpoint
CREATE INDEX `merge_queue_entries_doer` ON `merge_queue_entries` (`doer_id`);--> statement-breakpoint
CREATE TABLE `merge_queues` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`repo_id` integer NOT NULL,
	`branch` text NOT NULL,
	`state` text DEFAULT 'idle' NOT NULL,
	`batch_number` integer DEFAULT 0 NOT NULL,
	`batch_size` integer DEFAULT 0 NOT NULL,
	`base_oid` text DEFAULT '' NOT NULL,
	`result_oid` text DEFAULT '' NOT NULL,
	`deadline_at` integer,
	`due_at` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `merge_queues_branch` ON `merge_queues` (`repo_id`,`branch`);--> statement-breakpoint
CREATE INDEX `merge_queues_result` ON `merge_queues` (`repo_id`,`result_oid`);--> statement-breakpoint
CREATE INDEX `merge_queues_due` ON `merge_queues` (`due_at`);--> statement-breakpoint
CREATE TABLE `package_blobs` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`owner_id` integer NOT NULL,
	`uuid` text NOT NULL,
	`size_bytes` integer NOT NULL,
	`md5` text NOT NULL,
	`sha1` text NOT NULL,
	`sha256` text NOT NULL,
	`sha512` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`owner_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `package_blobs_sha256` ON `package_blobs` (`owner_id`,`sha256`);--> statement-breakpoint
CREATE UNIQUE INDEX `package_blobs_uuid` ON `package_blobs` (`uuid`);--> statement-breakpoint
CREATE TABLE `package_cleanup_rules` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`owner_id` integer NOT NULL,
	`type` text NOT NULL,
	`is_enabled` integer NOT NULL,
	`keep_count` integer NOT NULL,
	`keep_pattern` text NOT NULL,
	`remove_days` integer NOT NULL,
	`remove_pattern` text NOT NULL,
	`matches_full_name` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`next_run_at` integer NOT NULL,
	`reached_package_id` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`owner_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `package_cleanup_rules_type` ON `package_cleanup_rules` (`owner_id`,`type`);--> statement-breakpoint
CREATE INDEX `package_cleanup_rules_due` ON `package_cleanup_rules` (`is_enabled`,`next_run_at`);--> statement-breakpoint
CREATE TABLE `package_files` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`version_id` integer NOT NULL,
	`blob_id` integer NOT NULL,
	`name` text NOT NULL,
	`name_key` text NOT NULL,
	`composite_key` text DEFAULT '' NOT NULL,
	`is_lead` integer DEFAULT false NOT NULL,
	`metadata` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`version_id`) REFERENCES `package_versions`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`blob_id`) REFERENCES `package_blobs`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `package_files_name` ON `package_files` (`version_id`,`name_key`,`composite_key`);--> statement-breakpoint
CREATE INDEX `package_files_blob` ON `package_files` (`blob_id`);--> statement-breakpoint
CREATE TABLE `package_loose_files` (
	`uuid` text PRIMARY KEY NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `package_loose_files_expiry` ON `package_loose_files` (`expires_at`);--> statement-breakpoint
CREATE TABLE `package_properties` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`package_id` integer NOT NULL,
	`version_id` integer,
	`file_id` integer,
	`name` text NOT NULL,
	`value` text NOT NULL,
	FOREIGN KEY (`package_id`) REFERENCES `packages`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`version_id`) REFERENCES `package_versions`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`file_id`) REFERENCES `package_files`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `package_properties_package` ON `package_properties` (`package_id`,`name`,`value`);--> statement-breakpoint
CREATE INDEX `package_properties_version` ON `package_properties` (`version_id`,`name`) WHERE "package_properties"."version_id" is not null;--> statement-breakpoint
CREATE INDEX `package_properties_file` ON `package_properties` (`file_id`,`name`) WHERE "package_properties"."file_id" is not null;--> statement-breakpoint
CREATE TABLE `package_registries` (
	`owner_id` integer NOT NULL,
	`type` text NOT NULL,
	`revision` integer DEFAULT 0 NOT NULL,
	`changed_at` integer DEFAULT 0 NOT NULL,
	`public_key` text DEFAULT '' NOT NULL,
	`sealed_key` text DEFAULT '' NOT NULL,
	PRIMARY KEY(`owner_id`, `type`),
	FOREIGN KEY (`owner_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `package_uploads` (
	`uuid` text PRIMARY KEY NOT NULL,
	`owner_id` integer NOT NULL,
	`type` text NOT NULL,
	`name_key` text NOT NULL,
	`creator_id` integer NOT NULL,
	`received_bytes` integer DEFAULT 0 NOT NULL,
	`state` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`owner_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`creator_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `package_uploads_expiry` ON `package_uploads` (`expires_at`);--> statement-breakpoint
CREATE INDEX `package_uploads_owner` ON `package_uploads` (`owner_id`);--> statement-breakpoint
CREATE INDEX `package_uploads_creator` ON `package_uploads` (`creator_id`);--> statement-breakpoint
CREATE TABLE `package_usage` (
	`owner_id` integer PRIMARY KEY NOT NULL,
	`size_bytes` integer DEFAULT 0 NOT NULL,
	`version_count` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`owner_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `package_versions` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`package_id` integer NOT NULL,
	`owner_id` integer NOT NULL,
	`type` text NOT NULL,
	`version` text NOT NULL,
	`version_key` text NOT NULL,
	`creator_id` integer,
	`is_internal` integer DEFAULT false NOT NULL,
	`is_yanked` integer DEFAULT false NOT NULL,
	`metadata` text,
	`download_count` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`package_id`) REFERENCES `packages`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`creator_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE UNIQUE INDEX `package_versions_version` ON `package_versions` (`package_id`,`version_key`);--> statement-breakpoint
CREATE INDEX `package_versions_owner` ON `package_versions` (`owner_id`,`is_internal`,`id`);--> statement-breakpoint
CREATE INDEX `package_versions_owner_type` ON `package_versions` (`owner_id`,`type`,`is_internal`,`id`);--> statement-breakpoint
CREATE INDEX `package_versions_newest` ON `package_versions` (`package_id`,`id`);--> statement-breakpoint
CREATE INDEX `package_versions_creator` ON `package_versions` (`creator_id`);--> statement-breakpoint
CREATE INDEX `package_versions_internal` ON `package_versions` (`type`,`id`) WHERE "package_versions"."is_internal" = 1;--> statement-breakpoint
CREATE TABLE `packages` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`owner_id` integer NOT NULL,
	`type` text NOT NULL,
	`name` text NOT NULL,
	`name_key` text NOT NULL,
	`repo_id` integer,
	`is_restricted` integer DEFAULT false NOT NULL,
	`revision` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`owner_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE UNIQUE INDEX `packages_name` ON `packages` (`owner_id`,`type`,`name_key`);--> statement-breakpoint
CREATE INDEX `packages_repository` ON `packages` (`repo_id`);--> statement-breakpoint
CREATE INDEX `packages_type` ON `packages` (`type`,`owner_id`);