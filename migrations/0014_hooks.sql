CREATE TABLE `event_cursors` (
	`name` text PRIMARY KEY NOT NULL,
	`last_id` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `announcements` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`event_id` integer NOT NULL,
	`part` integer NOT NULL,
	`event` text NOT NULL,
	`repo_id` integer NOT NULL,
	`payload` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `announcements_part` ON `announcements` (`event_id`,`part`);--> statement-breakpoint
CREATE TABLE `hook_deliveries` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`hook_id` integer NOT NULL,
	`announcement_id` integer NOT NULL,
	`uuid` text NOT NULL,
	`event` text NOT NULL,
	`status` text DEFAULT 'pending' NOT NULL,
	`is_requested` integer DEFAULT false NOT NULL,
	`attempt_count` integer DEFAULT 0 NOT NULL,
	`next_attempt_at` integer,
	`request_url` text DEFAULT '' NOT NULL,
	`request_headers` text,
	`request_body` text,
	`response_status` integer,
	`response_headers` text,
	`response_body` text,
	`failure` text DEFAULT '' NOT NULL,
	`duration_ms` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`hook_id`) REFERENCES `hooks`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`announcement_id`) REFERENCES `announcements`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "hook_deliveries_status" CHECK("hook_deliveries"."status" in ('pending', 'succeeded', 'failed'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `hook_deliveries_announcement` ON `hook_deliveries` (`hook_id`,`announcement_id`);--> statement-breakpoint
CREATE INDEX `hook_deliveries_of_announcement` ON `hook_deliveries` (`announcement_id`);--> statement-breakpoint
CREATE INDEX `hook_deliveries_by_status` ON `hook_deliveries` (`hook_id`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `hook_deliveries_by_event` ON `hook_deliveries` (`hook_id`,`event`,`id`);--> statement-breakpoint
CREATE INDEX `hook_deliveries_due` ON `hook_deliveries` (`hook_id`,`next_attempt_at`) WHERE "hook_deliveries"."next_attempt_at" is not null;--> statement-breakpoint
CREATE TABLE `hooks` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`level` text NOT NULL,
	`repo_id` integer,
	`owner_id` integer,
	`approver_id` integer NOT NULL,
	`type` text NOT NULL,
	`url` text NOT NULL,
	`content_type` text NOT NULL,
	`chat` text NOT NULL,
	`secret` text,
	`authorization` text,
	`branch_filter` text DEFAULT '' NOT NULL,
	`events` text NOT NULL,
	`is_active` integer NOT NULL,
	`last_status` text DEFAULT 'none' NOT NULL,
	`last_delivered_at` integer,
	`failing_since` integer,
	`failure_count` integer DEFAULT 0 NOT NULL,
	`paused_at` integer,
	`held_until` integer,
	`busy_until` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`owner_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "hooks_level" CHECK("hooks"."level" in ('repository', 'organization', 'user', 'system', 'default')),
	CONSTRAINT "hooks_repository" CHECK(("hooks"."level" = 'repository') = ("hooks"."repo_id" is not null)),
	CONSTRAINT "hooks_account" CHECK(("hooks"."level" in ('organization', 'user')) = ("hooks"."owner_id" is not null))
);
--> statement-breakpoint
CREATE INDEX `hooks_repo` ON `hooks` (`repo_id`,`id`);--> statement-breakpoint
CREATE INDEX `hooks_owner` ON `hooks` (`owner_id`,`id`);--> statement-breakpoint
CREATE INDEX `hooks_level` ON `hooks` (`level`,`id`);--> statement-breakpoint
DROP INDEX `events_push`;--> statement-breakpoint
ALTER TABLE `events` ADD `tell_at` integer;--> statement-breakpoint
ALTER TABLE `events` ADD `tell_attempts` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `events` ADD `root_url` text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE INDEX `events_untold` ON `events` (`id`,`tell_at`) WHERE "events"."tell_at" is not null;--> statement-breakpoint
CREATE INDEX `events_untold_repo` ON `events` (`repo_id`,`id`,`tell_at`) WHERE "events"."tell_at" is not null;--> statement-breakpoint
CREATE INDEX `events_activity_actor` ON `events` (`actor_id`,`created_at`,`id`) WHERE "events"."type" in ('repository.created', 'repository.forked', 'repository.renamed', 'repository.pushed', 'star.created', 'watch.created');--> statement-breakpoint
CREATE INDEX `events_activity_repo` ON `events` (`repo_id`,`created_at`,`id`) WHERE "events"."type" in ('repository.created', 'repository.forked', 'repository.renamed', 'repository.pushed', 'star.created', 'watch.created');--> statement-breakpoint
CREATE INDEX `events_activity_owner` ON `events` (`owner_id`,`created_at`,`id`) WHERE "events"."type" in ('repository.created', 'repository.forked', 'repository.renamed', 'repository.pushed', 'star.created', 'watch.created');--> statement-breakpoint
UPDATE `events` SET `payload` = json_set(`payload`, '$.part', 0) WHERE `type` = 'repository.pushed' AND `payload` ->> 'part' IS NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `events_push` ON `events` ("payload" ->> 'pushId',"payload" ->> 'part') WHERE "events"."type" = 'repository.pushed';