-- The order matters: of the triggers of a table, SQLite runs the one that was created last first. The
-- indexes of words are created after the triggers whose columns they repeat.

-- Counters and repeated columns move with their cause, in the same statement: a star is counted once
-- however often it is sent, and a cascade counts as well as a delete.
CREATE TRIGGER `stars_insert` AFTER INSERT ON `stars` BEGIN
	UPDATE `repositories` SET `star_count` = `star_count` + 1 WHERE `id` = new.`repo_id`;
	UPDATE `users` SET `star_count` = `star_count` + 1 WHERE `id` = new.`user_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `stars_delete` AFTER DELETE ON `stars` BEGIN
	UPDATE `repositories` SET `star_count` = `star_count` - 1 WHERE `id` = old.`repo_id`;
	UPDATE `users` SET `star_count` = `star_count` - 1 WHERE `id` = old.`user_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `watches_insert` AFTER INSERT ON `watches` BEGIN
	UPDATE `repositories` SET `watcher_count` = `watcher_count` + 1 WHERE `id` = new.`repo_id`;
	UPDATE `users` SET `watch_count` = `watch_count` + 1 WHERE `id` = new.`user_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `watches_delete` AFTER DELETE ON `watches` BEGIN
	UPDATE `repositories` SET `watcher_count` = `watcher_count` - 1 WHERE `id` = old.`repo_id`;
	UPDATE `users` SET `watch_count` = `watch_count` - 1 WHERE `id` = old.`user_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `follows_insert` AFTER INSERT ON `follows` BEGIN
	UPDATE `users` SET `following_count` = `following_count` + 1 WHERE `id` = new.`follower_id`;
	UPDATE `users` SET `follower_count` = `follower_count` + 1 WHERE `id` = new.`followed_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `follows_delete` AFTER DELETE ON `follows` BEGIN
	UPDATE `users` SET `following_count` = `following_count` - 1 WHERE `id` = old.`follower_id`;
	UPDATE `users` SET `follower_count` = `follower_count` - 1 WHERE `id` = old.`followed_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `repositories_insert` AFTER INSERT ON `repositories` BEGIN
	UPDATE `repository_totals` SET `count` = `count` + 1 WHERE `visibility` = new.`visibility`;
	UPDATE `repositories` SET `fork_count` = `fork_count` + 1 WHERE `id` = new.`parent_id`;
	UPDATE `repositories` SET
		`owner_lower_name` = (SELECT `lower_name` FROM `users` WHERE `id` = new.`owner_id`),
		`visibility` = CASE WHEN new.`is_private` THEN 'private'
			ELSE (SELECT `visibility` FROM `users` WHERE `id` = new.`owner_id`) END
		WHERE `id` = new.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `repositories_delete` AFTER DELETE ON `repositories` BEGIN
	UPDATE `repository_totals` SET `count` = `count` - 1 WHERE `visibility` = old.`visibility`;
	UPDATE `repositories` SET `fork_count` = `fork_count` - 1 WHERE `id` = old.`parent_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `repositories_owner` AFTER UPDATE OF `owner_id`, `is_private` ON `repositories`
WHEN new.`owner_id` <> old.`owner_id` OR new.`is_private` <> old.`is_private` BEGIN
	UPDATE `repositories` SET
		`owner_lower_name` = (SELECT `lower_name` FROM `users` WHERE `id` = new.`owner_id`),
		`visibility` = CASE WHEN new.`is_private` THEN 'private'
			ELSE (SELECT `visibility` FROM `users` WHERE `id` = new.`owner_id`) END
		WHERE `id` = new.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `repositories_visibility` AFTER UPDATE OF `visibility` ON `repositories`
WHEN new.`visibility` <> old.`visibility` BEGIN
	UPDATE `repository_totals` SET `count` = `count` - 1 WHERE `visibility` = old.`visibility`;
	UPDATE `repository_totals` SET `count` = `count` + 1 WHERE `visibility` = new.`visibility`;
	UPDATE `stars` SET `visibility` = new.`visibility` WHERE `repo_id` = new.`id`;
	UPDATE `watches` SET `visibility` = new.`visibility` WHERE `repo_id` = new.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `users_owner_of_repositories` AFTER UPDATE OF `lower_name`, `visibility` ON `users`
WHEN new.`lower_name` <> old.`lower_name` OR new.`visibility` <> old.`visibility` BEGIN
	UPDATE `repositories` SET
		`owner_lower_name` = new.`lower_name`,
		`visibility` = CASE WHEN `is_private` THEN 'private' ELSE new.`visibility` END
		WHERE `owner_id` = new.`id`;
END;
--> statement-breakpoint
-- Search by any part of a word (trigrams, so three characters at least). The visibility is a word of
-- the index too, so that rows a caller may not see are left out before anything is read.
CREATE VIRTUAL TABLE `repositories_search` USING fts5(
	`owner`, `name`, `description`, `visibility`,
	content = '', contentless_delete = 1, tokenize = 'trigram'
);
--> statement-breakpoint
CREATE TRIGGER `repositories_search_insert` AFTER INSERT ON `repositories` BEGIN
	INSERT INTO `repositories_search` (`rowid`, `owner`, `name`, `description`, `visibility`)
		VALUES (new.`id`, new.`owner_lower_name`, new.`name`, new.`description`, new.`visibility`);
END;
--> statement-breakpoint
CREATE TRIGGER `repositories_search_update`
AFTER UPDATE OF `owner_lower_name`, `name`, `description`, `visibility` ON `repositories`
WHEN new.`owner_lower_name` <> old.`owner_lower_name` OR new.`name` <> old.`name`
	OR new.`description` <> old.`description` OR new.`visibility` <> old.`visibility` BEGIN
	DELETE FROM `repositories_search` WHERE `rowid` = old.`id`;
	INSERT INTO `repositories_search` (`rowid`, `owner`, `name`, `description`, `visibility`)
		VALUES (new.`id`, new.`owner_lower_name`, new.`name`, new.`description`, new.`visibility`);
END;
--> statement-breakpoint
CREATE TRIGGER `repositories_search_delete` AFTER DELETE ON `repositories` BEGIN
	DELETE FROM `repositories_search` WHERE `rowid` = old.`id`;
END;
--> statement-breakpoint
-- Any deletion of a repository notes its git data for removal, in the same statement.
CREATE TRIGGER `repositories_discard` AFTER DELETE ON `repositories` WHEN old.`object_name` <> '' BEGIN
	INSERT INTO `discarded_objects` (`object_name`, `network_name`, `discarded_at`)
		VALUES (old.`object_name`, old.`network_name`, unixepoch() * 1000);
END;
--> statement-breakpoint
-- A fork whose parent is deleted is a fork no longer.
CREATE TRIGGER `repositories_orphan` AFTER UPDATE OF `parent_id` ON `repositories`
WHEN new.`parent_id` IS NULL AND old.`parent_id` IS NOT NULL BEGIN
	UPDATE `repositories` SET `is_fork` = 0 WHERE `id` = new.`id`;
END;
--> statement-breakpoint
-- A topic counts the public repositories that have it, and goes with the last repository that has it.
CREATE TRIGGER `repository_topics_insert` AFTER INSERT ON `repository_topics` WHEN new.`visibility` = 'public' BEGIN
	UPDATE `topics` SET `repo_count` = `repo_count` + 1 WHERE `id` = new.`topic_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `repository_topics_delete` AFTER DELETE ON `repository_topics` BEGIN
	UPDATE `topics` SET `repo_count` = `repo_count` - 1 WHERE `id` = old.`topic_id` AND old.`visibility` = 'public';
	DELETE FROM `topics` WHERE `id` = old.`topic_id`
		AND NOT EXISTS (SELECT 1 FROM `repository_topics` WHERE `topic_id` = old.`topic_id`);
