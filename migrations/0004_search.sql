-- Search by any part of a word (trigrams, so three characters at least). The visibility is a word
-- of the index too: what a caller may not see is left out before anything is read.

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
CREATE VIRTUAL TABLE `users_search` USING fts5(
	`name`, `full_name`, `visibility`,
	content = '', contentless_delete = 1, tokenize = 'trigram'
);
--> statement-breakpoint
CREATE TRIGGER `users_search_insert` AFTER INSERT ON `users` WHEN new.`kind` = 'user' BEGIN
	INSERT INTO `users_search` (`rowid`, `name`, `full_name`, `visibility`)
		VALUES (new.`id`, new.`name`, new.`full_name`, new.`visibility`);
END;
--> statement-breakpoint
CREATE TRIGGER `users_search_update`
AFTER UPDATE OF `name`, `full_name`, `visibility` ON `users`
WHEN new.`kind` = 'user' AND (new.`name` <> old.`name` OR new.`full_name` <> old.`full_name`
	OR new.`visibility` <> old.`visibility`) BEGIN
	DELETE FROM `users_search` WHERE `rowid` = old.`id`;
	INSERT INTO `users_search` (`rowid`, `name`, `full_name`, `visibility`)
		VALUES (new.`id`, new.`name`, new.`full_name`, new.`visibility`);
END;
--> statement-breakpoint
CREATE TRIGGER `users_search_delete` AFTER DELETE ON `users` WHEN old.`kind` = 'user' BEGIN
	DELETE FROM `users_search` WHERE `rowid` = old.`id`;
END;
