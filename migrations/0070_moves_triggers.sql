-- What a move copies or removes has the rows that these triggers maintain as well: they do nothing in such a batch.
DROP TRIGGER `issues_insert`;
--> statement-breakpoint
CREATE TRIGGER `issues_insert` AFTER INSERT ON `issues`
WHEN NOT EXISTS (SELECT 1 FROM `move_batches`) BEGIN
	UPDATE `repositories` SET
		`open_issue_count` = `open_issue_count` + (NOT new.`is_pull` AND NOT new.`is_closed`),
		`closed_issue_count` = `closed_issue_count` + (NOT new.`is_pull` AND new.`is_closed`),
		`open_pull_count` = `open_pull_count` + (new.`is_pull` AND NOT new.`is_closed`),
		`closed_pull_count` = `closed_pull_count` + (new.`is_pull` AND new.`is_closed`)
		WHERE `id` = new.`repo_id`;
	UPDATE `milestones` SET
		`open_issue_count` = `open_issue_count` + (NOT new.`is_closed`),
		`closed_issue_count` = `closed_issue_count` + new.`is_closed`
		WHERE `id` = new.`milestone_id`;
END;
--> statement-breakpoint
DROP TRIGGER `issues_delete`;
--> statement-breakpoint
CREATE TRIGGER `issues_delete` AFTER DELETE ON `issues`
WHEN NOT EXISTS (SELECT 1 FROM `move_batches`) BEGIN
	UPDATE `repositories` SET
		`open_issue_count` = `open_issue_count` - (NOT old.`is_pull` AND NOT old.`is_closed`),
		`closed_issue_count` = `closed_issue_count` - (NOT old.`is_pull` AND old.`is_closed`),
		`open_pull_count` = `open_pull_count` - (old.`is_pull` AND NOT old.`is_closed`),
		`closed_pull_count` = `closed_pull_count` - (old.`is_pull` AND old.`is_closed`)
		WHERE `id` = old.`repo_id`;
	UPDATE `milestones` SET
		`open_issue_count` = `open_issue_count` - (NOT old.`is_closed`),
		`closed_issue_count` = `closed_issue_count` - old.`is_closed`
		WHERE `id` = old.`milestone_id`;
END;
--> statement-breakpoint
DROP TRIGGER `issues_state`;
--> statement-breakpoint
CREATE TRIGGER `issues_state` AFTER UPDATE OF `is_closed` ON `issues`
WHEN NOT EXISTS (SELECT 1 FROM `move_batches`) AND new.`is_closed` <> old.`is_closed` BEGIN
	UPDATE `repositories` SET
		`open_issue_count` = `open_issue_count`
			+ (NOT new.`is_pull` AND NOT new.`is_closed`) - (NOT new.`is_pull` AND new.`is_closed`),
		`closed_issue_count` = `closed_issue_count`
			- (NOT new.`is_pull` AND NOT new.`is_closed`) + (NOT new.`is_pull` AND new.`is_closed`),
		`open_pull_count` = `open_pull_count`
			+ (new.`is_pull` AND NOT new.`is_closed`) - (new.`is_pull` AND new.`is_closed`),
		`closed_pull_count` = `closed_pull_count`
			- (new.`is_pull` AND NOT new.`is_closed`) + (new.`is_pull` AND new.`is_closed`)
		WHERE `id` = new.`repo_id`;
	UPDATE `issue_labels` SET `is_closed` = new.`is_closed` WHERE `issue_id` = new.`id`;
END;
--> statement-breakpoint
DROP TRIGGER `issues_milestone`;
--> statement-breakpoint
CREATE TRIGGER `issues_milestone` AFTER UPDATE OF `is_closed`, `milestone_id` ON `issues`
WHEN NOT EXISTS (SELECT 1 FROM `move_batches`) AND (new.`is_closed` <> old.`is_closed` OR new.`milestone_id` IS NOT old.`milestone_id`) BEGIN
	UPDATE `milestones` SET
		`open_issue_count` = `open_issue_count` - (NOT old.`is_closed`),
		`closed_issue_count` = `closed_issue_count` - old.`is_closed`
		WHERE `id` = old.`milestone_id`;
	UPDATE `milestones` SET
		`open_issue_count` = `open_issue_count` + (NOT new.`is_closed`),
		`closed_issue_count` = `closed_issue_count` + new.`is_closed`
		WHERE `id` = new.`milestone_id`;