END;
--> statement-breakpoint
CREATE TRIGGER `repository_topics_visibility` AFTER UPDATE OF `visibility` ON `repository_topics`
WHEN new.`visibility` <> old.`visibility` BEGIN
	UPDATE `topics` SET `repo_count` = `repo_count` + (new.`visibility` = 'public') - (old.`visibility` = 'public')
		WHERE `id` = new.`topic_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `repositories_topics_visibility` AFTER UPDATE OF `visibility` ON `repositories`
WHEN new.`visibility` <> old.`visibility` BEGIN
	UPDATE `repository_topics` SET `visibility` = new.`visibility` WHERE `repo_id` = new.`id`;
END;
--> statement-breakpoint
-- Search by any part of a name, as for repositories.
CREATE VIRTUAL TABLE `topics_search` USING fts5(
	`name`, content = '', contentless_delete = 1, tokenize = 'trigram'
);
--> statement-breakpoint
CREATE TRIGGER `topics_search_insert` AFTER INSERT ON `topics` BEGIN
	INSERT INTO `topics_search` (`rowid`, `name`) VALUES (new.`id`, new.`name`);
END;
--> statement-breakpoint
CREATE TRIGGER `topics_search_delete` AFTER DELETE ON `topics` BEGIN
	DELETE FROM `topics_search` WHERE `rowid` = old.`id`;
END;
--> statement-breakpoint
-- Any deletion of a repository notes for removal the large files that no other repository has, in the
-- same statement. Before it, since the rows go with the repository.
CREATE TRIGGER `repositories_lfs_discard` BEFORE DELETE ON `repositories` BEGIN
	INSERT OR IGNORE INTO `lfs_loose_files` (`upload_id`, `oid`, `network_name`, `expires_at`)
		SELECT `upload_id`, `oid`, old.`network_name`, 0 FROM `lfs_objects` AS `own`
		WHERE `own`.`repo_id` = old.`id` AND NOT EXISTS (
			SELECT 1 FROM `lfs_objects` AS `other`
			WHERE `other`.`upload_id` = `own`.`upload_id` AND `other`.`repo_id` <> old.`id`
		);
END;
--> statement-breakpoint
CREATE VIRTUAL TABLE `users_search` USING fts5(
	`name`, `full_name`, `visibility`, `email`, `hidden_email`,
	content = '', contentless_delete = 1, tokenize = 'trigram'
);
--> statement-breakpoint
CREATE TRIGGER `users_search_insert` AFTER INSERT ON `users` WHEN new.`kind` = 'user' BEGIN
	INSERT INTO `users_search`
		(`rowid`, `name`, `full_name`, `visibility`, `email`, `hidden_email`)
	VALUES (
		new.`id`, new.`name`, new.`full_name`, new.`visibility`,
		iif(new.`is_email_hidden`, '', new.`email`), iif(new.`is_email_hidden`, new.`email`, '')
	);
END;
--> statement-breakpoint
CREATE TRIGGER `users_search_update`
AFTER UPDATE OF `name`, `full_name`, `visibility`, `email`, `is_email_hidden` ON `users`
WHEN new.`kind` = 'user' AND (new.`name` <> old.`name` OR new.`full_name` <> old.`full_name`
	OR new.`visibility` <> old.`visibility` OR new.`email` <> old.`email`
	OR new.`is_email_hidden` <> old.`is_email_hidden`) BEGIN
	DELETE FROM `users_search` WHERE `rowid` = old.`id`;
	INSERT INTO `users_search`
		(`rowid`, `name`, `full_name`, `visibility`, `email`, `hidden_email`)
	VALUES (
		new.`id`, new.`name`, new.`full_name`, new.`visibility`,
		iif(new.`is_email_hidden`, '', new.`email`), iif(new.`is_email_hidden`, new.`email`, '')
	);
END;
--> statement-breakpoint
CREATE TRIGGER `users_search_delete` AFTER DELETE ON `users` WHEN old.`kind` = 'user' BEGIN
	DELETE FROM `users_search` WHERE `rowid` = old.`id`;
END;
--> statement-breakpoint
-- An image without references is due for removal, in the statement that removed the last one.
CREATE TRIGGER `users_avatar_update` AFTER UPDATE OF `avatar_hash` ON `users`
WHEN old.`avatar_hash` <> '' AND new.`avatar_hash` <> old.`avatar_hash` BEGIN
	UPDATE `avatar_images` SET `expires_at` = unixepoch() * 1000
		WHERE `hash` = old.`avatar_hash` AND `expires_at` IS NULL
		AND NOT EXISTS (SELECT 1 FROM `users` WHERE `avatar_hash` = old.`avatar_hash` AND `avatar_hash` <> '')
		AND NOT EXISTS (SELECT 1 FROM `repositories` WHERE `avatar_hash` = old.`avatar_hash` AND `avatar_hash` <> '');
END;
--> statement-breakpoint
CREATE TRIGGER `users_avatar_delete` AFTER DELETE ON `users` WHEN old.`avatar_hash` <> '' BEGIN
	UPDATE `avatar_images` SET `expires_at` = unixepoch() * 1000
		WHERE `hash` = old.`avatar_hash` AND `expires_at` IS NULL
		AND NOT EXISTS (SELECT 1 FROM `users` WHERE `avatar_hash` = old.`avatar_hash` AND `avatar_hash` <> '')
		AND NOT EXISTS (SELECT 1 FROM `repositories` WHERE `avatar_hash` = old.`avatar_hash` AND `avatar_hash` <> '');
END;
--> statement-breakpoint
CREATE TRIGGER `repositories_avatar_update` AFTER UPDATE OF `avatar_hash` ON `repositories`
WHEN old.`avatar_hash` <> '' AND new.`avatar_hash` <> old.`avatar_hash` BEGIN
	UPDATE `avatar_images` SET `expires_at` = unixepoch() * 1000
		WHERE `hash` = old.`avatar_hash` AND `expires_at` IS NULL
		AND NOT EXISTS (SELECT 1 FROM `users` WHERE `avatar_hash` = old.`avatar_hash` AND `avatar_hash` <> '')
		AND NOT EXISTS (SELECT 1 FROM `repositories` WHERE `avatar_hash` = old.`avatar_hash` AND `avatar_hash` <> '');
END;
--> statement-breakpoint
CREATE TRIGGER `repositories_avatar_delete` AFTER DELETE ON `repositories` WHEN old.`avatar_hash` <> '' BEGIN
	UPDATE `avatar_images` SET `expires_at` = unixepoch() * 1000
		WHERE `hash` = old.`avatar_hash` AND `expires_at` IS NULL
		AND NOT EXISTS (SELECT 1 FROM `users` WHERE `avatar_hash` = old.`avatar_hash` AND `avatar_hash` <> '')
		AND NOT EXISTS (SELECT 1 FROM `repositories` WHERE `avatar_hash` = old.`avatar_hash` AND `avatar_hash` <> '');
END;
--> statement-breakpoint
-- Search of all addresses by any part, for administrators: trigrams, so three characters at least.
CREATE VIRTUAL TABLE `email_addresses_search` USING fts5(
	`email`, content = '', contentless_delete = 1, tokenize = 'trigram'
);
--> statement-breakpoint
CREATE TRIGGER `email_addresses_search_insert` AFTER INSERT ON `email_addresses` BEGIN
	INSERT INTO `email_addresses_search` (`rowid`, `email`) VALUES (new.`id`, new.`lower_email`);
END;
--> statement-breakpoint
CREATE TRIGGER `email_addresses_search_update` AFTER UPDATE OF `lower_email` ON `email_addresses`
WHEN new.`lower_email` <> old.`lower_email` BEGIN
	DELETE FROM `email_addresses_search` WHERE `rowid` = old.`id`;
	INSERT INTO `email_addresses_search` (`rowid`, `email`) VALUES (new.`id`, new.`lower_email`);
END;
--> statement-breakpoint
CREATE TRIGGER `email_addresses_search_delete` AFTER DELETE ON `email_addresses` BEGIN
	DELETE FROM `email_addresses_search` WHERE `rowid` = old.`id`;
END;
--> statement-breakpoint
-- Counters of issues and pull requests, and the repeated columns that lists by label read. A milestone or
-- a label counts both.
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
-- Assignees and mentions repeat the columns that lists filter by, as labels do. An insert names the issue only.
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
--> statement-breakpoint
-- Search in issues and pull requests by whole words, in any case and without accents. An issue is one
-- document, and each comment another one; the row id is the issue's id, shifted by 32 bits, and the
-- comment's id or 0, so that documents are found newest issue first, with its comments beside it. The
-- scope has words too: `r` and the repository's id, and for an issue `n` and its number.
CREATE VIRTUAL TABLE `issues_search` USING fts5(
	`title`, `body`, `comment`, `scope`,
	content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
);
--> statement-breakpoint
CREATE TRIGGER `issues_search_insert` AFTER INSERT ON `issues` BEGIN
	INSERT INTO `issues_search` (`rowid`, `title`, `body`, `scope`)
		VALUES (new.`id` << 32, new.`title`, new.`body`, 'r' || new.`repo_id` || ' n' || new.`number`);
END;
--> statement-breakpoint
CREATE TRIGGER `issues_search_update` AFTER UPDATE OF `title`, `body` ON `issues`
WHEN new.`title` <> old.`title` OR new.`body` <> old.`body` BEGIN
	DELETE FROM `issues_search` WHERE `rowid` = old.`id` << 32;
	INSERT INTO `issues_search` (`rowid`, `title`, `body`, `scope`)
		VALUES (new.`id` << 32, new.`title`, new.`body`, 'r' || new.`repo_id` || ' n' || new.`number`);
END;
--> statement-breakpoint
CREATE TRIGGER `issues_search_delete` AFTER DELETE ON `issues` BEGIN
	DELETE FROM `issues_search` WHERE `rowid` = old.`id` << 32;
END;
--> statement-breakpoint
CREATE TRIGGER `comments_search_insert` AFTER INSERT ON `timeline_entries` WHEN new.`kind` = 'comment' BEGIN
	INSERT INTO `issues_search` (`rowid`, `comment`, `scope`)
		VALUES (new.`issue_id` << 32 | new.`id`, new.`body`, 'r' || new.`repo_id`);
END;
--> statement-breakpoint
CREATE TRIGGER `comments_search_update` AFTER UPDATE OF `body` ON `timeline_entries`
WHEN new.`kind` = 'comment' AND new.`body` <> old.`body` BEGIN
	DELETE FROM `issues_search` WHERE `rowid` = old.`issue_id` << 32 | old.`id`;
	INSERT INTO `issues_search` (`rowid`, `comment`, `scope`)
		VALUES (new.`issue_id` << 32 | new.`id`, new.`body`, 'r' || new.`repo_id`);
END;
--> statement-breakpoint
CREATE TRIGGER `comments_search_delete` AFTER DELETE ON `timeline_entries` WHEN old.`kind` = 'comment' BEGIN
	DELETE FROM `issues_search` WHERE `rowid` = old.`issue_id` << 32 | old.`id`;
END;
--> statement-breakpoint
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
--> statement-breakpoint
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
--> statement-breakpoint
-- Rows of a deleted repository are removed in steps, by a job, so their tables have no foreign key to
-- repositories: these triggers refuse new rows as the key would.
CREATE TRIGGER `repositories_remains` AFTER DELETE ON `repositories` BEGIN
	INSERT OR IGNORE INTO `repository_remains` (`repo_id`) VALUES (old.`id`);
END;
--> statement-breakpoint
CREATE TRIGGER `issues_repository` BEFORE INSERT ON `issues`
WHEN NOT EXISTS (SELECT 1 FROM `repositories` WHERE `id` = new.`repo_id`) BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
CREATE TRIGGER `labels_repository` BEFORE INSERT ON `labels`
WHEN new.`repo_id` IS NOT NULL AND NOT EXISTS (SELECT 1 FROM `repositories` WHERE `id` = new.`repo_id`) BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
CREATE TRIGGER `milestones_repository` BEFORE INSERT ON `milestones`
WHEN NOT EXISTS (SELECT 1 FROM `repositories` WHERE `id` = new.`repo_id`) BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
CREATE TRIGGER `notifications_repository` BEFORE INSERT ON `notifications`
WHEN NOT EXISTS (SELECT 1 FROM `repositories` WHERE `id` = new.`repo_id`) BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
-- Repeated columns and counters of pull requests, reviews and releases.
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
--> statement-breakpoint
-- Revisions of package indexes, the space that an owner's packages take, and the files of deleted
-- blobs, which a job removes.
CREATE TRIGGER `packages_insert` AFTER INSERT ON `packages` BEGIN
	INSERT OR IGNORE INTO `package_registries` (`owner_id`, `type`) VALUES (new.`owner_id`, new.`type`);
END;
--> statement-breakpoint
CREATE TRIGGER `package_versions_insert` AFTER INSERT ON `package_versions` BEGIN
	UPDATE `packages` SET `revision` = `revision` + 1 WHERE `id` = new.`package_id`;
	INSERT INTO `package_usage` (`owner_id`, `version_count`) VALUES (new.`owner_id`, NOT new.`is_internal`)
		ON CONFLICT (`owner_id`) DO UPDATE SET `version_count` = `version_count` + excluded.`version_count`;
END;
--> statement-breakpoint
CREATE TRIGGER `package_versions_update` AFTER UPDATE OF `version`, `metadata`, `is_yanked` ON `package_versions` BEGIN
	UPDATE `packages` SET `revision` = `revision` + 1 WHERE `id` = new.`package_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `package_versions_delete` AFTER DELETE ON `package_versions` BEGIN
	UPDATE `packages` SET `revision` = `revision` + 1 WHERE `id` = old.`package_id`;
	UPDATE `package_usage` SET `version_count` = `version_count` - (NOT old.`is_internal`)
		WHERE `owner_id` = old.`owner_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `package_files_insert` AFTER INSERT ON `package_files` BEGIN
	UPDATE `packages` SET `revision` = `revision` + 1
		WHERE `id` = (SELECT `package_id` FROM `package_versions` WHERE `id` = new.`version_id`);
END;
--> statement-breakpoint
CREATE TRIGGER `package_files_update` AFTER UPDATE OF `name`, `blob_id`, `metadata` ON `package_files` BEGIN
	UPDATE `packages` SET `revision` = `revision` + 1
		WHERE `id` = (SELECT `package_id` FROM `package_versions` WHERE `id` = new.`version_id`);
END;
--> statement-breakpoint
CREATE TRIGGER `package_files_delete` AFTER DELETE ON `package_files` BEGIN
	UPDATE `packages` SET `revision` = `revision` + 1
		WHERE `id` = (SELECT `package_id` FROM `package_versions` WHERE `id` = old.`version_id`);
	DELETE FROM `package_blobs`
		WHERE `id` = old.`blob_id` AND NOT EXISTS (SELECT 1 FROM `package_files` WHERE `blob_id` = old.`blob_id`);
END;
--> statement-breakpoint
CREATE TRIGGER `package_properties_insert` AFTER INSERT ON `package_properties` BEGIN
	UPDATE `packages` SET `revision` = `revision` + 1 WHERE `id` = new.`package_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `package_properties_update` AFTER UPDATE ON `package_properties` BEGIN
	UPDATE `packages` SET `revision` = `revision` + 1 WHERE `id` = new.`package_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `package_properties_delete` AFTER DELETE ON `package_properties` BEGIN
	UPDATE `packages` SET `revision` = `revision` + 1 WHERE `id` = old.`package_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `package_blobs_insert` AFTER INSERT ON `package_blobs` BEGIN
	INSERT INTO `package_usage` (`owner_id`, `size_bytes`) VALUES (new.`owner_id`, new.`size_bytes`)
		ON CONFLICT (`owner_id`) DO UPDATE SET `size_bytes` = `size_bytes` + excluded.`size_bytes`;
