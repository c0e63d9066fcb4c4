CREATE TABLE `viewed_files` (
	`issue_id` integer NOT NULL,
	`user_id` integer NOT NULL,
	`path` text NOT NULL,
	`oid` text NOT NULL,
	PRIMARY KEY(`issue_id`, `user_id`, `path`),
	FOREIGN KEY (`issue_id`) REFERENCES `issues`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `viewed_files_user` ON `viewed_files` (`user_id`);