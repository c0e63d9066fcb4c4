CREATE TABLE `hook_deliveries` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`hook_id` integer NOT NULL,
	`event_id` integer NOT NULL,
	`part` integer DEFAULT 0 NOT NULL,
	`uuid` text NOT NULL,
	`event` text NOT NULL,
	`status` text DEFAULT 'pending' NOT NULL,
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
	CONSTRAINT "hook_deliveries_status" CHECK("hook_deliveries"."status" in ('pending', 'succeeded', 'failed'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `hook_deliveries_uuid` ON `hook_deliveries` (`uuid`);--> statement-breakpoint
CREATE UNIQUE INDEX `hook_deliveries_part` ON `hook_deliveries` (`hook_id`,`event_id`,`part`);--> statement-breakpoint
CREATE INDEX `hook_deliveries_hook` ON `hook_deliveries` (`hook_id`,`id`);--> statement-breakpoint
CREATE INDEX `hook_deliveries_by_status` ON `hook_deliveries` (`hook_id`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `hook_deliveries_by_event` ON `hook_deliveries` (`hook_id`,`event`,`id`);--> statement-breakpoint
CREATE INDEX `hook_deliveries_due` ON `hook_deliveries` (`next_attempt_at`) WHERE "hook_deliveries"."next_attempt_at" is not null;--> statement-breakpoint
CREATE INDEX `hook_deliveries_by_age` ON `hook_deliveries` (`created_at`);--> statement-breakpoint
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
	`paused_at` integer,
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
CREATE INDEX `hooks_level` ON `hooks` (`level`,`id`);