END;
--> statement-breakpoint
CREATE TRIGGER `package_blobs_delete` AFTER DELETE ON `package_blobs` BEGIN
	UPDATE `package_usage` SET `size_bytes` = `size_bytes` - old.`size_bytes` WHERE `owner_id` = old.`owner_id`;
	INSERT OR IGNORE INTO `package_loose_files` (`uuid`, `expires_at`) VALUES (old.`uuid`, unixepoch() * 1000);
END;
--> statement-breakpoint
-- A package whose private repository is deleted or transferred loses the link, but not its readers' bounds.
CREATE TRIGGER `packages_repository_delete` BEFORE DELETE ON `repositories` WHEN old.`is_private` BEGIN
	UPDATE `packages` SET `is_restricted` = 1 WHERE `repo_id` = old.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `packages_repository_transfer` AFTER UPDATE OF `owner_id` ON `repositories`
WHEN new.`owner_id` <> old.`owner_id` BEGIN
	UPDATE `packages`
	SET `is_restricted` = old.`is_private` OR new.`is_private`, `repo_id` = NULL
	WHERE `repo_id` = new.`id`;
END;
--> statement-breakpoint
-- Concealed packages, which not every reader of the owner sees, and the revisions of the public indexes.
CREATE TRIGGER `packages_insert_concealed` AFTER INSERT ON `packages`
WHEN new.`is_restricted` OR new.`repo_id` IS NOT NULL BEGIN
	UPDATE `packages`
	SET `is_concealed` = new.`is_restricted`
		OR coalesce((SELECT `visibility` = 'private' FROM `repositories` WHERE `id` = new.`repo_id`), 0)
	WHERE `id` = new.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `packages_link` AFTER UPDATE OF `repo_id`, `is_restricted` ON `packages` BEGIN
	UPDATE `packages`
	SET `is_concealed` = new.`is_restricted`
		OR coalesce((SELECT `visibility` = 'private' FROM `repositories` WHERE `id` = new.`repo_id`), 0)
	WHERE `id` = new.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `packages_repository_visibility` AFTER UPDATE OF `visibility` ON `repositories`
