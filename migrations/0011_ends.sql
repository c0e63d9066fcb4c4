CREATE TABLE `fork_families` (
	`repo_id` integer PRIMARY KEY NOT NULL,
	`root_name` text NOT NULL,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
ALTER TABLE `users` ADD `quota` text;--> statement-breakpoint
ALTER TABLE `repositories` ADD `expiry` text;--> statement-breakpoint
CREATE INDEX `repositories_expiring` ON `repositories` ("expiry" ->> '$.checkAt') WHERE "repositories"."expiry" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `notifications_of_itself` ON `notifications` (`user_id`,`repo_id`) WHERE "notifications"."subject" = 'repository';