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
	`visibility` text DEFAULT 'public' NOT NULL,
	`is_admin` integer DEFAULT false NOT NULL,
	`is_active` integer DEFAULT true NOT NULL,
	`is_restricted` integer DEFAULT false NOT NULL,
	`is_login_prohibited` integer DEFAULT false NOT NULL,
	`must_change_password` integer DEFAULT false NOT NULL,
	`can_create_organization` integer DEFAULT true NOT NULL,
	`can_repo_admin_change_team_access` integer DEFAULT false NOT NULL,
	`repo_count_max` integer DEFAULT -1 NOT NULL,
	`login_source_id` integer DEFAULT 0 NOT NULL,
	`login_name` text DEFAULT '' NOT NULL,
	`follower_count` integer DEFAULT 0 NOT NULL,
	`following_count` integer DEFAULT 0 NOT NULL,
	`star_count` integer DEFAULT 0 NOT NULL,
	`watch_count` integer DEFAULT 0 NOT NULL,
	`last_login_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	CONSTRAINT "users_kind" CHECK("users"."kind" in ('user', 'organization')),
	CONSTRAINT "users_visibility" CHECK("users"."visibility" in ('public', 'limited', 'private'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_lower_name` ON `users` (`lower_name`);--> statement-breakpoint
CREATE INDEX `users_by_name` ON `users` (`kind`,`visibility`,`lower_name`);--> statement-breakpoint
CREATE TABLE `events` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`type` text NOT NULL,
	`actor_id` integer NOT NULL,
	`owner_id` integer NOT NULL,
	`repo_id` integer,
	`payload` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `events_repo` ON `events` (`repo_id`,`id`);--> statement-breakpoint
CREATE INDEX `events_owner` ON `events` (`owner_id`,`id`);--> statement-breakpoint
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
	`includes_all_repositories` integer DEFAULT false NOT NULL,
	`can_create_org_repo` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`org_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `teams_lower_name` ON `teams` (`org_id`,`lower_name`);--> statement-breakpoint
CREATE TABLE `collaborations` (
	`repo_id` integer NOT NULL,
	`user_id` integer NOT NULL,
	`access` integer NOT NULL,
	PRIMARY KEY(`repo_id`, `user_id`),
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `collaborations_user` ON `collaborations` (`user_id`,`repo_id`);--> statement-breakpoint
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
	`is_template` integer DEFAULT false NOT NULL,
	`is_mirror` integer DEFAULT false NOT NULL,
	`is_empty` integer DEFAULT true NOT NULL,
	`archived_at` integer,
	`parent_id` integer,
	`is_fork` integer DEFAULT false NOT NULL,
	`default_branch` text NOT NULL,
	`trust_model` text DEFAULT 'default' NOT NULL,
	`size_bytes` integer DEFAULT 0 NOT NULL,
	`star_count` integer DEFAULT 0 NOT NULL,
	`fork_count` integer DEFAULT 0 NOT NULL,
	`watcher_count` integer DEFAULT 0 NOT NULL,
	`open_issue_count` integer DEFAULT 0 NOT NULL,
	`open_pull_count` integer DEFAULT 0 NOT NULL,
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
CREATE INDEX `repositories_by_name` ON `repositories` (`visibility`,`owner_lower_name`,`lower_name`);--> statement-breakpoint
CREATE INDEX `repositories_by_short_name` ON `repositories` (`visibility`,`lower_name`);--> statement-breakpoint
CREATE INDEX `repositories_by_created` ON `repositories` (`visibility`,`created_at`);--> statement-breakpoint
CREATE INDEX `repositories_by_updated` ON `repositories` (`visibility`,`updated_at`);--> statement-breakpoint
CREATE INDEX `repositories_by_size` ON `repositories` (`visibility`,`size_bytes`);--> statement-breakpoint
CREATE INDEX `repositories_by_stars` ON `repositories` (`visibility`,`star_count`);--> statement-breakpoint
CREATE INDEX `repositories_by_forks` ON `repositories` (`visibility`,`fork_count`);--> statement-breakpoint
CREATE INDEX `repositories_parent` ON `repositories` (`parent_id`);--> statement-breakpoint
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
CREATE TABLE `repository_totals` (
	`visibility` text PRIMARY KEY NOT NULL,
	`count` integer NOT NULL
);
--> statement-breakpoint
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
CREATE TABLE `access_tokens` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`name` text NOT NULL,
	`secret_hash` text NOT NULL,
	`last_eight` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `access_tokens_secret_hash` ON `access_tokens` (`secret_hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `access_tokens_name` ON `access_tokens` (`user_id`,`name`);--> statement-breakpoint
CREATE INDEX `access_tokens_user` ON `access_tokens` (`user_id`,`created_at`);