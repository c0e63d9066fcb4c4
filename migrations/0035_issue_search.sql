-- Search in issues and pull requests by whole words, in any case and without accents. An issue is one document, and each
-- comment another one; the row id is the issue's id, shifted by 32 bits, and the comment's id or 0. So documents are found
-- newest issue first, those of an issue beside one another. The scope has words too: `r` and the repository's id, and for an
-- issue `n` and its number.

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
