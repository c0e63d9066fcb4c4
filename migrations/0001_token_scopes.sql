CREATE TABLE `access_token_repositories` (
	`token_id` integer NOT NULL,
	`repo_id` integer NOT NULL,
	PRIMARY KEY(`token_id`, `repo_id`),
	FOREIGN KEY (`token_id`) REFERENCES `access_tokens`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `access_token_repositories_repo` ON `access_token_repositories` (`repo_id`);--> statement-breakpoint
ALTER TABLE `access_tokens` ADD `scopes` text;--> statement-breakpoint
ALTER TABLE `access_tokens` ADD `expires_at` integer;--> statement-breakpoint
ALTER TABLE `access_tokens` ADD `is_bound` integer DEFAULT false NOT NULL;