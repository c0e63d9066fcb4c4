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
