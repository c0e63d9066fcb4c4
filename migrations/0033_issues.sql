CREATE TABLE `attachment_loose_files` (
	`uuid` text PRIMARY KEY NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `attachment_loose_files_expiry` ON `attachment_loose_files` (`expires_at`);--> statement-breakpoint
CREATE TABLE `attachments` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`uuid` text NOT NULL,
	`repo_id` integer NOT NULL,
	`issue_id` integer,
	`entry_id` integer,
	`uploader_id` integer,
	`name` text NOT NULL,
	`size_bytes` integer NOT NULL,
	`download_count` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`issue_id`) REFERENCES `issues`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`entry_id`) REFERENCES `timeline_entries`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`uploader_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE UNIQUE INDEX `attachments_uuid` ON `attachments` (`uuid`);--> statement-breakpoint
CREATE INDEX `attachments_repo` ON `attachments` (`repo_id`);--> statement-breakpoint
CREATE INDEX `attachments_issue` ON `attachments` (`issue_id`,`id`);--> statement-breakpoint
CREATE INDEX `attachments_entry` ON `attachments` (`entry_id`,`id`) WHERE "attachments"."entry_id" is not null;--> statement-breakpoint
CREATE INDEX `attachments_uploader` ON `attachments` (`uploader_id`);--> statement-breakpoint
CREATE TABLE `issue_assignees` (
	`issue_id` integer NOT NULL,
	`user_id` integer NOT NULL,
	`repo_id` integer NOT NULL,
	`is_pull` integer DEFAULT false NOT NULL,
	`is_closed` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`issue_id`, `user_id`),
	FOREIGN KEY (`issue_id`) REFERENCES `issues`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `issue_assignees_user` ON `issue_assignees` (`user_id`,`repo_id`,`is_pull`,`is_closed`,`issue_id`);--> statement-breakpoint
CREATE INDEX `issue_assignees_newest` ON `issue_assignees` (`user_id`,`is_pull`,`is_closed`,`issue_id`);--> statement-breakpoint
CREATE TABLE `issue_dependencies` (
	`issue_id` integer NOT NULL,
	`blocker_id` integer NOT NULL,
	`creator_id` integer,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`issue_id`, `blocker_id`),
	FOREIGN KEY (`issue_id`) REFERENCES `issues`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`blocker_id`) REFERENCES `issues`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`creator_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE INDEX `issue_dependencies_blocker` ON `issue_dependencies` (`blocker_id`,`issue_id`);--> statement-breakpoint
