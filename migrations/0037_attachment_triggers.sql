-- Files of deleted attachments, which a job removes, and the numbers of comments in repositories.

CREATE TRIGGER `attachments_delete` AFTER DELETE ON `attachments` BEGIN
	INSERT OR IGNORE INTO `attachment_loose_files` (`uuid`, `expires_at`)
		VALUES (old.`uuid`, unixepoch() * 1000);
END;
--> statement-breakpoint
CREATE TRIGGER `issues_comments_more` AFTER UPDATE OF `comment_count` ON `issues`
WHEN new.`comment_count` > old.`comment_count` BEGIN
	INSERT INTO `comment_counts` (`repo_id`, `of_issues`, `of_pulls`) VALUES (
		new.`repo_id`,
		(NOT new.`is_pull`) * (new.`comment_count` - old.`comment_count`),
		new.`is_pull` * (new.`comment_count` - old.`comment_count`)
	) ON CONFLICT (`repo_id`) DO UPDATE SET
		`of_issues` = `of_issues` + excluded.`of_issues`,
		`of_pulls` = `of_pulls` + excluded.`of_pulls`;
END;
--> statement-breakpoint
-- Only updates: the row is gone while its repository is deleted.
CREATE TRIGGER `issues_comments_fewer` AFTER UPDATE OF `comment_count` ON `issues`
WHEN new.`comment_count` < old.`comment_count` BEGIN
	UPDATE `comment_counts` SET
		`of_issues` = `of_issues` - (NOT old.`is_pull`) * (old.`comment_count` - new.`comment_count`),
		`of_pulls` = `of_pulls` - old.`is_pull` * (old.`comment_count` - new.`comment_count`)
		WHERE `repo_id` = old.`repo_id`;
END;
--> statement-breakpoint
-- The comments are deleted after their issue, and count no more in it.
CREATE TRIGGER `issues_comments_delete` AFTER DELETE ON `issues` BEGIN
	UPDATE `comment_counts` SET
		`of_issues` = `of_issues` - (NOT old.`is_pull`) * old.`comment_count`,
		`of_pulls` = `of_pulls` - old.`is_pull` * old.`comment_count`
		WHERE `repo_id` = old.`repo_id`;
END;
