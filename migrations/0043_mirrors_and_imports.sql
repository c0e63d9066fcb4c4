CREATE TABLE `foreign_items` (
	`repo_id` integer NOT NULL,
	`kind` text NOT NULL,
	`foreign_id` text NOT NULL,
	`local_id` integer NOT NULL,
	`revision` text DEFAULT '' NOT NULL,
	PRIMARY KEY(`repo_id`, `kind`, `foreign_id`)
);
--> statement-breakpoint
CREATE INDEX `foreign_items_local` ON `foreign_items` (`repo_id`,`kind`,`local_id`);--> statement-breakpoint
CREATE TABLE `imports` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`repo_id` integer NOT NULL,
	`doer_id` integer,
	`service` text NOT NULL,
	`address` text NOT NULL,
	`username` text DEFAULT '' NOT NULL,
	`sealed_password` text,
	`wishes` text NOT NULL,
	`state` text DEFAULT 'running' NOT NULL,
	`stage` text DEFAULT 'git' NOT NULL,
	`cursor` text,
	`progress` text DEFAULT '{}' NOT NULL,
	`last_error` text DEFAULT '' NOT NULL,
	`notes` text DEFAULT '[]' NOT NULL,
	`failure_count` integer DEFAULT 0 NOT NULL,
	`due_at` integer,
	`leased_until` integer DEFAULT 0 NOT NULL,
	`root_url` text DEFAULT '' NOT NULL,
	`created_at` integer NOT NULL,
	`finished_at` integer,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`doer_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE UNIQUE INDEX `imports_repo` ON `imports` (`repo_id`);--> statement-breakpoint
CREATE INDEX `imports_doer` ON `imports` (`doer_id`);--> statement-breakpoint
CREATE INDEX `imports_due` ON `imports` (`due_at`) WHERE "imports"."due_at" is not null;--> statement-breakpoint
CREATE TABLE `pull_mirrors` (
	`repo_id` integer PRIMARY KEY NOT NULL,
	`service` text DEFAULT 'git' NOT NULL,
	`address` text NOT NULL,
	`username` text DEFAULT '' NOT NULL,
	`sealed_password` text,
	`approver_id` integer NOT NULL,
	`interval_seconds` integer NOT NULL,
	`state` text DEFAULT 'ok' NOT NULL,
	`failure_count` integer DEFAULT 0 NOT NULL,
	`failing_since` integer,
	`last_error` text DEFAULT '' NOT NULL,
	`attempted_at` integer,
	`synced_at` integer,
	`due_at` integer,
	`leased_until` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`is_pruned` integer DEFAULT true NOT NULL,
	`with_large_files` integer DEFAULT false NOT NULL,
	`large_files_url` text DEFAULT '' NOT NULL,
	`parts` text DEFAULT '[]' NOT NULL,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `pull_mirrors_due` ON `pull_mirrors` (`due_at`) WHERE "pull_mirrors"."due_at" is not null;--> statement-breakpoint
CREATE TABLE `push_mirrors` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`repo_id` integer NOT NULL,
	`remote_name` text NOT NULL,
	`address` text NOT NULL,
	`username` text DEFAULT '' NOT NULL,
	`sealed_password` text,
	`approver_id` integer NOT NULL,
	`interval_seconds` integer NOT NULL,
	`state` text DEFAULT 'ok' NOT NULL,
	`failure_count` integer DEFAULT 0 NOT NULL,
	`failing_since` integer,
	`last_error` text DEFAULT '' NOT NULL,
	`attempted_at` integer,
	`synced_at` integer,
	`due_at` integer,
	`leased_until` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`syncs_on_commit` integer DEFAULT false NOT NULL,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `push_mirrors_name` ON `push_mirrors` (`repo_id`,`remote_name`);--> statement-breakpoint
CREATE INDEX `push_mirrors_repo` ON `push_mirrors` (`repo_id`,`id`);--> statement-breakpoint
CREATE INDEX `push_mirrors_due` ON `push_mirrors` (`due_at`) WHERE "push_mirrors"."due_at" is not null;--> statement-breakpoint
ALTER TABLE `package_registries` ADD `public_revision` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `package_registries` ADD `public_changed_at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `packages` ADD `is_concealed` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX `packages_concealed` ON `packages` (`owner_id`,`type`) WHERE "packages"."is_concealed" = 1;--> statement-breakpoint
ALTER TABLE `repositories` ADD `origin` text;--> statement-breakpoint
CREATE INDEX `package_blobs_sha512` ON `package_blobs` (`owner_id`,`sha512`);