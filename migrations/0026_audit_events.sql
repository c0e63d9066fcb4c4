CREATE TABLE `audit_events` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`kind` text NOT NULL,
	`actor_id` integer NOT NULL,
	`actor_name` text NOT NULL,
	`sudoer_id` integer,
	`sudoer_name` text DEFAULT '' NOT NULL,
	`credential` text NOT NULL,
	`token_id` integer,
	`owner_id` integer NOT NULL,
	`owner_name` text NOT NULL,
	`user_id` integer,
	`user_name` text DEFAULT '' NOT NULL,
	`repo_id` integer,
	`repo_name` text DEFAULT '' NOT NULL,
	`target` text DEFAULT '' NOT NULL,
	`details` text NOT NULL,
	`address` text,
	`request_id` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `audit_events_owner` ON `audit_events` (`owner_id`,`id`);--> statement-breakpoint
CREATE INDEX `audit_events_actor` ON `audit_events` (`actor_id`,`id`);--> statement-breakpoint
CREATE INDEX `audit_events_user` ON `audit_events` (`user_id`,`id`) WHERE "audit_events"."user_id" is not null;--> statement-breakpoint
CREATE INDEX `audit_events_kind` ON `audit_events` (`kind`,`id`);--> statement-breakpoint
CREATE INDEX `audit_events_time` ON `audit_events` (`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `audit_events_sign_in` ON `audit_events` (`actor_id`,`created_at`) WHERE "audit_events"."kind" in ('sign_in.succeeded', 'sign_in.refused');