WHEN (new.`visibility` = 'private') <> (old.`visibility` = 'private') BEGIN
	UPDATE `packages`
	SET `is_concealed` = `is_restricted` OR new.`visibility` = 'private'
	WHERE `repo_id` = new.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `packages_revision`
AFTER UPDATE OF `revision`, `name`, `repo_id`, `is_concealed` ON `packages` BEGIN
	UPDATE `package_registries`
	SET
		`revision` = `revision` + 1,
		`public_revision` = `public_revision` + NOT (old.`is_concealed` AND new.`is_concealed`)
	WHERE `owner_id` = new.`owner_id` AND `type` = new.`type`;
END;
--> statement-breakpoint
CREATE TRIGGER `packages_delete` AFTER DELETE ON `packages` BEGIN
	UPDATE `package_registries`
	SET `revision` = `revision` + 1, `public_revision` = `public_revision` + NOT old.`is_concealed`
	WHERE `owner_id` = old.`owner_id` AND `type` = old.`type`;
END;
--> statement-breakpoint
CREATE TRIGGER `package_registries_insert` AFTER INSERT ON `package_registries` BEGIN
	UPDATE `package_registries`
	SET `changed_at` = unixepoch() * 1000, `public_changed_at` = unixepoch() * 1000
	WHERE `owner_id` = new.`owner_id` AND `type` = new.`type`;
