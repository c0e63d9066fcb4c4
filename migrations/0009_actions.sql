CREATE TABLE `action_secrets` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`repo_id` integer,
	`owner_id` integer,
	`name` text NOT NULL,
	`value` text NOT NULL,
	`description` text DEFAULT '' NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`owner_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `action_secrets_owner` ON `action_secrets` (`owner_id`,`name`) WHERE owner_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `action_secrets_repo` ON `action_secrets` (`repo_id`,`name`) WHERE repo_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `action_secrets_service` ON `action_secrets` (`name`) WHERE owner_id is null and repo_id is null;--> statement-breakpoint
CREATE TABLE `action_variables` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`repo_id` integer,
	`owner_id` integer,
	`name` text NOT NULL,
	`value` text NOT NULL,
	`description` text DEFAULT '' NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`owner_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `action_variables_owner` ON `action_variables` (`owner_id`,`name`) WHERE owner_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `action_variables_repo` ON `action_variables` (`repo_id`,`name`) WHERE repo_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `action_variables_service` ON `action_variables` (`name`) WHERE owner_id is null and repo_id is null;--> statement-breakpoint
CREATE TABLE `discarded_work` (
	`kind` text NOT NULL,
	`id` integer NOT NULL,
	PRIMARY KEY(`kind`, `id`)
);
--> statement-breakpoint
CREATE TABLE `runner_registration_tokens` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`repo_id` integer,
	`owner_id` integer,
	`token_hash` text NOT NULL,
	`token` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`owner_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `runner_registration_tokens_hash` ON `runner_registration_tokens` (`token_hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `runner_registration_tokens_owner` ON `runner_registration_tokens` (`owner_id`) WHERE owner_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `runner_registration_tokens_repo` ON `runner_registration_tokens` (`repo_id`) WHERE repo_id is not null;--> statement-breakpoint
CREATE INDEX `runner_registration_tokens_service` ON `runner_registration_tokens` (`id`) WHERE owner_id is null and repo_id is null;--> statement-breakpoint
CREATE TABLE `runners` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`uuid` text NOT NULL,
	`repo_id` integer,
	`owner_id` integer,
	`name` text NOT NULL,
	`token_hash` text NOT NULL,
	`version` text DEFAULT '' NOT NULL,
	`labels` text NOT NULL,
	`capabilities` text DEFAULT '[]' NOT NULL,
	`is_ephemeral` integer DEFAULT false NOT NULL,
	`is_disabled` integer DEFAULT false NOT NULL,
	`last_online_at` integer NOT NULL,
	`ended_at` integer,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`owner_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `runners_uuid` ON `runners` (`uuid`);--> statement-breakpoint
CREATE INDEX `runners_owner` ON `runners` (`owner_id`,`id`);--> statement-breakpoint
CREATE INDEX `runners_repo` ON `runners` (`repo_id`,`id`);--> statement-breakpoint
CREATE INDEX `runners_ephemeral` ON `runners` (`last_online_at`) WHERE is_ephemeral = 1;--> statement-breakpoint
CREATE TABLE `workflow_artifact_files` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`artifact_id` integer NOT NULL,
	`path` text NOT NULL,
	`is_gzip` integer DEFAULT false NOT NULL,
	`stored_bytes` integer DEFAULT 0 NOT NULL,
	`size_bytes` integer DEFAULT 0 NOT NULL,
	`is_whole` integer DEFAULT false NOT NULL,
	FOREIGN KEY (`artifact_id`) REFERENCES `workflow_artifacts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `workflow_artifact_files_path` ON `workflow_artifact_files` (`artifact_id`,`path`);--> statement-breakpoint
CREATE TABLE `workflow_artifact_parts` (
	`file_id` integer NOT NULL,
	`name` text NOT NULL,
	`uuid` text NOT NULL,
	`size_bytes` integer NOT NULL,
	`position` integer,
	PRIMARY KEY(`file_id`, `name`),
	FOREIGN KEY (`file_id`) REFERENCES `workflow_artifact_files`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `workflow_artifacts` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`run_id` integer NOT NULL,
	`repo_id` integer NOT NULL,
	`run_attempt` integer NOT NULL,
	`task_id` integer NOT NULL,
	`name` text NOT NULL,
	`is_archive` integer NOT NULL,
	`mime_type` text NOT NULL,
	`state` text DEFAULT 'pending' NOT NULL,
	`size_bytes` integer DEFAULT 0 NOT NULL,
	`sha256` text DEFAULT '' NOT NULL,
	`received_bytes` integer DEFAULT 0 NOT NULL,
	`received_count` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`run_id`) REFERENCES `workflow_runs`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `workflow_artifacts_name` ON `workflow_artifacts` (`run_id`,`run_attempt`,`name`);--> statement-breakpoint
