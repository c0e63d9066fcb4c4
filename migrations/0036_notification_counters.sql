-- The number of notifications of each user, repository, subject and status.

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
