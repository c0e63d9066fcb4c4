CREATE TABLE `notification_counts` (
	`user_id` integer NOT NULL,
	`repo_id` integer NOT NULL,
	`subject` text NOT NULL,
	`status` text NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`user_id`, `status`, `repo_id`, `subject`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `notification_counts_repo` ON `notification_counts` (`repo_id`);--> statement-breakpoint
DROP INDEX `notifications_by_updated`;--> statement-breakpoint
DROP INDEX `notifications_repo`;--> statement-breakpoint
CREATE INDEX `notifications_read` ON `notifications` (`updated_at`) WHERE "notifications"."status" = 'read';--> statement-breakpoint
CREATE INDEX `notifications_by_updated` ON `notifications` (`user_id`,`status`,`subject`,`updated_at`,`id`,`repo_id`);--> statement-breakpoint
CREATE INDEX `notifications_repo` ON `notifications` (`user_id`,`repo_id`,`status`,`subject`,`updated_at`,`id`);--> statement-breakpoint
ALTER TABLE `users` ADD `email_notifications` text DEFAULT 'enabled' NOT NULL;--> statement-breakpoint
ALTER TABLE `mails` ADD `issue_id` integer REFERENCES issues(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE `mails` ADD `event_id` integer;--> statement-breakpoint
ALTER TABLE `mails` ADD `reason` text;--> statement-breakpoint
CREATE INDEX `mails_issue` ON `mails` (`issue_id`) WHERE "mails"."issue_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `mails_event` ON `mails` (`event_id`,`user_id`) WHERE "mails"."event_id" is not null;--> statement-breakpoint
CREATE INDEX `timeline_entries_issue_comments` ON `timeline_entries` (`issue_id`,`id`) WHERE "timeline_entries"."kind" = 'comment';--> statement-breakpoint
CREATE INDEX `timeline_entries_commenters` ON `timeline_entries` (`issue_id`,`poster_id`) WHERE "timeline_entries"."kind" = 'comment';