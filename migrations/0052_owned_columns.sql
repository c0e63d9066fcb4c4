CREATE TABLE `owned_changes` (
	`repo_id` integer PRIMARY KEY NOT NULL,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
ALTER TABLE `repositories` ADD `owned_version` integer DEFAULT 0 NOT NULL;