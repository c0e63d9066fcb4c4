ALTER TABLE `repositories` ADD `expiry` text;--> statement-breakpoint
ALTER TABLE `repositories` ADD `fork_root_name` text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE INDEX `repositories_expiring` ON `repositories` ("expiry" ->> '$.checkAt') WHERE "repositories"."expiry" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `notifications_of_itself` ON `notifications` (`user_id`,`repo_id`) WHERE "notifications"."subject" = 'repository';