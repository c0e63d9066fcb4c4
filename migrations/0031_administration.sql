CREATE TABLE `account_deletions` (
	`account_id` integer PRIMARY KEY NOT NULL,
	`is_purge` integer NOT NULL,
	`requester_id` integer NOT NULL,
	`visibility` text NOT NULL,
	`is_login_prohibited` integer NOT NULL,
	`root_url` text NOT NULL,
	`leased_until` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `account_deletions_lease` ON `account_deletions` (`leased_until`,`account_id`);--> statement-breakpoint
CREATE TABLE `badges` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`slug` text NOT NULL,
	`description` text NOT NULL,
	`image_url` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `badges_slug` ON `badges` (`slug`);--> statement-breakpoint
CREATE TABLE `user_badges` (
	`user_id` integer NOT NULL,
	`badge_id` integer NOT NULL,
	PRIMARY KEY(`user_id`, `badge_id`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`badge_id`) REFERENCES `badges`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `user_badges_badge` ON `user_badges` (`badge_id`);--> statement-breakpoint
CREATE TABLE `cron_runs` (
	`task` text PRIMARY KEY NOT NULL,
	`started_at` integer NOT NULL,
	`run_count` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `users_login_name` ON `users` (`login_name`,`lower_name`);