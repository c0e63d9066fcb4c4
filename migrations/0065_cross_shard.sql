CREATE TABLE `cross_shard_dependencies` (
	`issue_id` integer NOT NULL,
	`blocker_id` integer NOT NULL,
	`blocker_repo_id` integer NOT NULL,
	`blocker_created_at` integer NOT NULL,
	`is_checked` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`issue_id`, `blocker_id`),
	FOREIGN KEY (`issue_id`) REFERENCES `issues`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `cross_shard_dependencies_blocker` ON `cross_shard_dependencies` (`blocker_id`);--> statement-breakpoint
CREATE TABLE `cross_shard_entries` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`repo_id` integer NOT NULL,
	`issue_id` integer NOT NULL,
	`is_pull` integer NOT NULL,
	`comment_id` integer,
	`to_repo_id` integer NOT NULL,
	`to_issue_id` integer NOT NULL,
	`to_number` integer NOT NULL,
	`kind` text NOT NULL,
	`ref_action` text DEFAULT 'none' NOT NULL,
	`poster_id` integer,
	`state` text DEFAULT 'unsent' NOT NULL,
	`due_at` integer,
	`attempts` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `cross_shard_entries_due` ON `cross_shard_entries` (`due_at`) WHERE "cross_shard_entries"."due_at" is not null;--> statement-breakpoint
CREATE INDEX `cross_shard_entries_issue` ON `cross_shard_entries` (`issue_id`);--> statement-breakpoint
CREATE INDEX `cross_shard_entries_comment` ON `cross_shard_entries` (`comment_id`) WHERE "cross_shard_entries"."comment_id" is not null;--> statement-breakpoint
CREATE TABLE `cross_shard_references` (
	`entry_id` integer PRIMARY KEY NOT NULL,
	`sent_id` integer,
	`repo_id` integer NOT NULL,
	`issue_id` integer NOT NULL,
	`is_pull` integer NOT NULL,
	`comment_id` integer,
	FOREIGN KEY (`entry_id`) REFERENCES `timeline_entries`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `cross_shard_references_sent` ON `cross_shard_references` (`sent_id`) WHERE "cross_shard_references"."sent_id" is not null;--> statement-breakpoint
CREATE INDEX `cross_shard_references_issue` ON `cross_shard_references` (`issue_id`);