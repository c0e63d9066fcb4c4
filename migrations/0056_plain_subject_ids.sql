-- Notifications and mails refer to issues and releases that may be in another database: without foreign keys. Both tables are made
-- anew, with the indexes and triggers that they had; ids are not given twice.

CREATE TABLE `__new_mails` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer,
	`address` text NOT NULL,
	`sealed_content` text NOT NULL,
	`repo_id` integer,
	`issue_id` integer,
	`event_id` integer,
	`reason` text,
	`attempts` integer DEFAULT 0 NOT NULL,
	`due_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
INSERT INTO `__new_mails`("id", "user_id", "address", "sealed_content", "repo_id", "issue_id", "event_id", "reason", "attempts", "due_at", "created_at") SELECT "id", "user_id", "address", "sealed_content", (SELECT `repo_id` FROM `issues` WHERE `issues`.`id` = `mails`.`issue_id`), "issue_id", "event_id", "reason", "attempts", "due_at", "created_at" FROM `mails`;--> statement-breakpoint
INSERT INTO sqlite_sequence (`name`, `seq`) SELECT '__new_mails', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE `name` = '__new_mails');--> statement-breakpoint
UPDATE sqlite_sequence SET `seq` = coalesce((SELECT `seq` FROM sqlite_sequence WHERE `name` = 'mails'), 0) WHERE `name` = '__new_mails';--> statement-breakpoint
DROP TABLE `mails`;--> statement-breakpoint
ALTER TABLE `__new_mails` RENAME TO `mails`;--> statement-breakpoint
CREATE INDEX `mails_due` ON `mails` (`due_at`);--> statement-breakpoint
CREATE INDEX `mails_user` ON `mails` (`user_id`);--> statement-breakpoint
CREATE INDEX `mails_repo` ON `mails` (`repo_id`) WHERE "mails"."repo_id" is not null;--> statement-breakpoint
CREATE INDEX `mails_issue` ON `mails` (`issue_id`) WHERE "mails"."issue_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `mails_event` ON `mails` (`event_id`,`user_id`) WHERE "mails"."event_id" is not null;--> statement-breakpoint
CREATE TABLE `__new_notifications` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`repo_id` integer NOT NULL,
	`subject` text NOT NULL,
	`issue_id` integer,
	`commit_oid` text DEFAULT '' NOT NULL,
	`release_id` integer,
	`status` text NOT NULL,
	`entry_id` integer,
	`event_id` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "notifications_status" CHECK("__new_notifications"."status" in ('unread', 'read', 'pinned'))
);
--> statement-breakpoint
INSERT INTO `__new_notifications`("id", "user_id", "repo_id", "subject", "issue_id", "commit_oid", "release_id", "status", "entry_id", "event_id", "created_at", "updated_at") SELECT "id", "user_id", "repo_id", "subject", "issue_id", "commit_oid", "release_id", "status", "entry_id", "event_id", "created_at", "updated_at" FROM `notifications`;--> statement-breakpoint
INSERT INTO sqlite_sequence (`name`, `seq`) SELECT '__new_notifications', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE `name` = '__new_notifications');--> statement-breakpoint
UPDATE sqlite_sequence SET `seq` = coalesce((SELECT `seq` FROM sqlite_sequence WHERE `name` = 'notifications'), 0) WHERE `name` = '__new_notifications';--> statement-breakpoint
DROP TABLE `notifications`;--> statement-breakpoint
ALTER TABLE `__new_notifications` RENAME TO `notifications`;--> statement-breakpoint
CREATE UNIQUE INDEX `notifications_issue` ON `notifications` (`user_id`,`issue_id`) WHERE "notifications"."issue_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `notifications_release` ON `notifications` (`user_id`,`release_id`) WHERE "notifications"."release_id" is not null;--> statement-breakpoint
CREATE INDEX `notifications_by_updated` ON `notifications` (`user_id`,`status`,`subject`,`updated_at`,`id`,`repo_id`);--> statement-breakpoint
CREATE INDEX `notifications_repo` ON `notifications` (`user_id`,`repo_id`,`status`,`subject`,`updated_at`,`id`);--> statement-breakpoint
CREATE INDEX `notifications_read` ON `notifications` (`updated_at`) WHERE "notifications"."status" = 'read';--> statement-breakpoint
CREATE INDEX `notifications_of_issue` ON `notifications` (`issue_id`);--> statement-breakpoint
CREATE INDEX `notifications_of_release` ON `notifications` (`release_id`) WHERE "notifications"."release_id" is not null;--> statement-breakpoint
CREATE INDEX `notifications_of_repo` ON `notifications` (`repo_id`);--> statement-breakpoint
CREATE TRIGGER `notifications_insert` AFTER INSERT ON `notifications` BEGIN
	INSERT INTO `notification_counts` (`user_id`, `repo_id`, `subject`, `status`, `count`)
		VALUES (new.`user_id`, new.`repo_id`, new.`subject`, new.`status`, 1)
		ON CONFLICT (`user_id`, `status`, `repo_id`, `subject`) DO UPDATE SET `count` = `count` + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `notifications_delete` AFTER DELETE ON `notifications` BEGIN
	UPDATE `notification_counts` SET `count` = `count` - 1
		WHERE `user_id` = old.`user_id` AND `status` = old.`status`
			AND `repo_id` = old.`repo_id` AND `subject` = old.`subject`;
	DELETE FROM `notification_counts`
		WHERE `user_id` = old.`user_id` AND `status` = old.`status`
			AND `repo_id` = old.`repo_id` AND `subject` = old.`subject` AND `count` = 0;
END;
--> statement-breakpoint
CREATE TRIGGER `notifications_status` AFTER UPDATE OF `status` ON `notifications`
WHEN new.`status` <> old.`status` BEGIN
	INSERT INTO `notification_counts` (`user_id`, `repo_id`, `subject`, `status`, `count`)
		VALUES (new.`user_id`, new.`repo_id`, new.`subject`, new.`status`, 1)
		ON CONFLICT (`user_id`, `status`, `repo_id`, `subject`) DO UPDATE SET `count` = `count` + 1;
	UPDATE `notification_counts` SET `count` = `count` - 1
		WHERE `user_id` = old.`user_id` AND `status` = old.`status`
			AND `repo_id` = old.`repo_id` AND `subject` = old.`subject`;
	DELETE FROM `notification_counts`
		WHERE `user_id` = old.`user_id` AND `status` = old.`status`
			AND `repo_id` = old.`repo_id` AND `subject` = old.`subject` AND `count` = 0;
END;
--> statement-breakpoint
CREATE TRIGGER `notifications_repository` BEFORE INSERT ON `notifications`
WHEN NOT EXISTS (SELECT 1 FROM `repositories` WHERE `id` = new.`repo_id`) BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
