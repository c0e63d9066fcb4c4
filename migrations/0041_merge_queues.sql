CREATE TABLE `merge_queue_entries` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`queue_id` integer NOT NULL,
	`issue_id` integer NOT NULL,
	`doer_id` integer NOT NULL,
	`style` text NOT NULL,
	`title` text DEFAULT '' NOT NULL,
	`message` text DEFAULT '' NOT NULL,
	`is_branch_deleted` integer DEFAULT false NOT NULL,
	`head_oid` text NOT NULL,
	`is_in_batch` integer DEFAULT false NOT NULL,
	`is_suspect` integer DEFAULT false NOT NULL,
	`built_on_oid` text DEFAULT '' NOT NULL,
	`result_oid` text DEFAULT '' NOT NULL,
	`merge_base_oid` text DEFAULT '' NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`queue_id`) REFERENCES `merge_queues`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`issue_id`) REFERENCES `pulls`(`issue_id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`doer_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `merge_queue_entries_issue` ON `merge_queue_entries` (`issue_id`);--> statement-breakpoint
CREATE INDEX `merge_queue_entries_queue` ON `merge_queue_entries` (`queue_id`,`id`);--> statement-breakpoint
CREATE INDEX `merge_queue_entries_doer` ON `merge_queue_entries` (`doer_id`);--> statement-breakpoint
CREATE TABLE `merge_queues` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`repo_id` integer NOT NULL,
	`branch` text NOT NULL,
	`state` text DEFAULT 'idle' NOT NULL,
	`batch_number` integer DEFAULT 0 NOT NULL,
	`batch_size` integer DEFAULT 0 NOT NULL,
	`base_oid` text DEFAULT '' NOT NULL,
	`result_oid` text DEFAULT '' NOT NULL,
	`deadline_at` integer,
	`due_at` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `merge_queues_branch` ON `merge_queues` (`repo_id`,`branch`);--> statement-breakpoint
CREATE INDEX `merge_queues_result` ON `merge_queues` (`repo_id`,`result_oid`);--> statement-breakpoint
CREATE INDEX `merge_queues_due` ON `merge_queues` (`due_at`);