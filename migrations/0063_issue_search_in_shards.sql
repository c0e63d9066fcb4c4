-- Row ids of the index for ids that are too large for half a row id: those of shards. Bit 62 marks them, and bit 61 is set for
-- comments; the rest is the id of the issue, or of the comment. Others stay as they were, so that the first database keeps its rows.
DROP TRIGGER `issues_search_insert`;
--> statement-breakpoint
DROP TRIGGER `issues_search_update`;
--> statement-breakpoint
DROP TRIGGER `issues_search_delete`;
--> statement-breakpoint
DROP TRIGGER `comments_search_insert`;
--> statement-breakpoint
DROP TRIGGER `comments_search_update`;
--> statement-breakpoint
DROP TRIGGER `comments_search_delete`;
--> statement-breakpoint
CREATE TRIGGER `issues_search_insert` AFTER INSERT ON `issues` BEGIN
	INSERT INTO `issues_search` (`rowid`, `title`, `body`, `scope`)
		VALUES (CASE WHEN new.`id` < 0x40000000 THEN new.`id` << 32 ELSE 0x4000000000000000 | new.`id` END, new.`title`, new.`body`, 'r' || new.`repo_id` || ' n' || new.`number`);
END;
--> statement-breakpoint
CREATE TRIGGER `issues_search_update` AFTER UPDATE OF `title`, `body` ON `issues`
WHEN new.`title` <> old.`title` OR new.`body` <> old.`body` BEGIN
	DELETE FROM `issues_search` WHERE `rowid` = CASE WHEN old.`id` < 0x40000000 THEN old.`id` << 32 ELSE 0x4000000000000000 | old.`id` END;
	INSERT INTO `issues_search` (`rowid`, `title`, `body`, `scope`)
		VALUES (CASE WHEN new.`id` < 0x40000000 THEN new.`id` << 32 ELSE 0x4000000000000000 | new.`id` END, new.`title`, new.`body`, 'r' || new.`repo_id` || ' n' || new.`number`);
END;
--> statement-breakpoint
CREATE TRIGGER `issues_search_delete` AFTER DELETE ON `issues` BEGIN
	DELETE FROM `issues_search` WHERE `rowid` = CASE WHEN old.`id` < 0x40000000 THEN old.`id` << 32 ELSE 0x4000000000000000 | old.`id` END;
END;
--> statement-breakpoint
CREATE TRIGGER `comments_search_insert` AFTER INSERT ON `timeline_entries` WHEN new.`kind` = 'comment' BEGIN
	INSERT INTO `issues_search` (`rowid`, `comment`, `scope`)
		VALUES (CASE WHEN new.`issue_id` < 0x40000000 AND new.`id` <= 0xffffffff THEN new.`issue_id` << 32 | new.`id` ELSE 0x6000000000000000 | new.`id` END, new.`body`, 'r' || new.`repo_id`);
END;
--> statement-breakpoint
CREATE TRIGGER `comments_search_update` AFTER UPDATE OF `body` ON `timeline_entries`
WHEN new.`kind` = 'comment' AND new.`body` <> old.`body` BEGIN
	DELETE FROM `issues_search` WHERE `rowid` = CASE WHEN old.`issue_id` < 0x40000000 AND old.`id` <= 0xffffffff THEN old.`issue_id` << 32 | old.`id` ELSE 0x6000000000000000 | old.`id` END;
	INSERT INTO `issues_search` (`rowid`, `comment`, `scope`)
		VALUES (CASE WHEN new.`issue_id` < 0x40000000 AND new.`id` <= 0xffffffff THEN new.`issue_id` << 32 | new.`id` ELSE 0x6000000000000000 | new.`id` END, new.`body`, 'r' || new.`repo_id`);
END;
--> statement-breakpoint
CREATE TRIGGER `comments_search_delete` AFTER DELETE ON `timeline_entries` WHEN old.`kind` = 'comment' BEGIN
	DELETE FROM `issues_search` WHERE `rowid` = CASE WHEN old.`issue_id` < 0x40000000 AND old.`id` <= 0xffffffff THEN old.`issue_id` << 32 | old.`id` ELSE 0x6000000000000000 | old.`id` END;
END;
--> statement-breakpoint
-- The rows of shards had row ids that overflowed.
INSERT INTO `issues_search` (`issues_search`) SELECT 'delete-all' FROM `shard_copies`;
--> statement-breakpoint
INSERT INTO `issues_search` (`rowid`, `title`, `body`, `scope`)
	SELECT CASE WHEN `id` < 0x40000000 THEN `id` << 32 ELSE 0x4000000000000000 | `id` END, `title`, `body`, 'r' || `repo_id` || ' n' || `number` FROM `issues`
	WHERE EXISTS (SELECT 1 FROM `shard_copies`);
--> statement-breakpoint
INSERT INTO `issues_search` (`rowid`, `comment`, `scope`)
	SELECT CASE WHEN `issue_id` < 0x40000000 AND `id` <= 0xffffffff THEN `issue_id` << 32 | `id` ELSE 0x6000000000000000 | `id` END, `body`, 'r' || `repo_id` FROM `timeline_entries`
	WHERE `kind` = 'comment' AND EXISTS (SELECT 1 FROM `shard_copies`);
