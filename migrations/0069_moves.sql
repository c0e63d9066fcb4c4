CREATE TABLE `move_batches` (
	`move_id` integer PRIMARY KEY NOT NULL,
	`is_current` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `move_changes` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`move_id` integer NOT NULL,
	`table_name` text NOT NULL,
	`key` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `move_changes_move` ON `move_changes` (`move_id`,`id`);--> statement-breakpoint
CREATE INDEX `move_changes_row` ON `move_changes` (`move_id`,`table_name`,`key`,`id`);--> statement-breakpoint
CREATE TABLE `move_sides` (
	`move_id` integer PRIMARY KEY NOT NULL,
	`is_source` integer NOT NULL,
	`is_closed` integer NOT NULL,
	`fence` integer NOT NULL,
	`copied_id` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE `moving_repositories` (
	`repo_id` integer PRIMARY KEY NOT NULL,
	`move_id` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `repository_moves` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`network_name` text NOT NULL,
	`repo_id` integer NOT NULL,
	`repo_name` text NOT NULL,
	`source` integer NOT NULL,
	`target` integer NOT NULL,
	`state` text DEFAULT 'copying' NOT NULL,
	`reason` text DEFAULT '' NOT NULL,
	`entered` text DEFAULT '[]' NOT NULL,
	`entering` text DEFAULT '[]' NOT NULL,
	`enter_table` integer DEFAULT 0 NOT NULL,
	`enter_key` text,
	`compared_id` integer DEFAULT 0 NOT NULL,
	`difference_count` integer DEFAULT 0 NOT NULL,
	`freeze_count` integer DEFAULT 0 NOT NULL,
	`failure_count` integer DEFAULT 0 NOT NULL,
	`row_counts` text DEFAULT '{}' NOT NULL,
	`owned` text DEFAULT '{}' NOT NULL,
	`due_at` integer,
	`leased_until` integer DEFAULT 0 NOT NULL,
	`fence` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`moved_at` integer,
	`finished_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `repository_moves_pending` ON `repository_moves` (`network_name`) WHERE "repository_moves"."finished_at" is null;--> statement-breakpoint
CREATE INDEX `repository_moves_due` ON `repository_moves` (`due_at`) WHERE "repository_moves"."due_at" is not null;