CREATE TABLE `code_comments` (
	`entry_id` integer PRIMARY KEY NOT NULL,
	`review_id` integer NOT NULL,
	`issue_id` integer NOT NULL,
	`root_id` integer,
	`path` text NOT NULL,
	`line` integer NOT NULL,
	`start_line` integer NOT NULL,
	`is_old_side` integer DEFAULT false NOT NULL,
	`commit_oid` text NOT NULL,
	`original_commit_oid` text NOT NULL,
	`original_line` integer NOT NULL,
	`diff_hunk` text DEFAULT '' NOT NULL,
	`is_outdated` integer DEFAULT false NOT NULL,
	`resolver_id` integer,
	`resolved_at` integer,
	FOREIGN KEY (`entry_id`) REFERENCES `timeline_entries`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`review_id`) REFERENCES `reviews`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`issue_id`) REFERENCES `issues`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`root_id`) REFERENCES `timeline_entries`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`resolver_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE INDEX `code_comments_review` ON `code_comments` (`review_id`,`entry_id`);--> statement-breakpoint
CREATE INDEX `code_comments_issue` ON `code_comments` (`issue_id`,`path`,`entry_id`);--> statement-breakpoint
CREATE INDEX `code_comments_root` ON `code_comments` (`root_id`) WHERE "code_comments"."root_id" is not null;--> statement-breakpoint
CREATE INDEX `code_comments_resolver` ON `code_comments` (`resolver_id`) WHERE "code_comments"."resolver_id" is not null;--> statement-breakpoint
CREATE TABLE `branch_protections` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`repo_id` integer,
	`owner_id` integer,
	`name` text NOT NULL,
	`repository_patterns` text DEFAULT '' NOT NULL,
	`priority` integer NOT NULL,
	`is_priority_explicit` integer DEFAULT false NOT NULL,
	`settings` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`owner_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "branch_protections_of_one" CHECK(("branch_protections"."repo_id" is null) <> ("branch_protections"."owner_id" is null))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `branch_protections_repo` ON `branch_protections` (`repo_id`,`name`);--> statement-breakpoint
CREATE UNIQUE INDEX `branch_protections_owner` ON `branch_protections` (`owner_id`,`name`);--> statement-breakpoint
CREATE TABLE `tag_protections` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`repo_id` integer NOT NULL,
	`name_pattern` text NOT NULL,
	`user_ids` text DEFAULT '[]' NOT NULL,
	`team_ids` text DEFAULT '[]' NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tag_protections_pattern` ON `tag_protections` (`repo_id`,`name_pattern`);--> statement-breakpoint
CREATE INDEX `tag_protections_repo` ON `tag_protections` (`repo_id`,`id`);--> statement-breakpoint
CREATE TABLE `branch_tips` (
	`repo_id` integer NOT NULL,
	`branch` text NOT NULL,
	`oid` text,
	`log_id` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`repo_id`, `branch`)
);
--> statement-breakpoint
CREATE TABLE `pulls` (
	`issue_id` integer PRIMARY KEY NOT NULL,
	`repo_id` integer NOT NULL,
	`is_closed` integer DEFAULT false NOT NULL,
	`flow` text DEFAULT 'branch' NOT NULL,
	`head_repo_id` integer NOT NULL,
	`head_branch` text NOT NULL,
	`base_branch` text NOT NULL,
	`head_oid` text NOT NULL,
	`merge_base_oid` text DEFAULT '' NOT NULL,
	`allow_maintainer_edit` integer DEFAULT false NOT NULL,
	`merge_state` text DEFAULT 'checking' NOT NULL,
	`judged_base_oid` text DEFAULT '' NOT NULL,
	`judged_head_oid` text DEFAULT '' NOT NULL,
	`conflict_paths` text DEFAULT '[]' NOT NULL,
	`additions` integer DEFAULT 0 NOT NULL,
	`deletions` integer DEFAULT 0 NOT NULL,
	`changed_files` integer DEFAULT 0 NOT NULL,
	`ahead_count` integer DEFAULT 0 NOT NULL,
	`behind_count` integer DEFAULT 0 NOT NULL,
	`merged_at` integer,
	`merger_id` integer,
	`merge_commit_oid` text DEFAULT '' NOT NULL,
	`merged_base_oid` text DEFAULT '' NOT NULL,
	`merge_kind` text,
	FOREIGN KEY (`issue_id`) REFERENCES `issues`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`merger_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE INDEX `pulls_base` ON `pulls` (`repo_id`,`base_branch`,`is_closed`,`issue_id`);--> statement-breakpoint