END;
--> statement-breakpoint
DROP TRIGGER `issue_labels_insert`;
--> statement-breakpoint
CREATE TRIGGER `issue_labels_insert` AFTER INSERT ON `issue_labels`
WHEN NOT EXISTS (SELECT 1 FROM `move_batches`) BEGIN
	UPDATE `labels` SET
		`open_issue_count` = `open_issue_count` + (NOT new.`is_closed`),
		`closed_issue_count` = `closed_issue_count` + new.`is_closed`
		WHERE `id` = new.`label_id`;
END;
--> statement-breakpoint
DROP TRIGGER `issue_labels_delete`;
--> statement-breakpoint
CREATE TRIGGER `issue_labels_delete` AFTER DELETE ON `issue_labels`
WHEN NOT EXISTS (SELECT 1 FROM `move_batches`) BEGIN
	UPDATE `labels` SET
		`open_issue_count` = `open_issue_count` - (NOT old.`is_closed`),
		`closed_issue_count` = `closed_issue_count` - old.`is_closed`
		WHERE `id` = old.`label_id`;
END;
--> statement-breakpoint
DROP TRIGGER `issue_labels_state`;
--> statement-breakpoint
CREATE TRIGGER `issue_labels_state` AFTER UPDATE OF `is_closed` ON `issue_labels`
WHEN NOT EXISTS (SELECT 1 FROM `move_batches`) AND new.`is_closed` <> old.`is_closed` BEGIN
	UPDATE `labels` SET
		`open_issue_count` = `open_issue_count` + (NOT new.`is_closed`) - new.`is_closed`,
		`closed_issue_count` = `closed_issue_count` - (NOT new.`is_closed`) + new.`is_closed`
		WHERE `id` = new.`label_id`;
END;
--> statement-breakpoint
DROP TRIGGER `timeline_entries_insert`;
--> statement-breakpoint
CREATE TRIGGER `timeline_entries_insert` AFTER INSERT ON `timeline_entries`
WHEN NOT EXISTS (SELECT 1 FROM `move_batches`) AND new.`kind` = 'comment' BEGIN
	UPDATE `issues` SET `comment_count` = `comment_count` + 1 WHERE `id` = new.`issue_id`;
END;
--> statement-breakpoint
DROP TRIGGER `timeline_entries_delete`;
--> statement-breakpoint
CREATE TRIGGER `timeline_entries_delete` AFTER DELETE ON `timeline_entries`
WHEN NOT EXISTS (SELECT 1 FROM `move_batches`) AND old.`kind` = 'comment' BEGIN
	UPDATE `issues` SET `comment_count` = `comment_count` - 1 WHERE `id` = old.`issue_id`;
END;
--> statement-breakpoint
DROP TRIGGER `issue_assignees_insert`;
--> statement-breakpoint
CREATE TRIGGER `issue_assignees_insert` AFTER INSERT ON `issue_assignees`
WHEN NOT EXISTS (SELECT 1 FROM `move_batches`) BEGIN
	UPDATE `issue_assignees` SET (`is_pull`, `is_closed`) = (
		SELECT `is_pull`, `is_closed` FROM `issues` WHERE `id` = new.`issue_id`
	) WHERE `issue_id` = new.`issue_id` AND `user_id` = new.`user_id`;
END;
--> statement-breakpoint
DROP TRIGGER `issue_mentions_insert`;
--> statement-breakpoint
CREATE TRIGGER `issue_mentions_insert` AFTER INSERT ON `issue_mentions`
WHEN NOT EXISTS (SELECT 1 FROM `move_batches`) BEGIN
	UPDATE `issue_mentions` SET (`is_pull`, `is_closed`) = (
		SELECT `is_pull`, `is_closed` FROM `issues` WHERE `id` = new.`issue_id`
	) WHERE `issue_id` = new.`issue_id` AND `user_id` = new.`user_id`;
END;
--> statement-breakpoint
DROP TRIGGER `issues_state_of_users`;
--> statement-breakpoint
CREATE TRIGGER `issues_state_of_users` AFTER UPDATE OF `is_closed` ON `issues`
WHEN NOT EXISTS (SELECT 1 FROM `move_batches`) AND new.`is_closed` <> old.`is_closed` BEGIN
	UPDATE `issue_assignees` SET `is_closed` = new.`is_closed` WHERE `issue_id` = new.`id`;
	UPDATE `issue_mentions` SET `is_closed` = new.`is_closed` WHERE `issue_id` = new.`id`;
