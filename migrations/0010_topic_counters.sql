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
