-- What is copied and counted for pull requests, reviews and releases.

CREATE TRIGGER `pulls_insert` AFTER INSERT ON `pulls` BEGIN
	UPDATE `pulls`
	SET `is_closed` = (SELECT `is_closed` FROM `issues` WHERE `id` = new.`issue_id`)
	WHERE `issue_id` = new.`issue_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `pulls_state` AFTER UPDATE OF `is_closed` ON `issues`
WHEN new.`is_pull` AND new.`is_closed` <> old.`is_closed` BEGIN
	UPDATE `pulls` SET `is_closed` = new.`is_closed` WHERE `issue_id` = new.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `code_comments_insert` AFTER INSERT ON `code_comments` BEGIN
	UPDATE `reviews` SET `comment_count` = `comment_count` + 1 WHERE `id` = new.`review_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `code_comments_delete` AFTER DELETE ON `code_comments` BEGIN
	UPDATE `reviews` SET `comment_count` = `comment_count` - 1 WHERE `id` = old.`review_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `releases_repository` BEFORE INSERT ON `releases`
WHEN NOT EXISTS (SELECT 1 FROM `repositories` WHERE `id` = new.`repo_id`) BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
CREATE TRIGGER `branch_tips_repository` BEFORE INSERT ON `branch_tips`
WHEN NOT EXISTS (SELECT 1 FROM `repositories` WHERE `id` = new.`repo_id`) BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
CREATE TRIGGER `releases_insert` AFTER INSERT ON `releases` WHEN NOT new.`is_draft` BEGIN
	UPDATE `repositories` SET `release_count` = `release_count` + 1 WHERE `id` = new.`repo_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `releases_update` AFTER UPDATE OF `is_draft` ON `releases`
WHEN new.`is_draft` <> old.`is_draft` BEGIN
	UPDATE `repositories`
	SET `release_count` = `release_count` + CASE WHEN new.`is_draft` THEN -1 ELSE 1 END
	WHERE `id` = new.`repo_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `releases_delete` AFTER DELETE ON `releases` WHEN NOT old.`is_draft` BEGIN
	UPDATE `repositories` SET `release_count` = `release_count` - 1 WHERE `id` = old.`repo_id`;
END;