CREATE INDEX `issue_dependencies_creator` ON `issue_dependencies` (`creator_id`);--> statement-breakpoint
CREATE TABLE `issue_mentions` (
	`issue_id` integer NOT NULL,
	`user_id` integer NOT NULL,
	`repo_id` integer NOT NULL,
	`is_pull` integer DEFAULT false NOT NULL,
	`is_closed` integer DEFAULT false NOT NULL,
	PRIMARY KEY(`issue_id`, `user_id`),
	FOREIGN KEY (`issue_id`) REFERENCES `issues`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `issue_mentions_user` ON `issue_mentions` (`user_id`,`repo_id`,`is_pull`,`is_closed`,`issue_id`);--> statement-breakpoint
CREATE INDEX `issue_mentions_newest` ON `issue_mentions` (`user_id`,`is_pull`,`is_closed`,`issue_id`);--> statement-breakpoint
CREATE TABLE `issue_subscriptions` (
	`issue_id` integer NOT NULL,
	`user_id` integer NOT NULL,
	`is_subscribed` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`issue_id`, `user_id`),
	FOREIGN KEY (`issue_id`) REFERENCES `issues`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `issue_subscriptions_user` ON `issue_subscriptions` (`user_id`);--> statement-breakpoint
CREATE TABLE `issues` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`repo_id` integer NOT NULL,
	`number` integer NOT NULL,
	`is_pull` integer DEFAULT false NOT NULL,
	`poster_id` integer,
	`original_author` text DEFAULT '' NOT NULL,
	`original_author_id` integer DEFAULT 0 NOT NULL,
	`title` text NOT NULL,
	`body` text DEFAULT '' NOT NULL,
	`content_version` integer DEFAULT 0 NOT NULL,
	`ref` text DEFAULT '' NOT NULL,
	`is_closed` integer DEFAULT false NOT NULL,
	`closed_at` integer,
	`is_locked` integer DEFAULT false NOT NULL,
	`milestone_id` integer,
	`deadline_at` integer,
	`time_estimate_seconds` integer DEFAULT 0 NOT NULL,
	`comment_count` integer DEFAULT 0 NOT NULL,
	`pin_order` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`poster_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE set null,
	FOREIGN KEY (`milestone_id`) REFERENCES `milestones`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE UNIQUE INDEX `issues_number` ON `issues` (`repo_id`,`number`);--> statement-breakpoint
CREATE INDEX `issues_by_number` ON `issues` (`repo_id`,`is_pull`,`is_closed`,`number`);--> statement-breakpoint
CREATE INDEX `issues_by_updated` ON `issues` (`repo_id`,`is_pull`,`is_closed`,`updated_at`);--> statement-breakpoint
CREATE INDEX `issues_by_comments` ON `issues` (`repo_id`,`is_pull`,`is_closed`,`comment_count`);--> statement-breakpoint
CREATE INDEX `issues_by_deadline` ON `issues` (`repo_id`,`is_pull`,`is_closed`,`deadline_at`);--> statement-breakpoint
CREATE INDEX `issues_newest` ON `issues` (`is_pull`,`is_closed`);--> statement-breakpoint
CREATE INDEX `issues_poster` ON `issues` (`poster_id`,`repo_id`,`is_pull`,`is_closed`,`number`);--> statement-breakpoint
CREATE INDEX `issues_poster_newest` ON `issues` (`poster_id`,`is_pull`,`is_closed`);--> statement-breakpoint
CREATE INDEX `issues_milestone` ON `issues` (`milestone_id`,`is_pull`,`is_closed`,`number`) WHERE "issues"."milestone_id" is not null;--> statement-breakpoint
CREATE INDEX `issues_pinned` ON `issues` (`repo_id`,`is_pull`,`pin_order`) WHERE "issues"."pin_order" > 0;--> statement-breakpoint
CREATE TABLE `issue_labels` (
	`issue_id` integer NOT NULL,
	`label_id` integer NOT NULL,
	`repo_id` integer NOT NULL,
	`is_pull` integer NOT NULL,
	`is_closed` integer NOT NULL,
	PRIMARY KEY(`issue_id`, `label_id`),
	FOREIGN KEY (`issue_id`) REFERENCES `issues`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`label_id`) REFERENCES `labels`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `issue_labels_label` ON `issue_labels` (`label_id`,`repo_id`,`is_pull`,`is_closed`,`issue_id`);--> statement-breakpoint
CREATE TABLE `labels` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`repo_id` integer,
	`org_id` integer,
	`name` text NOT NULL,
	`color` text NOT NULL,
	`description` text DEFAULT '' NOT NULL,
	`is_exclusive` integer DEFAULT false NOT NULL,
	`archived_at` integer,
	`open_issue_count` integer DEFAULT 0 NOT NULL,
	`closed_issue_count` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`org_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "labels_owner" CHECK(("labels"."repo_id" is null) <> ("labels"."org_id" is null))
);
--> statement-breakpoint
CREATE INDEX `labels_repo` ON `labels` (`repo_id`,`name`);--> statement-breakpoint
CREATE INDEX `labels_org` ON `labels` (`org_id`,`name`);--> statement-breakpoint
CREATE INDEX `labels_name` ON `labels` (`name`);--> statement-breakpoint
CREATE TABLE `milestones` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`repo_id` integer NOT NULL,
	`title` text NOT NULL,
	`description` text DEFAULT '' NOT NULL,
	`is_closed` integer DEFAULT false NOT NULL,
	`closed_at` integer,
	`deadline_at` integer,
	`open_issue_count` integer DEFAULT 0 NOT NULL,
	`closed_issue_count` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `milestones_by_deadline` ON `milestones` (`repo_id`,`is_closed`,`deadline_at`,`id`);--> statement-breakpoint
