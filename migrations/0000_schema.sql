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
CREATE TABLE `blocks` (
	`blocker_id` integer NOT NULL,
	`blocked_id` integer NOT NULL,
	`note` text DEFAULT '' NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`blocker_id`, `blocked_id`),
	FOREIGN KEY (`blocker_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`blocked_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "blocks_not_oneself" CHECK("blocks"."blocker_id" <> "blocks"."blocked_id")
);
--> statement-breakpoint
CREATE INDEX `blocks_blocked` ON `blocks` (`blocked_id`,`blocker_id`);--> statement-breakpoint
CREATE INDEX `blocks_newest` ON `blocks` (`blocker_id`,`created_at`,`blocked_id`);--> statement-breakpoint
CREATE TABLE `email_addresses` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`email` text NOT NULL,
	`lower_email` text NOT NULL,
	`is_activated` integer NOT NULL,
	`is_primary` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `email_addresses_lower_email` ON `email_addresses` (`lower_email`);--> statement-breakpoint
CREATE UNIQUE INDEX `email_addresses_primary` ON `email_addresses` (`user_id`) WHERE "email_addresses"."is_primary" = 1;--> statement-breakpoint
CREATE INDEX `email_addresses_user` ON `email_addresses` (`user_id`);--> statement-breakpoint
CREATE TABLE `follows` (
	`follower_id` integer NOT NULL,
	`followed_id` integer NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`follower_id`, `followed_id`),
	FOREIGN KEY (`follower_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`followed_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "follows_not_oneself" CHECK("follows"."follower_id" <> "follows"."followed_id")
);
--> statement-breakpoint
CREATE INDEX `follows_followed` ON `follows` (`followed_id`,`follower_id`);--> statement-breakpoint
CREATE TABLE `user_badges` (
	`user_id` integer NOT NULL,
	`badge_id` integer NOT NULL,
	PRIMARY KEY(`user_id`, `badge_id`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`badge_id`) REFERENCES `badges`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `user_badges_badge` ON `user_badges` (`badge_id`);--> statement-breakpoint
CREATE TABLE `user_redirects` (
	`lower_name` text PRIMARY KEY NOT NULL,
	`user_id` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `user_redirects_user` ON `user_redirects` (`user_id`);--> statement-breakpoint
CREATE TABLE `users` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`kind` text NOT NULL,
	`name` text NOT NULL,
	`lower_name` text NOT NULL,
	`full_name` text DEFAULT '' NOT NULL,
	`email` text DEFAULT '' NOT NULL,
	`is_email_hidden` integer DEFAULT false NOT NULL,
	`password_hash` text,
	`description` text DEFAULT '' NOT NULL,
	`website` text DEFAULT '' NOT NULL,
	`location` text DEFAULT '' NOT NULL,
	`language` text DEFAULT '' NOT NULL,
	`theme` text DEFAULT '' NOT NULL,
	`diff_view_style` text DEFAULT 'unified' NOT NULL,
	`is_activity_hidden` integer DEFAULT false NOT NULL,
	`email_notifications` text DEFAULT 'enabled' NOT NULL,
	`visibility` text DEFAULT 'public' NOT NULL,
	`is_admin` integer DEFAULT false NOT NULL,
	`is_active` integer DEFAULT true NOT NULL,
	`is_restricted` integer DEFAULT false NOT NULL,
	`is_login_prohibited` integer DEFAULT false NOT NULL,
	`must_change_password` integer DEFAULT false NOT NULL,
	`has_totp` integer DEFAULT false NOT NULL,
	`has_webauthn` integer DEFAULT false NOT NULL,
	`can_create_organization` integer DEFAULT true NOT NULL,
	`can_repo_admin_change_team_access` integer DEFAULT false NOT NULL,
	`repo_count_max` integer DEFAULT -1 NOT NULL,
	`login_source_id` integer DEFAULT 0 NOT NULL,
	`login_name` text DEFAULT '' NOT NULL,
	`follower_count` integer DEFAULT 0 NOT NULL,
	`following_count` integer DEFAULT 0 NOT NULL,
	`star_count` integer DEFAULT 0 NOT NULL,
	`watch_count` integer DEFAULT 0 NOT NULL,
	`avatar_hash` text DEFAULT '' NOT NULL,
	`last_login_at` integer,
	`swept_event_id` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	CONSTRAINT "users_kind" CHECK("users"."kind" in ('user', 'organization')),
	CONSTRAINT "users_visibility" CHECK("users"."visibility" in ('public', 'limited', 'private'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_lower_name` ON `users` (`lower_name`);--> statement-breakpoint
CREATE INDEX `users_by_name` ON `users` (`kind`,`visibility`,`lower_name`);--> statement-breakpoint
CREATE INDEX `users_login_name` ON `users` (`login_name`,`lower_name`);--> statement-breakpoint
CREATE INDEX `users_avatar` ON `users` (`avatar_hash`) WHERE "users"."avatar_hash" <> '';--> statement-breakpoint
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
	`release_id` integer,
	`uploader_id` integer,
	`name` text NOT NULL,
	`size_bytes` integer NOT NULL,
	`sha256` text DEFAULT '' NOT NULL,
	`download_count` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`issue_id`) REFERENCES `issues`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`entry_id`) REFERENCES `timeline_entries`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`release_id`) REFERENCES `releases`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`uploader_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE UNIQUE INDEX `attachments_uuid` ON `attachments` (`uuid`);--> statement-breakpoint
CREATE INDEX `attachments_repo` ON `attachments` (`repo_id`);--> statement-breakpoint
CREATE INDEX `attachments_issue` ON `attachments` (`issue_id`,`id`);--> statement-breakpoint
CREATE INDEX `attachments_entry` ON `attachments` (`entry_id`,`id`) WHERE "attachments"."entry_id" is not null;--> statement-breakpoint
CREATE INDEX `attachments_release` ON `attachments` (`release_id`,`id`) WHERE "attachments"."release_id" is not null;--> statement-breakpoint
CREATE INDEX `attachments_uploader` ON `attachments` (`uploader_id`);--> statement-breakpoint
CREATE TABLE `audit_events` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`kind` text NOT NULL,
	`actor_id` integer NOT NULL,
	`actor_name` text NOT NULL,
	`sudoer_id` integer,
	`sudoer_name` text DEFAULT '' NOT NULL,
	`credential` text NOT NULL,
	`token_id` integer,
	`owner_id` integer NOT NULL,
	`owner_name` text NOT NULL,
	`user_id` integer,
	`user_name` text DEFAULT '' NOT NULL,
	`repo_id` integer,
	`repo_name` text DEFAULT '' NOT NULL,
	`target` text DEFAULT '' NOT NULL,
	`details` text NOT NULL,
	`address` text,
	`request_id` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `audit_events_owner` ON `audit_events` (`owner_id`,`id`);--> statement-breakpoint
CREATE INDEX `audit_events_actor` ON `audit_events` (`actor_id`,`id`);--> statement-breakpoint
CREATE INDEX `audit_events_user` ON `audit_events` (`user_id`,`id`) WHERE "audit_events"."user_id" is not null;--> statement-breakpoint
CREATE INDEX `audit_events_kind` ON `audit_events` (`kind`,`id`);--> statement-breakpoint
CREATE INDEX `audit_events_time` ON `audit_events` (`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `audit_events_sign_in` ON `audit_events` (`actor_id`,`created_at`) WHERE "audit_events"."kind" in ('sign_in.succeeded', 'sign_in.refused');--> statement-breakpoint
CREATE TABLE `avatar_images` (
	`upload_id` text PRIMARY KEY NOT NULL,
	`hash` text NOT NULL,
	`content_type` text NOT NULL,
	`expires_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `avatar_images_hash` ON `avatar_images` (`hash`) WHERE "avatar_images"."expires_at" is null;--> statement-breakpoint
CREATE INDEX `avatar_images_expiry` ON `avatar_images` (`expires_at`) WHERE "avatar_images"."expires_at" is not null;--> statement-breakpoint
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
CREATE TABLE `cron_runs` (
	`task` text PRIMARY KEY NOT NULL,
	`started_at` integer NOT NULL,
	`run_count` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `event_cursors` (
	`name` text PRIMARY KEY NOT NULL,
	`last_id` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `events` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`type` text NOT NULL,
	`actor_id` integer NOT NULL,
	`owner_id` integer NOT NULL,
	`repo_id` integer,
	`visibility` text DEFAULT 'private' NOT NULL,
	`is_private` integer DEFAULT true NOT NULL,
	`payload` text NOT NULL,
	`created_at` integer NOT NULL,
	`dispatch_at` integer,
	`dispatch_attempts` integer DEFAULT 0 NOT NULL,
	`consequences_at` integer,
	`consequence_attempts` integer DEFAULT 0 NOT NULL,
	`consequence_progress` text,
	`root_url` text DEFAULT '' NOT NULL
);
--> statement-breakpoint
CREATE INDEX `events_repo` ON `events` (`repo_id`,`id`);--> statement-breakpoint
CREATE INDEX `events_undispatched` ON `events` (`id`,`dispatch_at`) WHERE "events"."dispatch_at" is not null;--> statement-breakpoint
CREATE INDEX `events_undispatched_repo` ON `events` (`repo_id`,`id`,`dispatch_at`) WHERE "events"."dispatch_at" is not null;--> statement-breakpoint
CREATE INDEX `events_consequences` ON `events` (`id`,`consequences_at`) WHERE "events"."consequences_at" is not null;--> statement-breakpoint
CREATE INDEX `events_consequences_repo` ON `events` (`repo_id`,`id`,`consequences_at`) WHERE "events"."consequences_at" is not null;--> statement-breakpoint
CREATE INDEX `events_owner` ON `events` (`owner_id`,`id`);--> statement-breakpoint
CREATE INDEX `events_activity_actor` ON `events` (`actor_id`,`created_at`,`id`) WHERE "events"."type" in ('repository.created', 'repository.forked', 'repository.renamed', 'repository.transferred', 'repository.pushed', 'star.created', 'watch.created', 'issue.opened', 'issue.closed', 'issue.reopened', 'comment.created', 'pull.merged', 'pull.ready', 'review.submitted', 'review.dismissed', 'release.published');--> statement-breakpoint
CREATE INDEX `events_activity_repo` ON `events` (`repo_id`,`created_at`,`id`) WHERE "events"."type" in ('repository.created', 'repository.forked', 'repository.renamed', 'repository.transferred', 'repository.pushed', 'star.created', 'watch.created', 'issue.opened', 'issue.closed', 'issue.reopened', 'comment.created', 'pull.merged', 'pull.ready', 'review.submitted', 'review.dismissed', 'release.published');--> statement-breakpoint
CREATE INDEX `events_activity_owner` ON `events` (`owner_id`,`created_at`,`id`) WHERE "events"."type" in ('repository.created', 'repository.forked', 'repository.renamed', 'repository.transferred', 'repository.pushed', 'star.created', 'watch.created', 'issue.opened', 'issue.closed', 'issue.reopened', 'comment.created', 'pull.merged', 'pull.ready', 'review.submitted', 'review.dismissed', 'release.published');--> statement-breakpoint
CREATE UNIQUE INDEX `events_push` ON `events` ("payload" ->> 'pushId',"payload" ->> 'part') WHERE "events"."type" = 'repository.pushed';--> statement-breakpoint
CREATE TABLE `hook_deliveries` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`hook_id` integer NOT NULL,
	`webhook_event_id` integer NOT NULL,
	`uuid` text NOT NULL,
	`event` text NOT NULL,
	`status` text DEFAULT 'pending' NOT NULL,
	`is_requested` integer DEFAULT false NOT NULL,
	`attempt_count` integer DEFAULT 0 NOT NULL,
	`next_attempt_at` integer,
	`request_url` text DEFAULT '' NOT NULL,
	`request_headers` text,
	`request_body` text,
	`response_status` integer,
	`response_headers` text,
	`response_body` text,
	`failure` text DEFAULT '' NOT NULL,
	`duration_ms` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`hook_id`) REFERENCES `hooks`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`webhook_event_id`) REFERENCES `webhook_events`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "hook_deliveries_status" CHECK("hook_deliveries"."status" in ('pending', 'succeeded', 'failed'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `hook_deliveries_webhook_event` ON `hook_deliveries` (`hook_id`,`webhook_event_id`);--> statement-breakpoint
CREATE INDEX `hook_deliveries_of_webhook_event` ON `hook_deliveries` (`webhook_event_id`);--> statement-breakpoint
CREATE INDEX `hook_deliveries_by_status` ON `hook_deliveries` (`hook_id`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `hook_deliveries_by_event` ON `hook_deliveries` (`hook_id`,`event`,`id`);--> statement-breakpoint
CREATE INDEX `hook_deliveries_due` ON `hook_deliveries` (`hook_id`,`next_attempt_at`) WHERE "hook_deliveries"."next_attempt_at" is not null;--> statement-breakpoint
CREATE TABLE `hooks` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`level` text NOT NULL,
	`repo_id` integer,
	`owner_id` integer,
	`approver_id` integer NOT NULL,
	`type` text NOT NULL,
	`url` text NOT NULL,
	`content_type` text NOT NULL,
	`chat` text NOT NULL,
	`secret` text,
	`authorization` text,
	`branch_filter` text DEFAULT '' NOT NULL,
	`events` text NOT NULL,
	`is_active` integer NOT NULL,
	`last_status` text DEFAULT 'none' NOT NULL,
	`last_delivered_at` integer,
	`failing_since` integer,
	`failure_count` integer DEFAULT 0 NOT NULL,
	`paused_at` integer,
	`backoff_until` integer,
	`leased_until` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`owner_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "hooks_level" CHECK("hooks"."level" in ('repository', 'organization', 'user', 'system', 'default')),
	CONSTRAINT "hooks_repository" CHECK(("hooks"."level" = 'repository') = ("hooks"."repo_id" is not null)),
	CONSTRAINT "hooks_account" CHECK(("hooks"."level" in ('organization', 'user')) = ("hooks"."owner_id" is not null))
);
--> statement-breakpoint
CREATE INDEX `hooks_repo` ON `hooks` (`repo_id`,`id`);--> statement-breakpoint
CREATE INDEX `hooks_owner` ON `hooks` (`owner_id`,`id`);--> statement-breakpoint
CREATE INDEX `hooks_level` ON `hooks` (`level`,`id`);--> statement-breakpoint
CREATE TABLE `webhook_events` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`event_id` integer NOT NULL,
	`part` integer NOT NULL,
	`event` text NOT NULL,
	`repo_id` integer NOT NULL,
	`payload` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_events_part` ON `webhook_events` (`event_id`,`part`);--> statement-breakpoint
CREATE TABLE `commit_statuses` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`repo_id` integer NOT NULL,
	`commit_oid` text NOT NULL,
	`number` integer NOT NULL,
	`state` text NOT NULL,
	`context` text NOT NULL,
	`description` text NOT NULL,
	`target_url` text NOT NULL,
	`creator_id` integer,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`creator_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE UNIQUE INDEX `commit_statuses_number` ON `commit_statuses` (`repo_id`,`commit_oid`,`number`);--> statement-breakpoint
CREATE INDEX `commit_statuses_creator` ON `commit_statuses` (`creator_id`);--> statement-breakpoint
CREATE TABLE `repository_insights` (
	`repo_id` integer PRIMARY KEY NOT NULL,
	`commit_oid` text NOT NULL,
	`rules` text NOT NULL,
	`languages` text NOT NULL,
	`licenses` text NOT NULL,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `repository_topics` (
	`repo_id` integer NOT NULL,
	`topic_id` integer NOT NULL,
	`visibility` text DEFAULT 'private' NOT NULL,
	PRIMARY KEY(`repo_id`, `topic_id`),
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`topic_id`) REFERENCES `topics`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `repository_topics_topic` ON `repository_topics` (`topic_id`,`visibility`,`repo_id`);--> statement-breakpoint
CREATE TABLE `topics` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`name` text NOT NULL,
	`repo_count` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `topics_name` ON `topics` (`name`);--> statement-breakpoint
CREATE INDEX `topics_popular` ON `topics` ("repo_count" desc,`name`) WHERE "topics"."repo_count" > 0;--> statement-breakpoint
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
CREATE INDEX `issues_by_closed` ON `issues` (`repo_id`,`is_pull`,`is_closed`,`closed_at`);--> statement-breakpoint
CREATE INDEX `issues_newest` ON `issues` (`is_pull`,`is_closed`);--> statement-breakpoint
CREATE INDEX `issues_poster` ON `issues` (`poster_id`,`repo_id`,`is_pull`,`is_closed`,`number`);--> statement-breakpoint
CREATE INDEX `issues_poster_newest` ON `issues` (`poster_id`,`is_pull`,`is_closed`);--> statement-breakpoint
CREATE INDEX `issues_milestone` ON `issues` (`milestone_id`,`is_pull`,`is_closed`,`number`) WHERE "issues"."milestone_id" is not null;--> statement-breakpoint
CREATE INDEX `issues_pinned` ON `issues` (`repo_id`,`is_pull`,`pin_order`) WHERE "issues"."pin_order" > 0;--> statement-breakpoint
CREATE TABLE `gpg_keys` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`primary_key_id` text DEFAULT '' NOT NULL,
	`key_id` text NOT NULL,
	`fingerprint` text NOT NULL,
	`public_key` text NOT NULL,
	`armored` text DEFAULT '' NOT NULL,
	`emails` text NOT NULL,
	`can_sign` integer NOT NULL,
	`can_certify` integer NOT NULL,
	`can_encrypt_comms` integer NOT NULL,
	`can_encrypt_storage` integer NOT NULL,
	`is_proven` integer DEFAULT false NOT NULL,
	`is_revoked` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer,
	`added_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `gpg_keys_user_key` ON `gpg_keys` (`user_id`,`key_id`);--> statement-breakpoint
CREATE INDEX `gpg_keys_key` ON `gpg_keys` (`key_id`);--> statement-breakpoint
CREATE INDEX `gpg_keys_user` ON `gpg_keys` (`user_id`,`primary_key_id`,`id`);--> statement-breakpoint
CREATE TABLE `public_keys` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`repo_id` integer,
	`title` text NOT NULL,
	`content` text NOT NULL,
	`fingerprint` text NOT NULL,
	`is_read_only` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `public_keys_user_fingerprint` ON `public_keys` (`fingerprint`) WHERE "public_keys"."repo_id" is null;--> statement-breakpoint
CREATE UNIQUE INDEX `public_keys_deploy_fingerprint` ON `public_keys` (`repo_id`,`fingerprint`) WHERE "public_keys"."repo_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `public_keys_deploy_title` ON `public_keys` (`repo_id`,`title`) WHERE "public_keys"."repo_id" is not null;--> statement-breakpoint
CREATE INDEX `public_keys_fingerprint` ON `public_keys` (`fingerprint`);--> statement-breakpoint
CREATE INDEX `public_keys_user` ON `public_keys` (`user_id`,`id`);--> statement-breakpoint
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
CREATE TABLE `mailed_codes` (
	`code_hash` text PRIMARY KEY NOT NULL,
	`address_id` integer NOT NULL,
	`purpose` text NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`address_id`) REFERENCES `email_addresses`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "mailed_codes_known" CHECK("mailed_codes"."purpose" in ('confirm_address', 'reset_password'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `mailed_codes_address` ON `mailed_codes` (`address_id`,`purpose`);--> statement-breakpoint
CREATE INDEX `mailed_codes_expiry` ON `mailed_codes` (`expires_at`);--> statement-breakpoint
CREATE TABLE `mails` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer,
	`address` text NOT NULL,
	`sealed_content` text NOT NULL,
	`issue_id` integer,
	`event_id` integer,
	`reason` text,
	`attempts` integer DEFAULT 0 NOT NULL,
	`due_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`issue_id`) REFERENCES `issues`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `mails_due` ON `mails` (`due_at`);--> statement-breakpoint
CREATE INDEX `mails_user` ON `mails` (`user_id`);--> statement-breakpoint
CREATE INDEX `mails_issue` ON `mails` (`issue_id`) WHERE "mails"."issue_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `mails_event` ON `mails` (`event_id`,`user_id`) WHERE "mails"."event_id" is not null;--> statement-breakpoint
CREATE TABLE `registrations` (
	`code_hash` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`email` text NOT NULL,
	`password_hash` text NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `registrations_expiry` ON `registrations` (`expires_at`);--> statement-breakpoint
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
	`release_id` integer,
	`status` text NOT NULL,
	`entry_id` integer,
	`event_id` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`issue_id`) REFERENCES `issues`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`release_id`) REFERENCES `releases`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "notifications_status" CHECK("notifications"."status" in ('unread', 'read', 'pinned'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `notifications_issue` ON `notifications` (`user_id`,`issue_id`) WHERE "notifications"."issue_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `notifications_release` ON `notifications` (`user_id`,`release_id`) WHERE "notifications"."release_id" is not null;--> statement-breakpoint
CREATE INDEX `notifications_by_updated` ON `notifications` (`user_id`,`status`,`subject`,`updated_at`,`id`,`repo_id`);--> statement-breakpoint
CREATE INDEX `notifications_repo` ON `notifications` (`user_id`,`repo_id`,`status`,`subject`,`updated_at`,`id`);--> statement-breakpoint
CREATE INDEX `notifications_read` ON `notifications` (`updated_at`) WHERE "notifications"."status" = 'read';--> statement-breakpoint
CREATE INDEX `notifications_of_issue` ON `notifications` (`issue_id`);--> statement-breakpoint
CREATE INDEX `notifications_of_release` ON `notifications` (`release_id`) WHERE "notifications"."release_id" is not null;--> statement-breakpoint
CREATE INDEX `notifications_of_repo` ON `notifications` (`repo_id`);--> statement-breakpoint
CREATE TABLE `oauth_applications` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`owner_id` integer,
	`name` text NOT NULL,
	`client_id` text NOT NULL,
	`secret_hash` text,
	`is_confidential` integer NOT NULL,
	`skips_consent` integer DEFAULT false NOT NULL,
	`redirect_uris` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`owner_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `oauth_applications_client_id` ON `oauth_applications` (`client_id`);--> statement-breakpoint
CREATE INDEX `oauth_applications_owner` ON `oauth_applications` (`owner_id`,`id`);--> statement-breakpoint
CREATE TABLE `oauth_grants` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`application_id` integer NOT NULL,
	`scopes` text NOT NULL,
	`identity_scopes` text NOT NULL,
	`code_hash` text NOT NULL,
	`code_expires_at` integer NOT NULL,
	`redirect_uri` text,
	`sent_to` text,
	`code_challenge` text,
	`nonce` text,
	`authenticated_at` integer NOT NULL,
	`exchanged_at` integer,
	`family_hash` text,
	`refresh_hash` text,
	`created_at` integer NOT NULL,
	`last_used_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`application_id`) REFERENCES `oauth_applications`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `oauth_grants_code` ON `oauth_grants` (`code_hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `oauth_grants_family` ON `oauth_grants` (`family_hash`);--> statement-breakpoint
CREATE INDEX `oauth_grants_user` ON `oauth_grants` (`user_id`,`application_id`);--> statement-breakpoint
CREATE INDEX `oauth_grants_application` ON `oauth_grants` (`application_id`);--> statement-breakpoint
CREATE INDEX `oauth_grants_expiry` ON `oauth_grants` (`expires_at`);--> statement-breakpoint
CREATE TABLE `organization_members` (
	`org_id` integer NOT NULL,
	`user_id` integer NOT NULL,
	`is_public` integer DEFAULT false NOT NULL,
	PRIMARY KEY(`org_id`, `user_id`),
	FOREIGN KEY (`org_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `organization_members_user` ON `organization_members` (`user_id`,`org_id`);--> statement-breakpoint
CREATE TABLE `team_members` (
	`team_id` integer NOT NULL,
	`user_id` integer NOT NULL,
	PRIMARY KEY(`team_id`, `user_id`),
	FOREIGN KEY (`team_id`) REFERENCES `teams`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `team_members_user` ON `team_members` (`user_id`,`team_id`);--> statement-breakpoint
CREATE TABLE `team_repositories` (
	`team_id` integer NOT NULL,
	`repo_id` integer NOT NULL,
	PRIMARY KEY(`team_id`, `repo_id`),
	FOREIGN KEY (`team_id`) REFERENCES `teams`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `team_repositories_repo` ON `team_repositories` (`repo_id`);--> statement-breakpoint
CREATE TABLE `teams` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`org_id` integer NOT NULL,
	`name` text NOT NULL,
	`lower_name` text NOT NULL,
	`description` text DEFAULT '' NOT NULL,
	`access` integer NOT NULL,
	`units` text DEFAULT '{}' NOT NULL,
	`includes_all_repositories` integer DEFAULT false NOT NULL,
	`can_create_org_repo` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`org_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `teams_lower_name` ON `teams` (`org_id`,`lower_name`);--> statement-breakpoint
CREATE INDEX `teams_of_all_repositories` ON `teams` (`org_id`) WHERE "teams"."includes_all_repositories";--> statement-breakpoint
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
CREATE INDEX `package_blobs_sha512` ON `package_blobs` (`owner_id`,`sha512`);--> statement-breakpoint
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
	`public_revision` integer DEFAULT 0 NOT NULL,
	`public_changed_at` integer DEFAULT 0 NOT NULL,
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
	`is_concealed` integer DEFAULT false NOT NULL,
	`revision` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`owner_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE UNIQUE INDEX `packages_name` ON `packages` (`owner_id`,`type`,`name_key`);--> statement-breakpoint
CREATE INDEX `packages_repository` ON `packages` (`repo_id`);--> statement-breakpoint
CREATE INDEX `packages_type` ON `packages` (`type`,`owner_id`);--> statement-breakpoint
CREATE INDEX `packages_concealed` ON `packages` (`owner_id`,`type`) WHERE "packages"."is_concealed" = 1;--> statement-breakpoint
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
CREATE TABLE `import_answers` (
	`import_id` integer NOT NULL,
	`url` text NOT NULL,
	`answer` text NOT NULL,
	PRIMARY KEY(`import_id`, `url`),
	FOREIGN KEY (`import_id`) REFERENCES `imports`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
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
CREATE TABLE `collaborations` (
	`repo_id` integer NOT NULL,
	`user_id` integer NOT NULL,
	`access` integer NOT NULL,
	`created_at` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`repo_id`, `user_id`),
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `collaborations_user` ON `collaborations` (`user_id`,`repo_id`);--> statement-breakpoint
CREATE INDEX `collaborations_oldest` ON `collaborations` (`repo_id`,`created_at`,`user_id`);--> statement-breakpoint
CREATE TABLE `discarded_objects` (
	`object_name` text PRIMARY KEY NOT NULL,
	`network_name` text NOT NULL,
	`discarded_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `repositories` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`owner_id` integer NOT NULL,
	`owner_lower_name` text DEFAULT '' NOT NULL,
	`name` text NOT NULL,
	`lower_name` text NOT NULL,
	`description` text DEFAULT '' NOT NULL,
	`website` text DEFAULT '' NOT NULL,
	`is_private` integer NOT NULL,
	`visibility` text DEFAULT 'private' NOT NULL,
	`topics` text DEFAULT '[]' NOT NULL,
	`language` text DEFAULT '' NOT NULL,
	`licenses` text DEFAULT '[]' NOT NULL,
	`is_template` integer DEFAULT false NOT NULL,
	`is_mirror` integer DEFAULT false NOT NULL,
	`origin` text,
	`is_empty` integer DEFAULT true NOT NULL,
	`archived_at` integer,
	`parent_id` integer,
	`is_fork` integer DEFAULT false NOT NULL,
	`object_name` text DEFAULT '' NOT NULL,
	`network_name` text DEFAULT '' NOT NULL,
	`default_branch` text NOT NULL,
	`trust_model` text DEFAULT 'default' NOT NULL,
	`size_bytes` integer DEFAULT 0 NOT NULL,
	`lfs_size_bytes` integer DEFAULT 0 NOT NULL,
	`star_count` integer DEFAULT 0 NOT NULL,
	`fork_count` integer DEFAULT 0 NOT NULL,
	`watcher_count` integer DEFAULT 0 NOT NULL,
	`last_issue_number` integer DEFAULT 0 NOT NULL,
	`open_issue_count` integer DEFAULT 0 NOT NULL,
	`closed_issue_count` integer DEFAULT 0 NOT NULL,
	`open_pull_count` integer DEFAULT 0 NOT NULL,
	`closed_pull_count` integer DEFAULT 0 NOT NULL,
	`release_count` integer DEFAULT 0 NOT NULL,
	`has_code` integer DEFAULT true NOT NULL,
	`has_issues` integer DEFAULT true NOT NULL,
	`has_pull_requests` integer DEFAULT true NOT NULL,
	`has_releases` integer DEFAULT true NOT NULL,
	`has_wiki` integer DEFAULT true NOT NULL,
	`has_projects` integer DEFAULT true NOT NULL,
	`has_packages` integer DEFAULT true NOT NULL,
	`has_actions` integer DEFAULT true NOT NULL,
	`projects_mode` text DEFAULT 'all' NOT NULL,
	`external_wiki_url` text DEFAULT '' NOT NULL,
	`pull_settings` text NOT NULL,
	`issue_settings` text NOT NULL,
	`avatar_hash` text DEFAULT '' NOT NULL,
	`swept_event_id` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`owner_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`parent_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE set null,
	CONSTRAINT "repositories_visibility" CHECK("repositories"."visibility" in ('public', 'limited', 'private')),
	CONSTRAINT "repositories_some_unit" CHECK("repositories"."has_code" or "repositories"."has_issues" or "repositories"."has_pull_requests" or "repositories"."has_releases" or "repositories"."has_wiki" or "repositories"."has_projects" or "repositories"."has_packages" or "repositories"."has_actions")
);
--> statement-breakpoint
CREATE UNIQUE INDEX `repositories_owner_name` ON `repositories` (`owner_id`,`lower_name`);--> statement-breakpoint
CREATE INDEX `repositories_owner` ON `repositories` (`owner_id`);--> statement-breakpoint
CREATE INDEX `repositories_internal` ON `repositories` (`owner_id`,`visibility`) WHERE not "repositories"."is_private";--> statement-breakpoint
CREATE INDEX `repositories_by_name` ON `repositories` (`visibility`,`owner_lower_name`,`lower_name`);--> statement-breakpoint
CREATE INDEX `repositories_by_short_name` ON `repositories` (`visibility`,`lower_name`);--> statement-breakpoint
CREATE INDEX `repositories_by_created` ON `repositories` (`visibility`,`created_at`);--> statement-breakpoint
CREATE INDEX `repositories_by_updated` ON `repositories` (`visibility`,`updated_at`);--> statement-breakpoint
CREATE INDEX `repositories_by_size` ON `repositories` (`visibility`,`size_bytes`);--> statement-breakpoint
CREATE INDEX `repositories_by_lfs_size` ON `repositories` (`visibility`,`lfs_size_bytes`);--> statement-breakpoint
CREATE INDEX `repositories_by_total_size` ON `repositories` (`visibility`,("size_bytes" + "lfs_size_bytes"));--> statement-breakpoint
CREATE INDEX `repositories_by_stars` ON `repositories` (`visibility`,`star_count`);--> statement-breakpoint
CREATE INDEX `repositories_by_forks` ON `repositories` (`visibility`,`fork_count`);--> statement-breakpoint
CREATE INDEX `repositories_parent` ON `repositories` (`parent_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `repositories_fork` ON `repositories` (`owner_id`,`parent_id`) WHERE "repositories"."parent_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `repositories_object` ON `repositories` (`object_name`) WHERE "repositories"."object_name" <> '';--> statement-breakpoint
CREATE INDEX `repositories_network` ON `repositories` (`network_name`,`id`);--> statement-breakpoint
CREATE INDEX `repositories_avatar` ON `repositories` (`avatar_hash`) WHERE "repositories"."avatar_hash" <> '';--> statement-breakpoint
CREATE TABLE `repository_redirects` (
	`owner_id` integer NOT NULL,
	`lower_name` text NOT NULL,
	`repo_id` integer NOT NULL,
	PRIMARY KEY(`owner_id`, `lower_name`),
	FOREIGN KEY (`owner_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `repository_redirects_repo` ON `repository_redirects` (`repo_id`);--> statement-breakpoint
CREATE TABLE `repository_remains` (
	`repo_id` integer PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE `repository_totals` (
	`visibility` text PRIMARY KEY NOT NULL,
	`count` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `repository_transfers` (
	`repo_id` integer PRIMARY KEY NOT NULL,
	`doer_id` integer NOT NULL,
	`recipient_id` integer NOT NULL,
	`team_ids` text DEFAULT '[]' NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`doer_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`recipient_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `repository_transfers_recipient` ON `repository_transfers` (`recipient_id`,`repo_id`);--> statement-breakpoint
CREATE INDEX `repository_transfers_doer` ON `repository_transfers` (`doer_id`);--> statement-breakpoint
CREATE TABLE `stars` (
	`user_id` integer NOT NULL,
	`repo_id` integer NOT NULL,
	`visibility` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`user_id`, `repo_id`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `stars_newest` ON `stars` (`user_id`,`created_at`,`repo_id`);--> statement-breakpoint
CREATE INDEX `stars_not_public` ON `stars` (`user_id`) WHERE "stars"."visibility" <> 'public';--> statement-breakpoint
CREATE INDEX `stars_repo` ON `stars` (`repo_id`,`user_id`);--> statement-breakpoint
CREATE TABLE `watches` (
	`user_id` integer NOT NULL,
	`repo_id` integer NOT NULL,
	`visibility` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`user_id`, `repo_id`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `watches_newest` ON `watches` (`user_id`,`created_at`,`repo_id`);--> statement-breakpoint
CREATE INDEX `watches_not_public` ON `watches` (`user_id`) WHERE "watches"."visibility" <> 'public';--> statement-breakpoint
CREATE INDEX `watches_repo` ON `watches` (`repo_id`,`user_id`);--> statement-breakpoint
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
CREATE TABLE `recovery_codes` (
	`user_id` integer NOT NULL,
	`code_hash` text NOT NULL,
	PRIMARY KEY(`user_id`, `code_hash`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `totp_secrets` (
	`user_id` integer PRIMARY KEY NOT NULL,
	`sealed_secret` text NOT NULL,
	`is_enabled` integer NOT NULL,
	`last_step` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `webauthn_credentials` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`name` text NOT NULL,
	`credential_id` text NOT NULL,
	`public_key` text NOT NULL,
	`counter` integer NOT NULL,
	`transports` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `webauthn_credentials_credential_id` ON `webauthn_credentials` (`credential_id`);--> statement-breakpoint
CREATE INDEX `webauthn_credentials_user` ON `webauthn_credentials` (`user_id`,`created_at`);--> statement-breakpoint
CREATE TABLE `pending_sign_ins` (
	`secret_hash` text PRIMARY KEY NOT NULL,
	`user_id` integer NOT NULL,
	`needs_factor` integer NOT NULL,
	`webauthn_challenge` text,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `pending_sign_ins_user` ON `pending_sign_ins` (`user_id`);--> statement-breakpoint
CREATE INDEX `pending_sign_ins_expiry` ON `pending_sign_ins` (`expires_at`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`secret_hash` text NOT NULL,
	`user_agent` text NOT NULL,
	`network` text NOT NULL,
	`webauthn_challenge` text,
	`created_at` integer NOT NULL,
	`last_used_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sessions_secret_hash` ON `sessions` (`secret_hash`);--> statement-breakpoint
CREATE INDEX `sessions_user` ON `sessions` (`user_id`,`last_used_at`);--> statement-breakpoint
CREATE INDEX `sessions_expiry` ON `sessions` (`expires_at`);--> statement-breakpoint
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
	`review_id` integer,
	`team_id` integer,
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
	FOREIGN KEY (`review_id`) REFERENCES `reviews`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`team_id`) REFERENCES `teams`(`id`) ON UPDATE no action ON DELETE set null,
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
CREATE INDEX `timeline_entries_review` ON `timeline_entries` (`review_id`) WHERE "timeline_entries"."review_id" is not null;--> statement-breakpoint
CREATE INDEX `timeline_entries_team` ON `timeline_entries` (`team_id`) WHERE "timeline_entries"."team_id" is not null;--> statement-breakpoint
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
CREATE TABLE `access_token_repositories` (
	`token_id` integer NOT NULL,
	`repo_id` integer NOT NULL,
	PRIMARY KEY(`token_id`, `repo_id`),
	FOREIGN KEY (`token_id`) REFERENCES `access_tokens`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `access_token_repositories_repo` ON `access_token_repositories` (`repo_id`);--> statement-breakpoint
CREATE TABLE `access_tokens` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`name` text NOT NULL,
	`secret_hash` text NOT NULL,
	`last_eight` text NOT NULL,
	`scopes` text,
	`expires_at` integer,
	`is_bound` integer DEFAULT false NOT NULL,
	`bound_refs` text,
	`bound_paths` text,
	`bound_packages` text,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	`made_by_id` integer,
	`grant_id` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`made_by_id`) REFERENCES `access_tokens`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`grant_id`) REFERENCES `oauth_grants`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `access_tokens_secret_hash` ON `access_tokens` (`secret_hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `access_tokens_name` ON `access_tokens` (`user_id`,`name`) WHERE grant_id is null;--> statement-breakpoint
CREATE INDEX `access_tokens_user` ON `access_tokens` (`user_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `access_tokens_made_by` ON `access_tokens` (`made_by_id`);--> statement-breakpoint
CREATE INDEX `access_tokens_grant` ON `access_tokens` (`grant_id`);