END;
--> statement-breakpoint
DROP TRIGGER `attachments_delete`;
--> statement-breakpoint
CREATE TRIGGER `attachments_delete` AFTER DELETE ON `attachments`
WHEN NOT EXISTS (SELECT 1 FROM `move_batches`) BEGIN
	INSERT OR IGNORE INTO `attachment_loose_files` (`uuid`, `expires_at`)
		VALUES (old.`uuid`, unixepoch() * 1000);
END;
--> statement-breakpoint
DROP TRIGGER `issues_comments_more`;
--> statement-breakpoint
CREATE TRIGGER `issues_comments_more` AFTER UPDATE OF `comment_count` ON `issues`
WHEN NOT EXISTS (SELECT 1 FROM `move_batches`) AND new.`comment_count` > old.`comment_count` BEGIN
	INSERT INTO `comment_counts` (`repo_id`, `of_issues`, `of_pulls`) VALUES (
		new.`repo_id`,
		(NOT new.`is_pull`) * (new.`comment_count` - old.`comment_count`),
		new.`is_pull` * (new.`comment_count` - old.`comment_count`)
	) ON CONFLICT (`repo_id`) DO UPDATE SET
		`of_issues` = `of_issues` + excluded.`of_issues`,
		`of_pulls` = `of_pulls` + excluded.`of_pulls`;
END;
--> statement-breakpoint
DROP TRIGGER `issues_comments_fewer`;
--> statement-breakpoint
CREATE TRIGGER `issues_comments_fewer` AFTER UPDATE OF `comment_count` ON `issues`
WHEN NOT EXISTS (SELECT 1 FROM `move_batches`) AND new.`comment_count` < old.`comment_count` BEGIN
	UPDATE `comment_counts` SET
		`of_issues` = `of_issues` - (NOT old.`is_pull`) * (old.`comment_count` - new.`comment_count`),
		`of_pulls` = `of_pulls` - old.`is_pull` * (old.`comment_count` - new.`comment_count`)
		WHERE `repo_id` = old.`repo_id`;
END;
--> statement-breakpoint
DROP TRIGGER `issues_comments_delete`;
--> statement-breakpoint
CREATE TRIGGER `issues_comments_delete` AFTER DELETE ON `issues`
WHEN NOT EXISTS (SELECT 1 FROM `move_batches`) BEGIN
	UPDATE `comment_counts` SET
		`of_issues` = `of_issues` - (NOT old.`is_pull`) * old.`comment_count`,
		`of_pulls` = `of_pulls` - old.`is_pull` * old.`comment_count`
		WHERE `repo_id` = old.`repo_id`;
END;
--> statement-breakpoint
DROP TRIGGER `pulls_insert`;
--> statement-breakpoint
CREATE TRIGGER `pulls_insert` AFTER INSERT ON `pulls`
WHEN NOT EXISTS (SELECT 1 FROM `move_batches`) BEGIN
	UPDATE `pulls`
	SET `is_closed` = (SELECT `is_closed` FROM `issues` WHERE `id` = new.`issue_id`)
	WHERE `issue_id` = new.`issue_id`;
END;
--> statement-breakpoint
DROP TRIGGER `pulls_state`;
--> statement-breakpoint
CREATE TRIGGER `pulls_state` AFTER UPDATE OF `is_closed` ON `issues`
WHEN NOT EXISTS (SELECT 1 FROM `move_batches`) AND new.`is_pull` AND new.`is_closed` <> old.`is_closed` BEGIN
	UPDATE `pulls` SET `is_closed` = new.`is_closed` WHERE `issue_id` = new.`id`;
END;
--> statement-breakpoint
DROP TRIGGER `code_comments_insert`;
--> statement-breakpoint
CREATE TRIGGER `code_comments_insert` AFTER INSERT ON `code_comments`
WHEN NOT EXISTS (SELECT 1 FROM `move_batches`) BEGIN
	UPDATE `reviews` SET `comment_count` = `comment_count` + 1 WHERE `id` = new.`review_id`;
END;
--> statement-breakpoint
DROP TRIGGER `code_comments_delete`;
--> statement-breakpoint
CREATE TRIGGER `code_comments_delete` AFTER DELETE ON `code_comments`
WHEN NOT EXISTS (SELECT 1 FROM `move_batches`) BEGIN
	UPDATE `reviews` SET `comment_count` = `comment_count` - 1 WHERE `id` = old.`review_id`;