CREATE INDEX `workflow_artifacts_repo` ON `workflow_artifacts` (`repo_id`,`id`);--> statement-breakpoint
CREATE INDEX `workflow_artifacts_repo_name` ON `workflow_artifacts` (`repo_id`,`name`,`id`);--> statement-breakpoint
CREATE INDEX `workflow_artifacts_expiry` ON `workflow_artifacts` (`expires_at`) WHERE state = 'ready';--> statement-breakpoint
CREATE INDEX `workflow_artifacts_pending` ON `workflow_artifacts` (`updated_at`) WHERE state = 'pending';--> statement-breakpoint
CREATE TABLE `workflow_jobs` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`run_id` integer NOT NULL,
	`repo_id` integer NOT NULL,
	`owner_id` integer NOT NULL,
	`position` integer NOT NULL,
	`job_id` text NOT NULL,
	`name` text NOT NULL,
	`needs` text NOT NULL,
	`has_condition` integer NOT NULL,
	`labels` text NOT NULL,
	`continues_on_error` integer DEFAULT false NOT NULL,
	`timeout_minutes` integer NOT NULL,
	`permissions` text NOT NULL,
	`max_parallel` integer,
	`fails_fast` integer DEFAULT true NOT NULL,
	`concurrency_group` text DEFAULT '' NOT NULL,
	`is_group_evaluated` integer DEFAULT true NOT NULL,
	`cancels_in_progress` integer DEFAULT false NOT NULL,
	`state` text NOT NULL,
	`reported_state` text DEFAULT '' NOT NULL,
	`ready_sequence` integer DEFAULT 0 NOT NULL,
	`attempt` integer DEFAULT 0 NOT NULL,
	`task_id` integer,
	`started_at` integer,
	`stopped_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`outputs` text DEFAULT '{}' NOT NULL,
	`payload` text NOT NULL,
	FOREIGN KEY (`run_id`) REFERENCES `workflow_runs`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `workflow_jobs_run` ON `workflow_jobs` (`run_id`,`position`);--> statement-breakpoint
CREATE INDEX `workflow_jobs_repo` ON `workflow_jobs` (`repo_id`,`id`);--> statement-breakpoint
CREATE INDEX `workflow_jobs_ready` ON `workflow_jobs` (`ready_sequence`);--> statement-breakpoint
CREATE INDEX `workflow_jobs_owner_ready` ON `workflow_jobs` (`owner_id`,`ready_sequence`);--> statement-breakpoint
CREATE INDEX `workflow_jobs_repo_ready` ON `workflow_jobs` (`repo_id`,`ready_sequence`);--> statement-breakpoint
CREATE INDEX `workflow_jobs_unreported` ON `workflow_jobs` (`updated_at`) WHERE state <> reported_state;--> statement-breakpoint
CREATE INDEX `workflow_jobs_waiting` ON `workflow_jobs` (`ready_sequence`) WHERE state = 'waiting';--> statement-breakpoint
CREATE INDEX `workflow_jobs_owner_waiting` ON `workflow_jobs` (`owner_id`,`ready_sequence`) WHERE state = 'waiting';--> statement-breakpoint
CREATE INDEX `workflow_jobs_repo_waiting` ON `workflow_jobs` (`repo_id`,`ready_sequence`) WHERE state = 'waiting';--> statement-breakpoint
CREATE INDEX `workflow_jobs_group` ON `workflow_jobs` (`repo_id`,`concurrency_group`) WHERE concurrency_group <> '' and state in ('blocked', 'waiting', 'running');--> statement-breakpoint
CREATE TABLE `workflow_log_pieces` (
	`task_id` integer NOT NULL,
	`first_row` integer NOT NULL,
	`row_count` integer NOT NULL,
	`bytes` integer NOT NULL,
	PRIMARY KEY(`task_id`, `first_row`),
	FOREIGN KEY (`task_id`) REFERENCES `workflow_tasks`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "workflow_log_pieces_rows" CHECK("workflow_log_pieces"."row_count" > 0)
);
--> statement-breakpoint
CREATE TABLE `workflow_runs` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`repo_id` integer NOT NULL,
	`number` integer NOT NULL,
	`file` text NOT NULL,
	`path` text NOT NULL,
	`name` text NOT NULL,
	`title` text NOT NULL,
	`event` text NOT NULL,
	`cause` text NOT NULL,
	`ref` text NOT NULL,
	`head_oid` text NOT NULL,
	`head_branch` text NOT NULL,
	`pull_number` integer,
	`base_branch` text DEFAULT '' NOT NULL,
	`head_repo_id` integer,
	`actor_id` integer NOT NULL,
	`is_from_fork` integer DEFAULT false NOT NULL,
	`needs_approval` integer DEFAULT false NOT NULL,
	`approver_id` integer,
	`state` text NOT NULL,
	`reported_state` text DEFAULT '' NOT NULL,
	`faults` text DEFAULT '[]' NOT NULL,
	`concurrency_group` text DEFAULT '' NOT NULL,
	`cancels_in_progress` integer DEFAULT false NOT NULL,
	`attempt` integer DEFAULT 1 NOT NULL,
	`chain_length` integer DEFAULT 1 NOT NULL,
	`started_at` integer,
	`stopped_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`checked_at` integer DEFAULT 0 NOT NULL,
	`payload` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `workflow_runs_number` ON `workflow_runs` (`repo_id`,`number`);--> statement-breakpoint