CREATE INDEX `pulls_head` ON `pulls` (`head_repo_id`,`head_branch`,`is_closed`,`issue_id`);--> statement-breakpoint
CREATE INDEX `pulls_merge_commit` ON `pulls` (`repo_id`,`merge_commit_oid`) WHERE "pulls"."merge_commit_oid" <> '';--> statement-breakpoint
CREATE INDEX `pulls_merger` ON `pulls` (`merger_id`) WHERE "pulls"."merger_id" is not null;--> statement-breakpoint
CREATE TABLE `scheduled_merges` (
	`issue_id` integer PRIMARY KEY NOT NULL,
	`repo_id` integer NOT NULL,
	`doer_id` integer NOT NULL,
	`style` text NOT NULL,
	`title` text DEFAULT '' NOT NULL,
	`message` text DEFAULT '' NOT NULL,
	`is_branch_deleted` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`issue_id`) REFERENCES `pulls`(`issue_id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`doer_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `scheduled_merges_repo` ON `scheduled_merges` (`repo_id`,`issue_id`);--> statement-breakpoint
CREATE INDEX `scheduled_merges_doer` ON `scheduled_merges` (`doer_id`);--> statement-breakpoint
CREATE TABLE `releases` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`repo_id` integer NOT NULL,
	`tag_name` text NOT NULL,
	`lower_tag_name` text NOT NULL,
	`target` text NOT NULL,
	`title` text DEFAULT '' NOT NULL,
	`body` text DEFAULT '' NOT NULL,
	`is_draft` integer DEFAULT false NOT NULL,
	`is_prerelease` integer DEFAULT false NOT NULL,
	`publisher_id` integer,
	`original_author` text DEFAULT '' NOT NULL,
	`original_author_id` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`published_at` integer,
	FOREIGN KEY (`publisher_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE UNIQUE INDEX `releases_tag` ON `releases` (`repo_id`,`lower_tag_name`);--> statement-breakpoint
CREATE INDEX `releases_of_repository` ON `releases` (`repo_id`,`created_at`,`id`,`is_draft`,`is_prerelease`);--> statement-breakpoint
CREATE INDEX `releases_by_created` ON `releases` (`repo_id`,`is_draft`,`is_prerelease`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `releases_publisher` ON `releases` (`publisher_id`);--> statement-breakpoint
CREATE TABLE `reviews` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`repo_id` integer NOT NULL,
	`issue_id` integer NOT NULL,
	`state` text NOT NULL,
	`reviewer_id` integer,
	`team_id` integer,
	`original_author` text DEFAULT '' NOT NULL,
	`original_author_id` integer DEFAULT 0 NOT NULL,
	`is_official` integer DEFAULT false NOT NULL,
	`is_stale` integer DEFAULT false NOT NULL,
	`is_dismissed` integer DEFAULT false NOT NULL,
	`body` text DEFAULT '' NOT NULL,
	`commit_oid` text DEFAULT '' NOT NULL,
	`comment_count` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`issue_id`) REFERENCES `issues`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`reviewer_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE set null,
	FOREIGN KEY (`team_id`) REFERENCES `teams`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "reviews_of_team" CHECK("reviews"."team_id" is null or "reviews"."state" = 'request_review')
);
--> statement-breakpoint
CREATE INDEX `reviews_issue` ON `reviews` (`issue_id`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `reviews_pending` ON `reviews` (`issue_id`,`reviewer_id`) WHERE "reviews"."state" = 'pending';--> statement-breakpoint
CREATE UNIQUE INDEX `reviews_user_request` ON `reviews` (`issue_id`,`reviewer_id`) WHERE "reviews"."state" = 'request_review' and "reviews"."reviewer_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `reviews_team_request` ON `reviews` (`issue_id`,`team_id`) WHERE "reviews"."team_id" is not null;--> statement-breakpoint
CREATE INDEX `reviews_reviewer` ON `reviews` (`reviewer_id`,`state`,`issue_id`);--> statement-breakpoint
CREATE INDEX `reviews_team` ON `reviews` (`team_id`) WHERE "reviews"."team_id" is not null;--> statement-breakpoint
DROP INDEX `events_activity_actor`;--> statement-breakpoint
DROP INDEX `events_activity_repo`;--> statement-breakpoint
DROP INDEX `events_activity_owner`;--> statement-breakpoint
CREATE INDEX `events_activity_actor` ON `events` (`actor_id`,`created_at`,`id`) WHERE "events"."type" in ('repository.created', 'repository.forked', 'repository.renamed', 'repository.transferred', 'repository.pushed', 'star.created', 'watch.created', 'issue.opened', 'issue.closed', 'issue.reopened', 'comment.created', 'pull.merged', 'pull.ready', 'review.submitted', 'review.dismissed', 'release.published');--> statement-breakpoint
CREATE INDEX `events_activity_repo` ON `events` (`repo_id`,`created_at`,`id`) WHERE "events"."type" in ('repository.created', 'repository.forked', 'repository.renamed', 'repository.transferred', 'repository.pushed', 'star.created', 'watch.created', 'issue.opened', 'issue.closed', 'issue.reopened', 'comment.created', 'pull.merged', 'pull.ready', 'review.submitted', 'review.dismissed', 'release.published');--> statement-breakpoint
CREATE INDEX `events_activity_owner` ON `events` (`owner_id`,`created_at`,`id`) WHERE "events"."type" in ('repository.created', 'repository.forked', 'repository.renamed', 'repository.transferred', 'repository.pushed', 'star.created', 'watch.created', 'issue.opened', 'issue.closed', 'issue.reopened', 'comment.created', 'pull.merged', 'pull.ready', 'review.submitted', 'review.dismissed', 'release.published');--> statement-breakpoint
ALTER TABLE `attachments` ADD `release_id` integer REFERENCES releases(id) ON DELETE cascade;--> statement-breakpoint
ALTER TABLE `attachments` ADD `sha256` text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE INDEX `attachments_release` ON `attachments` (`release_id`,`id`) WHERE "attachments"."release_id" is not null;--> statement-breakpoint
ALTER TABLE `notifications` ADD `release_id` integer REFERENCES releases(id) ON DELETE cascade;--> statement-breakpoint
CREATE UNIQUE INDEX `notifications_release` ON `notifications` (`user_id`,`release_id`) WHERE "notifications"."release_id" is not null;--> statement-breakpoint
CREATE INDEX `notifications_of_release` ON `notifications` (`release_id`) WHERE "notifications"."release_id" is not null;--> statement-breakpoint
ALTER TABLE `timeline_entries` ADD `review_id` integer REFERENCES reviews(id) ON DELETE cascade;--> statement-breakpoint
ALTER TABLE `timeline_entries` ADD `team_id` integer REFERENCES teams(id) ON DELETE set null;--> statement-breakpoint
CREATE INDEX `timeline_entries_review` ON `timeline_entries` (`review_id`) WHERE "timeline_entries"."review_id" is not null;--> statement-breakpoint
CREATE INDEX `timeline_entries_team` ON `timeline_entries` (`team_id`) WHERE "timeline_entries"."team_id" is not null;--> statement-breakpoint
CREATE INDEX `issues_by_closed` ON `issues` (`repo_id`,`is_pull`,`is_closed`,`closed_at`);