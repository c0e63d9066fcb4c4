CREATE TABLE `code_facts` (
	`repo_id` integer PRIMARY KEY NOT NULL,
	`commit_oid` text NOT NULL,
	`rules` text NOT NULL,
	`languages` text NOT NULL,
	`licenses` text NOT NULL,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
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
CREATE INDEX `topics_popular` ON `topics` (`repo_count`,`name`) WHERE "topics"."repo_count" > 0;--> statement-breakpoint
ALTER TABLE `repositories` ADD `topics` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `repositories` ADD `language` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `repositories` ADD `licenses` text DEFAULT '[]' NOT NULL;