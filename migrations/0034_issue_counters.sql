-- Counters of issues and pull requests, and the copies that lists by label are read from. A milestone or a label
-- counts both.

CREATE TRIGGER `issues_insert` AFTER INSERT ON `issues` BEGIN
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
CREATE TRIGGER `issues_delete` AFTER DELETE ON `issues` BEGIN
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
CREATE TRIGGER `issues_state` AFTER UPDATE OF `is_closed` ON `issues`
WHEN new.`is_closed` <> old.`is_closed` BEGIN
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
CREATE TRIGGER `issues_milestone` AFTER UPDATE OF `is_closed`, `milestone_id` ON `issues`
WHEN new.`is_closed` <> old.`is_closed` OR new.`milestone_id` IS NOT old.`milestone_id` BEGIN
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
CREATE TRIGGER `issue_labels_insert` AFTER INSERT ON `issue_labels` BEGIN
	UPDATE `labels` SET
		`open_issue_count` = `open_issue_count` + (NOT new.`is_closed`),
		`closed_issue_count` = `closed_issue_count` + new.`is_closed`
		WHERE `id` = new.`label_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `issue_labels_delete` AFTER DELETE ON `issue_labels` BEGIN
	UPDATE `labels` SET
		`open_issue_count` = `open_issue_count` - (NOT old.`is_closed`),
		`closed_issue_count` = `closed_issue_count` - old.`is_closed`
		WHERE `id` = old.`label_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `issue_labels_state` AFTER UPDATE OF `is_closed` ON `issue_labels`
WHEN new.`is_closed` <> old.`is_closed` BEGIN
	UPDATE `labels` SET
		`open_issue_count` = `open_issue_count` + (NOT new.`is_closed`) - new.`is_closed`,
		`closed_issue_count` = `closed_issue_count` - (NOT new.`is_closed`) + new.`is_closed`
		WHERE `id` = new.`label_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `timeline_entries_insert` AFTER INSERT ON `timeline_entries` WHEN new.`kind` = 'comment' BEGIN
	UPDATE `issues` SET `comment_count` = `comment_count` + 1 WHERE `id` = new.`issue_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `timeline_entries_delete` AFTER DELETE ON `timeline_entries` WHEN old.`kind` = 'comment' BEGIN
	UPDATE `issues` SET `comment_count` = `comment_count` - 1 WHERE `id` = old.`issue_id`;
END;
--> statement-breakpoint

-- Assignees and mentions have copies of what lists filter by, as labels do. Who inserts them names the issue only.

CREATE TRIGGER `issue_assignees_insert` AFTER INSERT ON `issue_assignees` BEGIN
	UPDATE `issue_assignees` SET (`is_pull`, `is_closed`) = (
		SELECT `is_pull`, `is_closed` FROM `issues` WHERE `id` = new.`issue_id`
	) WHERE `issue_id` = new.`issue_id` AND `user_id` = new.`user_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `issue_mentions_insert` AFTER INSERT ON `issue_mentions` BEGIN
	UPDATE `issue_mentions` SET (`is_pull`, `is_closed`) = (
		SELECT `is_pull`, `is_closed` FROM `issues` WHERE `id` = new.`issue_id`
	) WHERE `issue_id` = new.`issue_id` AND `user_id` = new.`user_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `issues_state_of_users` AFTER UPDATE OF `is_closed` ON `issues`
WHEN new.`is_closed` <> old.`is_closed` BEGIN
	UPDATE `issue_assignees` SET `is_closed` = new.`is_closed` WHERE `issue_id` = new.`id`;
	UPDATE `issue_mentions` SET `is_closed` = new.`is_closed` WHERE `issue_id` = new.`id`;
END;
