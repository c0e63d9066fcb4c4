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
DROP INDEX `access_tokens_name`;--> statement-breakpoint
ALTER TABLE `access_tokens` ADD `grant_id` integer REFERENCES oauth_grants(id) ON DELETE cascade;--> statement-breakpoint
CREATE INDEX `access_tokens_grant` ON `access_tokens` (`grant_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `access_tokens_name` ON `access_tokens` (`user_id`,`name`) WHERE grant_id is null;