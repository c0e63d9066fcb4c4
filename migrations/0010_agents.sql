ALTER TABLE `oauth_applications` ADD `registration` text DEFAULT 'manual' NOT NULL;--> statement-breakpoint
ALTER TABLE `oauth_applications` ADD `fresh_until` integer;--> statement-breakpoint
ALTER TABLE `oauth_applications` ADD `expires_at` integer;--> statement-breakpoint
CREATE INDEX `oauth_applications_expiry` ON `oauth_applications` (`expires_at`) WHERE expires_at is not null;--> statement-breakpoint
ALTER TABLE `oauth_grants` ADD `audience` text;--> statement-breakpoint
ALTER TABLE `oauth_grants` ADD `repo_id` integer REFERENCES repositories(id) ON DELETE cascade;--> statement-breakpoint
CREATE INDEX `oauth_grants_repo` ON `oauth_grants` (`repo_id`) WHERE repo_id is not null;--> statement-breakpoint
ALTER TABLE `access_tokens` ADD `audience` text;