CREATE UNIQUE INDEX `workflow_runs_cause` ON `workflow_runs` (`repo_id`,`cause`,`file`);--> statement-breakpoint
CREATE INDEX `workflow_runs_file` ON `workflow_runs` (`repo_id`,`file`,`number`);--> statement-breakpoint
CREATE INDEX `workflow_runs_state` ON `workflow_runs` (`repo_id`,`state`,`number`);--> statement-breakpoint
CREATE INDEX `workflow_runs_head` ON `workflow_runs` (`repo_id`,`head_oid`);--> statement-breakpoint
CREATE INDEX `workflow_runs_group` ON `workflow_runs` (`repo_id`,`concurrency_group`) WHERE concurrency_group <> '' and state in ('blocked', 'waiting', 'running');--> statement-breakpoint
CREATE INDEX `workflow_runs_unreported` ON `workflow_runs` (`updated_at`) WHERE state <> reported_state;--> statement-breakpoint
CREATE INDEX `workflow_runs_unapproved` ON `workflow_runs` (`updated_at`) WHERE needs_approval = 1 and state = 'blocked';--> statement-breakpoint
CREATE INDEX `workflow_runs_open` ON `workflow_runs` (`checked_at`) WHERE state in ('blocked', 'waiting', 'running');--> statement-breakpoint
CREATE TABLE `workflow_schedules` (
	`repo_id` integer NOT NULL,
	`file` text NOT NULL,
	`cron` text NOT NULL,
	`next_at` integer NOT NULL,
	PRIMARY KEY(`repo_id`, `file`, `cron`),
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `workflow_schedules_next` ON `workflow_schedules` (`next_at`);--> statement-breakpoint
CREATE TABLE `workflow_tasks` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`job_id` integer NOT NULL,
	`run_id` integer NOT NULL,
	`repo_id` integer NOT NULL,
	`attempt` integer NOT NULL,
	`runner_id` integer NOT NULL,
	`runner_name` text NOT NULL,
	`state` text NOT NULL,
	`token_hash` text NOT NULL,
	`steps` text NOT NULL,
	`outputs` text DEFAULT '{}' NOT NULL,
	`log_rows` integer DEFAULT 0 NOT NULL,
	`log_bytes` integer DEFAULT 0 NOT NULL,
	`log_pieces` integer DEFAULT 0 NOT NULL,
	`is_log_closed` integer DEFAULT false NOT NULL,
	`log_deleted_at` integer,
	`started_at` integer NOT NULL,
	`stopped_at` integer,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`job_id`) REFERENCES `workflow_jobs`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `workflow_tasks_token` ON `workflow_tasks` (`token_hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `workflow_tasks_attempt` ON `workflow_tasks` (`job_id`,`attempt`);--> statement-breakpoint
CREATE INDEX `workflow_tasks_repo` ON `workflow_tasks` (`repo_id`,`id`);--> statement-breakpoint
CREATE INDEX `workflow_tasks_of_runner` ON `workflow_tasks` (`runner_id`,`id`);--> statement-breakpoint
CREATE INDEX `workflow_tasks_runner` ON `workflow_tasks` (`runner_id`) WHERE state = 'running';--> statement-breakpoint
CREATE INDEX `workflow_tasks_running` ON `workflow_tasks` (`updated_at`) WHERE state = 'running';--> statement-breakpoint
CREATE INDEX `workflow_tasks_open_log` ON `workflow_tasks` (`updated_at`) WHERE is_log_closed = 0 and state <> 'running';--> statement-breakpoint
CREATE INDEX `workflow_tasks_log` ON `workflow_tasks` (`stopped_at`) WHERE log_bytes > 0 and log_deleted_at is null;--> statement-breakpoint
CREATE TABLE `workflows` (
	`repo_id` integer NOT NULL,
	`file` text NOT NULL,
	`path` text NOT NULL,
	`name` text NOT NULL,
	`events` text NOT NULL,
	`is_disabled` integer DEFAULT false NOT NULL,
	`is_present` integer DEFAULT true NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`repo_id`, `file`),
	FOREIGN KEY (`repo_id`) REFERENCES `repositories`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
ALTER TABLE `access_tokens` ADD `task_id` integer REFERENCES workflow_tasks(id) ON DELETE cascade;--> statement-breakpoint
ALTER TABLE `access_tokens` ADD `grants` text;--> statement-breakpoint
CREATE INDEX `access_tokens_task` ON `access_tokens` (`task_id`);
--> statement-breakpoint
CREATE TRIGGER `workflow_runs_repository` BEFORE INSERT ON `workflow_runs`
WHEN NOT EXISTS (SELECT 1 FROM `repositories` WHERE `id` = new.`repo_id`) BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
-- Runners of an account find its jobs by this copy.
CREATE TRIGGER `repositories_jobs` AFTER UPDATE OF `owner_id` ON `repositories`
WHEN new.`owner_id` <> old.`owner_id` BEGIN
	UPDATE `workflow_jobs` SET `owner_id` = new.`owner_id` WHERE `repo_id` = new.`id`;
END;
--> statement-breakpoint
-- Runners look for jobs only if there are some that began to wait since they last looked: those
-- that they may have now begin anew.
CREATE TRIGGER `repositories_ready_jobs` AFTER UPDATE OF `owner_id`, `archived_at`, `has_actions` ON `repositories`
WHEN new.`owner_id` <> old.`owner_id` OR (new.`archived_at` IS NULL) > (old.`archived_at` IS NULL)
	OR new.`has_actions` > old.`has_actions` BEGIN
	UPDATE `workflow_jobs`
	SET `ready_sequence` = (SELECT max(`ready_sequence`) FROM `workflow_jobs`) + 1 + `position`
	WHERE `repo_id` = new.`id` AND `state` = 'waiting';
END;
--> statement-breakpoint
-- The token of a job ends with its task, whoever ends it, and so does a runner of one job.
CREATE TRIGGER `workflow_tasks_end` AFTER UPDATE OF `state` ON `workflow_tasks`
WHEN old.`state` = 'running' AND new.`state` <> 'running' BEGIN
	DELETE FROM `access_tokens` WHERE `task_id` = new.`id`;
	UPDATE `runners` SET `ended_at` = new.`stopped_at`
	WHERE `id` = new.`runner_id` AND `is_ephemeral` = 1;
END;
--> statement-breakpoint
CREATE TRIGGER `workflow_tasks_logs` AFTER DELETE ON `workflow_tasks` WHEN old.`log_rows` > 0 BEGIN
	INSERT OR IGNORE INTO `discarded_work` (`kind`, `id`) VALUES ('log', old.`id`);
END;
--> statement-breakpoint
CREATE TRIGGER `workflow_artifacts_files` AFTER DELETE ON `workflow_artifacts` WHEN old.`state` <> 'expired' BEGIN
	INSERT OR IGNORE INTO `discarded_work` (`kind`, `id`) VALUES ('artifact', old.`id`);
END;
--> statement-breakpoint
-- The account that acts in jobs. Its name is reserved, and no list shows a private account.
INSERT INTO `users` (`id`, `kind`, `name`, `lower_name`, `full_name`, `email`, `is_email_hidden`, `visibility`, `can_create_organization`, `repo_count_max`, `created_at`, `updated_at`)
	VALUES (-2, 'user', 'gitea-actions', 'gitea-actions', 'Actions', 'gitea-actions@noreply.invalid', true, 'private', false, 0, 0, 0);