END;
--> statement-breakpoint
CREATE TRIGGER `package_registries_revision` AFTER UPDATE OF `revision` ON `package_registries` BEGIN
	UPDATE `package_registries`
	SET
		`changed_at` = max(old.`changed_at`, unixepoch() * 1000),
		`public_changed_at` = CASE
			WHEN new.`public_revision` = old.`public_revision` THEN old.`public_changed_at`
			ELSE max(old.`public_changed_at`, unixepoch() * 1000)
		END
	WHERE `owner_id` = new.`owner_id` AND `type` = new.`type`;
END;
--> statement-breakpoint
-- A credential ends with what it was made from, whichever statement changes that.
CREATE TRIGGER `users_sign_in_changed`
AFTER UPDATE OF `password_hash`, `is_active`, `is_login_prohibited`, `must_change_password` ON `users`
WHEN new.`password_hash` IS NOT old.`password_hash`
	OR new.`is_active` < old.`is_active`
	OR new.`is_login_prohibited` > old.`is_login_prohibited`
	OR new.`must_change_password` > old.`must_change_password` BEGIN
	DELETE FROM `sessions` WHERE `user_id` = new.`id`;
	DELETE FROM `pending_sign_ins` WHERE `user_id` = new.`id`;
	DELETE FROM `mailed_codes` WHERE `address_id` IN (
		SELECT `id` FROM `email_addresses` WHERE `user_id` = new.`id`
	);
	DELETE FROM `totp_secrets` WHERE `user_id` = new.`id` AND NOT `is_enabled`;
	-- Of grants those whose code was not exchanged yet.
	DELETE FROM `oauth_grants` WHERE `user_id` = new.`id` AND `exchanged_at` IS NULL;
