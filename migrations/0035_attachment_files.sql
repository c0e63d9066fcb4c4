CREATE TABLE `attachment_loose_files` (
	`uuid` text PRIMARY KEY NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `attachment_loose_files_expiry` ON `attachment_loose_files` (`expires_at`);--> statement-breakpoint
CREATE TABLE `comment_counts` (
	`repo_id` integer PRIMARY KEY NOT NULL,
	`of_issues` integer DEFAULT 0 NOT NULL,
	`of_pulls` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade
);