END;
--> statement-breakpoint
DROP TRIGGER `releases_insert`;
--> statement-breakpoint
CREATE TRIGGER `releases_insert` AFTER INSERT ON `releases`
WHEN NOT EXISTS (SELECT 1 FROM `move_batches`) AND NOT new.`is_draft` BEGIN
	UPDATE `repositories` SET `release_count` = `release_count` + 1 WHERE `id` = new.`repo_id`;
END;
--> statement-breakpoint
DROP TRIGGER `releases_update`;
--> statement-breakpoint
CREATE TRIGGER `releases_update` AFTER UPDATE OF `is_draft` ON `releases`
WHEN NOT EXISTS (SELECT 1 FROM `move_batches`) AND new.`is_draft` <> old.`is_draft` BEGIN
	UPDATE `repositories`
	SET `release_count` = `release_count` + CASE WHEN new.`is_draft` THEN -1 ELSE 1 END
	WHERE `id` = new.`repo_id`;
END;
--> statement-breakpoint
DROP TRIGGER `releases_delete`;
--> statement-breakpoint
CREATE TRIGGER `releases_delete` AFTER DELETE ON `releases`
WHEN NOT EXISTS (SELECT 1 FROM `move_batches`) AND NOT old.`is_draft` BEGIN
	UPDATE `repositories` SET `release_count` = `release_count` - 1 WHERE `id` = old.`repo_id`;
END;
--> statement-breakpoint
DROP TRIGGER `issues_cross_shard_gone`;
--> statement-breakpoint
CREATE TRIGGER `issues_cross_shard_gone` AFTER DELETE ON `issues`
WHEN NOT EXISTS (SELECT 1 FROM `move_batches`) BEGIN
	UPDATE `cross_shard_entries` SET `state` = 'gone', `due_at` = coalesce(`due_at`, 0) WHERE `issue_id` = old.`id`;
END;
--> statement-breakpoint
DROP TRIGGER `timeline_entries_cross_shard_gone`;
--> statement-breakpoint
CREATE TRIGGER `timeline_entries_cross_shard_gone` AFTER DELETE ON `timeline_entries`
WHEN NOT EXISTS (SELECT 1 FROM `move_batches`) AND old.`kind` IN ('comment', 'review', 'code') BEGIN
	UPDATE `cross_shard_entries` SET `state` = 'gone', `due_at` = coalesce(`due_at`, 0) WHERE `comment_id` = old.`id`;
END;
--> statement-breakpoint
DROP TRIGGER `events_move_linked`;
--> statement-breakpoint
-- An event that comes with its repository is where it is to be, before the row says so.
CREATE TRIGGER `events_move_linked` AFTER INSERT ON `events`
WHEN new.`type` IN ('package.created', 'package.deleted') AND new.`repo_id` IS NOT NULL
AND NOT EXISTS (SELECT 1 FROM `move_batches`)
AND EXISTS (
	SELECT 1 FROM `shard_copies` JOIN `repositories` ON `repositories`.`id` = new.`repo_id`
	WHERE `repositories`.`shard` <> `shard_copies`.`shard_id`
) BEGIN
	INSERT INTO `relayed_events` (`shard_id`, `event_id`, `dispatch_at`, `consequences_at`)
	SELECT `shard`, new.`id`, new.`dispatch_at`, new.`consequences_at` FROM `repositories` WHERE `id` = new.`repo_id`;
	UPDATE `events` SET `dispatch_at` = NULL, `consequences_at` = NULL WHERE `id` = new.`id`;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `repositories_lfs_discard`;
--> statement-breakpoint
-- Where the rows are a copy, or were moved from, forks may have others in the other database: that one decides about files.
CREATE TRIGGER `repositories_lfs_discard` BEFORE DELETE ON `repositories`
WHEN NOT EXISTS (
	SELECT 1 FROM `moving_repositories` JOIN `move_sides` USING (`move_id`)
	WHERE `repo_id` = old.`id` AND `is_closed`
) BEGIN
	INSERT OR IGNORE INTO `lfs_loose_files` (`upload_id`, `oid`, `network_name`, `expires_at`)
		SELECT `upload_id`, `oid`, old.`network_name`, 0 FROM `lfs_objects` AS `own`
		WHERE `own`.`repo_id` = old.`id` AND NOT EXISTS (
			SELECT 1 FROM `lfs_objects` AS `other`
			WHERE `other`.`upload_id` = `own`.`upload_id` AND `other`.`repo_id` <> old.`id`
		);
END;