CREATE INDEX `milestones_title` ON `milestones` (`repo_id`,`title`);--> statement-breakpoint
CREATE INDEX `milestones_all_titles` ON `milestones` (`title`);--> statement-breakpoint
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
CREATE TABLE `notifications` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`repo_id` integer NOT NULL,
	`subject` text NOT NULL,
	`issue_id` integer,
	`commit_oid` text DEFAULT '' NOT NULL,
	`status` text NOT NULL,
	`entry_id` integer,
	`event_id` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`issue_id`) REFERENCES `issues`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "notifications_status" CHECK("notifications"."status" in ('unread', 'read', 'pinned'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `notifications_issue` ON `notifications` (`user_id`,`issue_id`) WHERE "notifications"."issue_id" is not null;--> statement-breakpoint
CREATE INDEX `notifications_by_updated` ON `notifications` (`user_id`,`status`,`subject`,`updated_at`,`id`,`repo_id`);--> statement-breakpoint
CREATE INDEX `notifications_repo` ON `notifications` (`user_id`,`repo_id`,`status`,`subject`,`updated_at`,`id`);--> statement-breakpoint
CREATE INDEX `notifications_read` ON `notifications` (`updated_at`) WHERE "notifications"."status" = 'read';--> statement-breakpoint
CREATE INDEX `notifications_of_issue` ON `notifications` (`issue_id`);--> statement-breakpoint
CREATE INDEX `notifications_of_repo` ON `notifications` (`repo_id`);--> statement-breakpoint
CREATE TABLE `repository_remains` (
	`repo_id` integer PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE `comment_counts` (
	`repo_id` integer PRIMARY KEY NOT NULL,
	`of_issues` integer DEFAULT 0 NOT NULL,
	`of_pulls` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `content_versions` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`issue_id` integer NOT NULL,
	`entry_id` integer,
	`editor_id` integer,
	`body` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`issue_id`) REFERENCES `issues`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`entry_id`) REFERENCES `timeline_entries`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`editor_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE INDEX `content_versions_issue` ON `content_versions` (`issue_id`,`entry_id`,`id`);--> statement-breakpoint
CREATE INDEX `content_versions_entry` ON `content_versions` (`entry_id`) WHERE "content_versions"."entry_id" is not null;--> statement-breakpoint
CREATE INDEX `content_versions_editor` ON `content_versions` (`editor_id`);--> statement-breakpoint
CREATE TABLE `reactions` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`issue_id` integer NOT NULL,
	`entry_id` integer,
	`user_id` integer NOT NULL,
	`content` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`issue_id`) REFERENCES `issues`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`entry_id`) REFERENCES `timeline_entries`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `reactions_issue` ON `reactions` (`issue_id`,`user_id`,`content`) WHERE "reactions"."entry_id" is null;--> statement-breakpoint
CREATE UNIQUE INDEX `reactions_entry` ON `reactions` (`entry_id`,`user_id`,`content`) WHERE "reactions"."entry_id" is not null;--> statement-breakpoint
CREATE INDEX `reactions_of_issue` ON `reactions` (`issue_id`,`id`);--> statement-breakpoint
CREATE INDEX `reactions_user` ON `reactions` (`user_id`);--> statement-breakpoint
CREATE TABLE `timeline_entries` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`repo_id` integer NOT NULL,
	`issue_id` integer NOT NULL,
	`kind` text NOT NULL,
	`poster_id` integer,
	`original_author` text DEFAULT '' NOT NULL,
	`original_author_id` integer DEFAULT 0 NOT NULL,
	`body` text DEFAULT '' NOT NULL,
	`content_version` integer DEFAULT 0 NOT NULL,
	`label_id` integer,
	`milestone_id` integer,
	`old_milestone_id` integer,
	`assignee_id` integer,
	`is_assignee_removed` integer DEFAULT false NOT NULL,
	`old_value` text DEFAULT '' NOT NULL,
	`new_value` text DEFAULT '' NOT NULL,
	`other_issue_id` integer,
	`other_entry_id` integer,
	`ref_action` text DEFAULT 'none' NOT NULL,
	`commit_oid` text DEFAULT '' NOT NULL,
	`commit_repo_id` integer,
	`time_id` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`issue_id`) REFERENCES `issues`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`poster_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE set null,
	FOREIGN KEY (`label_id`) REFERENCES `labels`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`milestone_id`) REFERENCES `milestones`(`id`) ON UPDATE no action ON DELETE set null,
	FOREIGN KEY (`old_milestone_id`) REFERENCES `milestones`(`id`) ON UPDATE no action ON DELETE set null,
	FOREIGN KEY (`assignee_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE set null,
	FOREIGN KEY (`other_issue_id`) REFERENCES `issues`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`other_entry_id`) REFERENCES `timeline_entries`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `timeline_entries_issue` ON `timeline_entries` (`issue_id`,`id`);--> statement-breakpoint
CREATE INDEX `timeline_entries_comments` ON `timeline_entries` (`repo_id`,`id`) WHERE "timeline_entries"."kind" = 'comment';--> statement-breakpoint
CREATE INDEX `timeline_entries_updated` ON `timeline_entries` (`repo_id`,`updated_at`) WHERE "timeline_entries"."kind" = 'comment';--> statement-breakpoint
CREATE INDEX `timeline_entries_issue_comments` ON `timeline_entries` (`issue_id`,`id`) WHERE "timeline_entries"."kind" = 'comment';--> statement-breakpoint
CREATE INDEX `timeline_entries_commenters` ON `timeline_entries` (`issue_id`,`poster_id`) WHERE "timeline_entries"."kind" = 'comment';--> statement-breakpoint
CREATE INDEX `timeline_entries_poster` ON `timeline_entries` (`poster_id`,`issue_id`);--> statement-breakpoint
CREATE INDEX `timeline_entries_label` ON `timeline_entries` (`label_id`,`repo_id`) WHERE "timeline_entries"."label_id" is not null;--> statement-breakpoint
CREATE INDEX `timeline_entries_milestone` ON `timeline_entries` (`milestone_id`) WHERE "timeline_entries"."milestone_id" is not null;--> statement-breakpoint
CREATE INDEX `timeline_entries_old_milestone` ON `timeline_entries` (`old_milestone_id`) WHERE "timeline_entries"."old_milestone_id" is not null;--> statement-breakpoint
CREATE INDEX `timeline_entries_assignee` ON `timeline_entries` (`assignee_id`) WHERE "timeline_entries"."assignee_id" is not null;--> statement-breakpoint
CREATE INDEX `timeline_entries_other_issue` ON `timeline_entries` (`other_issue_id`) WHERE "timeline_entries"."other_issue_id" is not null;--> statement-breakpoint
CREATE INDEX `timeline_entries_other_entry` ON `timeline_entries` (`other_entry_id`) WHERE "timeline_entries"."other_entry_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `timeline_entries_commit` ON `timeline_entries` (`issue_id`,`commit_oid`,`kind`) WHERE "timeline_entries"."commit_oid" <> '';--> statement-breakpoint
CREATE TABLE `stopwatches` (
	`user_id` integer NOT NULL,
	`issue_id` integer NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`user_id`, `issue_id`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`issue_id`) REFERENCES `issues`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `stopwatches_issue` ON `stopwatches` (`issue_id`);--> statement-breakpoint
CREATE TABLE `tracked_times` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`repo_id` integer NOT NULL,
	`issue_id` integer NOT NULL,
	`user_id` integer NOT NULL,
	`seconds` integer NOT NULL,
	`created_at` integer NOT NULL,
	`booked_at` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`issue_id`) REFERENCES `issues`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `tracked_times_issue` ON `tracked_times` (`issue_id`,`id`);--> statement-breakpoint
CREATE INDEX `tracked_times_repo` ON `tracked_times` (`repo_id`,`id`);--> statement-breakpoint
CREATE INDEX `tracked_times_user` ON `tracked_times` (`user_id`,`id`);--> statement-breakpoint
DROP INDEX `events_activity_actor`;--> statement-breakpoint
DROP INDEX `events_activity_repo`;--> statement-breakpoint
DROP INDEX `events_activity_owner`;--> statement-breakpoint
ALTER TABLE `events` ADD `consequences_at` integer;--> statement-breakpoint
ALTER TABLE `events` ADD `consequence_attempts` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `events` ADD `consequence_progress` text;--> statement-breakpoint
CREATE INDEX `events_consequences` ON `events` (`id`,`consequences_at`) WHERE "events"."consequences_at" is not null;--> statement-breakpoint
CREATE INDEX `events_consequences_repo` ON `events` (`repo_id`,`id`,`consequences_at`) WHERE "events"."consequences_at" is not null;--> statement-breakpoint
CREATE INDEX `events_activity_actor` ON `events` (`actor_id`,`created_at`,`id`) WHERE "events"."type" in ('repository.created', 'repository.forked', 'repository.renamed', 'repository.transferred', 'repository.pushed', 'star.created', 'watch.created', 'issue.opened', 'issue.closed', 'issue.reopened', 'comment.created');--> statement-breakpoint
CREATE INDEX `events_activity_repo` ON `events` (`repo_id`,`created_at`,`id`) WHERE "events"."type" in ('repository.created', 'repository.forked', 'repository.renamed', 'repository.transferred', 'repository.pushed', 'star.created', 'watch.created', 'issue.opened', 'issue.closed', 'issue.reopened', 'comment.created');--> statement-breakpoint
CREATE INDEX `events_activity_owner` ON `events` (`owner_id`,`created_at`,`id`) WHERE "events"."type" in ('repository.created', 'repository.forked', 'repository.renamed', 'repository.transferred', 'repository.pushed', 'star.created', 'watch.created', 'issue.opened', 'issue.closed', 'issue.reopened', 'comment.created');--> statement-breakpoint
ALTER TABLE `users` ADD `email_notifications` text DEFAULT 'enabled' NOT NULL;--> statement-breakpoint
ALTER TABLE `mails` ADD `issue_id` integer REFERENCES issues(id) ON DELETE CASCADE;--> statement-breakpoint
ALTER TABLE `mails` ADD `event_id` integer;--> statement-breakpoint
ALTER TABLE `mails` ADD `reason` text;--> statement-breakpoint
CREATE INDEX `mails_issue` ON `mails` (`issue_id`) WHERE "mails"."issue_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `mails_event` ON `mails` (`event_id`,`user_id`) WHERE "mails"."event_id" is not null;--> statement-breakpoint
ALTER TABLE `repositories` ADD `last_issue_number` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `repositories` ADD `closed_issue_count` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `repositories` ADD `closed_pull_count` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `repositories_internal` ON `repositories` (`owner_id`,`visibility`) WHERE not "repositories"."is_private";