END;
--> statement-breakpoint
-- A link to choose a new password opens an account without a second factor: it ends with a change of factors too.
CREATE TRIGGER `users_recovery_changed` AFTER UPDATE OF `email`, `has_totp`, `has_webauthn` ON `users`
WHEN new.`email` <> old.`email`
	OR new.`has_totp` <> old.`has_totp`
	OR new.`has_webauthn` <> old.`has_webauthn` BEGIN
	DELETE FROM `mailed_codes` WHERE `purpose` = 'reset_password' AND `address_id` IN (
		SELECT `id` FROM `email_addresses` WHERE `user_id` = new.`id`
	);
END;
--> statement-breakpoint
-- Recovery codes stand in for a second factor, and end with the last one.
CREATE TRIGGER `users_factors_removed` AFTER UPDATE OF `has_totp`, `has_webauthn` ON `users`
WHEN NOT new.`has_totp` AND NOT new.`has_webauthn` AND (old.`has_totp` OR old.`has_webauthn`) BEGIN
	DELETE FROM `recovery_codes` WHERE `user_id` = new.`id`;
END;
--> statement-breakpoint
-- One row for each visibility, which the triggers of repositories count up and down.
INSERT INTO `repository_totals` (`visibility`, `count`)
	VALUES ('public', 0), ('limited', 0), ('private', 0);
--> statement-breakpoint
-- Public clients that come with tools of the field, under the ids that they send.
INSERT INTO `oauth_applications`
	(`owner_id`, `name`, `client_id`, `is_confidential`, `redirect_uris`, `created_at`)
VALUES
	(null, 'git-credential-oauth', 'a4792ccc-144e-407e-86c9-5e7d8d9c3269', false,
		'["http://127.0.0.1","https://127.0.0.1"]', 0),
	(null, 'Git Credential Manager', 'e90ee53c-94e2-48ac-9358-a874fb9e0662', false,
		'["http://127.0.0.1","https://127.0.0.1"]', 0),
	(null, 'tea', 'd57cb8c4-630c-4168-8324-ec79935e18d4', false,
		'["http://127.0.0.1","https://127.0.0.1"]', 0);
