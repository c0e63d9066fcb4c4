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
DROP INDEX `events_activity_actor`;--> statement-breakpoint
DROP INDEX `events_activity_repo`;--> statement-breakpoint
DROP INDEX `events_activity_owner`;--> statement-breakpoint
CREATE INDEX `events_activity_actor` ON `events` (`actor_id`,`created_at`,`id`) WHERE "events"."type" in ('repository.created', 'repository.forked', 'repository.renamed', 'repository.transferred', 'repository.pushed', 'star.created', 'watch.created');--> statement-breakpoint
CREATE INDEX `events_activity_repo` ON `events` (`repo_id`,`created_at`,`id`) WHERE "events"."type" in ('repository.created', 'repository.forked', 'repository.renamed', 'repository.transferred', 'repository.pushed', 'star.created', 'watch.created');--> statement-breakpoint
CREATE INDEX `events_activity_owner` ON `events` (`owner_id`,`created_at`,`id`) WHERE "events"."type" in ('repository.created', 'repository.forked', 'repository.renamed', 'repository.transferred', 'repository.pushed', 'star.created', 'watch.created');--> statement-breakpoint
ALTER TABLE `collaborations` ADD `created_at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `collaborations_oldest` ON `collaborations` (`repo_id`,`created_at`,`user_id`);